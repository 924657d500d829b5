//! Options of a campaign, as clap reads them: what search, confirmation and display need, and the rest.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Parser, ValueEnum};
use libafl_bolts::core_affinity::{Cores, get_core_ids};
use quagmire_analysis::{
    command::{EXIT_CODES, TargetOptions},
    diversity::ValidityOptions,
    towards::{Wanted, patch::changed_lines, place::Place},
    values,
};
use quagmire_base::{
    error::{Error, Result},
    files,
    format::counted,
    path_filter::PathFilter,
    size_limit::SizeLimit,
    terminal::ColorChoice,
    units,
};
use quagmire_cost::{
    noise::NoiseFloor,
    resource::{Capability, Resource, Unit},
    sizes::RelativeTo,
};
use quagmire_execution::{
    diversity::trace::TraceKind,
    info::{Instrumentation, TargetInfo},
};
use quagmire_mutators::InputType;
use quagmire_results::{
    metrics::Address,
    names::{EntryName, files_in},
};
use quagmire_search::{
    choices::mode::Mode,
    corpus::{effort::Focus, objective::Objective, search_state::Masking},
    schedule::by_cost::Parents,
    stages::gathering::GatheringLimits,
    strategy::Strategy,
};

/// Maximum length of `--name` in bytes; afl-fuzz's is 50.
const LONGEST_NAME: usize = 32;

/// Default of `--threshold`.
pub const THRESHOLD: f64 = 2.0;

/// Limit where none is asked for. At 1 kB what is exponential is found sooner than among larger inputs, and what is quadratic shows.
const USUAL_SIZE: SizeLimit = SizeLimit::Growing { first: 1024, most: 1_000_000 };

/// Resources of `--cost`, without duplicates.
pub type Costs = Vec<Resource>;

/// Measured resource that the search follows; `None` if it follows counts.
pub type Steered = Option<Resource>;

/// Numbers of cores.
pub type CoreList = Vec<usize>;

/// A change to the search that only measurements make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// Do not trim inputs to rare branches before they are mutated
    NoTrim,
    /// Go on with rare branches when they bring nothing new, without rounds of ordinary mutation
    NoBootstrap,
    /// Keep no input for executing an edge more often than all others
    NoEdgeMaxima,
    /// Run a mutant without mask beside each masked one, and report how many of each reach their goal
    ShadowMask,
    /// Count how many runs hit the places of --towards, and search as without them
    TowardsWatch,
}

/// Search for inputs that make the program slow
#[derive(Clone, Debug, Parser)]
#[command(
    name = "fuzz",
    override_usage = "quagmire fuzz -i SEEDS... -o OUT [OPTIONS] -- PROGRAM [ARGS... @@]",
    after_help = EXIT_CODES
)]
pub struct Options {
    /// Where the search starts: files, or folders of files (repeatable)
    #[arg(short = 'i', long, value_name = "PATHS", num_args = 1.., help_heading = "Input and output")]
    pub seeds: Vec<PathBuf>,
    /// The folder for everything that is found
    #[arg(short = 'o', long, value_name = "OUT", help_heading = "Input and output")]
    pub output: Option<PathBuf>,
    /// Go on with the campaign in OUT
    #[arg(long, help_heading = "Input and output")]
    pub resume: bool,
    /// Start anew if OUT holds a campaign, which is kept as OUT.old
    #[arg(long, help_heading = "Input and output")]
    #[arg(conflicts_with = "resume")]
    pub force: bool,
    /// Use only those seeds whose path or file name matches; with look-around, as `^((?!error).)*$`
    #[arg(long, value_name = "REGEX", help_heading = "Input and output")]
    #[arg(value_parser = filter)]
    pub workloads_filter: Option<PathFilter>,

    /// Stop after this time: 90, 90s, 1.5m, 24h
    #[arg(long, value_name = "DURATION", default_value = "1800s", help_heading = "When to stop")]
    #[arg(value_parser = values::some_time)]
    pub time: Duration,
    /// Stop after this many executions [default: no limit]
    #[arg(long, value_name = "N", help_heading = "When to stop")]
    #[arg(value_parser = values::count::<u64>)]
    pub execs: Option<u64>,
    /// After the search, look so long for the laws and the smallest inputs of the worst findings; 0 for not at all
    /// [default: what the worst one needs, up to 1 min, and a tenth of the search's time, 5 s to 1 min, for the others]
    #[arg(long, value_name = "DURATION", help_heading = "When to stop")]
    #[arg(value_parser = units::duration)]
    pub explain: Option<Duration>,

    /// Fuzz on so many cores, one client pinned to each
    #[arg(short = 'j', value_name = "N", help_heading = "Many cores and machines")]
    #[arg(value_parser = jobs)]
    pub jobs: Option<CoreList>,
    /// Fuzz on these cores: all, 0-3, 0,2
    #[arg(long, value_name = "LIST", help_heading = "Many cores and machines")]
    #[arg(value_parser = core_list, conflicts_with = "jobs")]
    pub cores: Option<CoreList>,
    /// Share finds with the campaigns and afl-fuzz instances that meet in this folder, as the folder NAME in it
    #[arg(long, value_name = "DIR", help_heading = "Many cores and machines")]
    pub sync: Option<PathBuf>,
    /// Name of this campaign in that folder [default: the name of the machine]
    #[arg(long, value_name = "NAME", help_heading = "Many cores and machines")]
    #[arg(value_parser = name, requires = "sync")]
    pub name: Option<String>,

    /// When an input is a degradation.
    #[command(flatten)]
    pub confirm: ConfirmOptions,
    /// How inputs are made and chosen.
    #[command(flatten)]
    pub search: SearchOptions,

    /// Run the program as it is, by CPU time and memory alone: any command, found in PATH, such as an interpreter and a script.
    /// Nothing is counted, so that the search is that of Perun's rules, and needs many runs
    #[arg(long, help_heading = "Running the program")]
    pub uninstrumented: bool,
    /// The options that `replay` has as well.
    #[command(flatten)]
    pub target: TargetOptions,
    /// Output for the user.
    #[command(flatten)]
    pub display: DisplayOptions,
}

/// When an input is a degradation.
#[derive(Clone, Debug, Args)]
pub struct ConfirmOptions {
    #[arg(long, value_name = "LIST", default_value = "instructions", help_heading = "What counts as a degradation")]
    #[arg(value_parser = costs, help = cost_help())]
    pub cost: Costs,
    /// How many times the cost of an ordinary input is a degradation; more than 1
    #[arg(long, value_name = "RATIO", default_value_t = THRESHOLD, help_heading = "What counts as a degradation")]
    #[arg(value_parser = values::above_one)]
    pub threshold: f64,
    /// Ordinary input to compare with: one of the same size, as estimated from the seeds, or the median seed whatever its
    /// size: size or seed
    #[arg(long, value_name = "WHAT", default_value = "size", help_heading = "What counts as a degradation")]
    #[arg(value_parser = values::choice(&[("size", RelativeTo::Size), ("seed", RelativeTo::Seed)]))]
    pub relative_to: RelativeTo,
    /// Confirm nothing, for benchmarks: slow inputs are only in queue/, degradations/ stays empty
    #[arg(long, help_heading = "What counts as a degradation")]
    pub no_confirm: bool,
}

/// How inputs are made and chosen.
#[derive(Clone, Debug, Args)]
pub struct SearchOptions {
    /// Limit of the size of inputs.
    #[command(flatten)]
    pub size: SizeOptions,

    /// Mutate by these only: rules (T,B.6,T.1-T.5,insert_byte) and havoc, single, splice, tokens, deterministic, comparisons,
    /// growth, custom, custom-crossover, and those of choices (regenerate, splice-part, ...) [default: all of them]
    #[arg(long, value_name = "LIST", help_heading = "Mutation")]
    pub rules: Option<String>,
    /// A file of rules of your own, YAML lines of `pattern: replacement`: R.1, R.2, ... (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Mutation")]
    pub regex_rules: Vec<PathBuf>,
    /// A custom mutator of AFL++, a shared object, whose mutants are those of the operator custom (repeatable, or in one list
    /// with semicolons)
    #[arg(
        long,
        value_name = "FILE",
        env = "AFL_CUSTOM_MUTATOR_LIBRARY",
        hide_env_values = true,
        value_delimiter = ';'
    )]
    #[arg(help_heading = "Mutation")]
    pub custom_mutator: Vec<PathBuf>,
    /// Take all of each input for text, binary or xml [default: each part of an input for what it is]
    #[arg(long, value_name = "TYPE", help_heading = "Mutation")]
    #[arg(value_parser = values::choice(&INPUT_TYPES))]
    pub input_type: Option<InputType>,
    /// A grammar of the inputs: the fuzzing book's or AFL++ Grammar-Mutator's JSON, Nautilus' JSON, or a .g4 file of ANTLR.
    /// Inputs that it describes are mutated part by part; without -i, the first ones are made from it
    #[arg(long, value_name = "FILE", help_heading = "Mutation")]
    #[arg(conflicts_with = "generator")]
    pub grammar: Option<PathBuf>,
    /// How choices are mutated, those of a grammar or those that a harness draws from its input: simple (structure or
    /// values, by what pays), structure (and new coverage counts only with a new structure), even (structure and values
    /// alike), zest (any choices), random (all inputs are made anew), recombine (parts of other inputs only), off (bytes
    /// only)
    #[arg(long, value_name = "MODE", default_value = "simple", help_heading = "Mutation")]
    #[arg(value_parser = values::named(&Mode::ALL, Mode::name))]
    pub choices: Mode,
    /// How many mutants each rule makes of a parent: unitary (one), proportional (one more than it has found lately),
    /// probabilistic (one, with the rule's share of all finds as the chance), mixed (both)
    #[arg(long, value_name = "STRATEGY", default_value = "mixed", help_heading = "Mutation")]
    #[arg(value_parser = values::named(&Strategy::ALL, Strategy::name))]
    pub mutations_per_rule: Strategy,
    /// A file of tokens to insert, as AFL and libFuzzer take it (repeatable)
    #[arg(short = 'x', long, value_name = "FILE", help_heading = "Mutation")]
    pub dict: Vec<PathBuf>,
    /// Insert no tokens but those of --dict: not the constants and keywords that the code compares with, nor words that it
    /// compares in runs
    #[arg(long, help_heading = "Mutation")]
    pub no_auto_dict: bool,
    /// The number that all random choices follow from [default: a new one each time, printed]
    #[arg(long, value_name = "N", help_heading = "Mutation")]
    #[arg(value_parser = values::seed)]
    pub seed: Option<u64>,
    /// Seed if none is given.
    #[arg(skip = drawn_seed())]
    drawn: u64,

    /// Resource that the search raises, for programs whose cost lies in code that was built without the wrapper: instructions
    /// (what --cost names, with instructions for time and cycles), time (the least of repeated runs, beyond the noise: --seed
    /// does not repeat such a search) or cycles (likewise; needs hardware counters)
    #[arg(long, value_name = "RESOURCE", default_value = "instructions", help_heading = "Search")]
    #[arg(value_parser = values::choice(&STEERED))]
    pub steer: Steered,
    /// Aim of the search: cost (four fifths of the work for the most expensive inputs), coverage (four fifths for rare
    /// branches), or balanced (by what each finds)
    #[arg(long, value_name = "AIM", default_value = "balanced", help_heading = "Search")]
    #[arg(value_parser = values::choice(&AIMS))]
    pub focus: Focus,
    /// How parents are chosen when cost is the aim: best (mostly the highest scores), intervals (five, by score), both
    #[arg(long, value_name = "CHOICE", default_value = "best", help_heading = "Search")]
    #[arg(value_parser = values::choice(&PARENTS))]
    pub parents: Parents,
    /// Work towards this place, and look for costs there: FUNCTION, FILE:LINE or FILE:LINE-LINE (repeatable)
    #[arg(long, value_name = "PLACE", help_heading = "Search")]
    #[arg(value_parser = place)]
    pub towards: Vec<(String, Place)>,
    /// Work towards the lines that a patch adds or changes, and the neighbours of those that it deletes: a unified diff, such as
    /// `git diff` writes (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub towards_patch: Vec<PathBuf>,
    /// How much an input has to cost at first to be measured again, as a multiple of the baseline; it moves with success
    #[arg(long, value_name = "RATIO", default_value = "1.5", help_heading = "Search")]
    #[arg(value_parser = values::from_one)]
    pub coverage_increase_rate: f64,
    /// Measure precisely once so many interesting inputs are gathered
    #[arg(long, value_name = "N", default_value = "20", help_heading = "Search")]
    #[arg(value_parser = values::count::<u64>)]
    pub interesting_files_limit: u64,
    /// ... or after so many executions
    #[arg(long, value_name = "N", default_value = "100", help_heading = "Search")]
    #[arg(value_parser = values::count::<u64>)]
    pub exec_limit: u64,
    /// Use no masks: change any bytes, also those that the goal of the round needs
    #[arg(long, help_heading = "Search")]
    pub no_mask: bool,
    /// Leave out a part of the search, or watch it, to measure what it brings (repeatable)
    #[arg(long, value_name = "NAME", hide = true)]
    pub experiment: Vec<Experiment>,
    /// Measure every mutant precisely: slower, and sees what is slow without executing more of the program
    #[arg(long, help_heading = "Search")]
    pub skip_coverage_testing: bool,
    /// Mutate inputs that crash or exit as well, since handlers of errors can be slow too
    #[arg(long, help_heading = "Search")]
    pub keep_early_ends: bool,

    /// Count unique traces, and how evenly they exercise the program: a fifth of a microsecond for each run
    #[arg(long, help_heading = "Search")]
    pub diversity: bool,
    /// The difference between two runs, with --diversity, which this turns on: exact (how often each branch was executed),
    /// bucketed (in AFL's eight classes), edges (whether) [default: bucketed]
    #[arg(long, value_name = "KIND", help_heading = "Search")]
    #[arg(value_parser = values::named(&TraceKind::ALL, TraceKind::name))]
    pub trace: Option<TraceKind>,
    /// The options that `diversity` has as well.
    #[command(flatten)]
    pub validity: ValidityOptions,
}

/// Limit of the size of inputs, at most one of these.
#[derive(Clone, Debug, Args)]
#[group(multiple = false)]
pub struct SizeOptions {
    /// Inputs grow to this size, or to that of the largest seed if it is larger: 4096, 64KiB, 1MB
    #[arg(long, value_name = "SIZE", help_heading = "Size of inputs (at most one of them)")]
    #[arg(value_parser = values::some_size)]
    pub max_size: Option<u64>,
    /// Inputs grow by this size beyond the largest seed [default: by 1024 at first, and on to 1000000 as far as that pays]
    #[arg(long, value_name = "SIZE", help_heading = "Size of inputs (at most one of them)")]
    #[arg(value_parser = units::size)]
    pub max_size_increase: Option<u64>,
    /// Inputs grow to this many times the largest seed; at least 1
    #[arg(long, value_name = "RATIO", help_heading = "Size of inputs (at most one of them)")]
    #[arg(value_parser = values::from_one)]
    pub max_size_ratio: Option<f64>,
}

/// Output for the user: screen, report, figures.
#[derive(Clone, Debug, Args)]
pub struct DisplayOptions {
    /// Draw no graphs at the end (`quagmire report` does it later)
    #[arg(long, help_heading = "Display")]
    pub no_plotting: bool,
    /// Print nothing but the end
    #[arg(long, help_heading = "Display")]
    pub quiet: bool,
    /// Show the figures of the running campaign to Prometheus at this address: 127.0.0.1:9091, :9091 (for everybody who
    /// reaches this machine), 127.0.0.1:0 (a free port, printed)
    #[arg(long, value_name = "ADDR", help_heading = "Display")]
    #[arg(value_parser = address)]
    pub metrics: Option<Address>,
    /// When to use colours: auto (on a terminal), always (in pipes and files as well) or never
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Display")]
    #[arg(value_parser = values::choice(&COLORS))]
    pub color: ColorChoice,
}

const INPUT_TYPES: [(&str, InputType); 3] =
    [("text", InputType::Text), ("binary", InputType::Binary), ("xml", InputType::Xml)];
const STEERED: [(&str, Steered); 3] =
    [("instructions", None), ("time", Some(Resource::Time)), ("cycles", Some(Resource::Cycles))];
const AIMS: [(&str, Focus); 3] = [("cost", Focus::Cost), ("coverage", Focus::Coverage), ("balanced", Focus::Balanced)];
const PARENTS: [(&str, Parents); 3] =
    [("best", Parents::Best), ("intervals", Parents::Intervals), ("both", Parents::Both)];
const COLORS: [(&str, ColorChoice); 3] =
    [("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)];

impl SizeOptions {
    pub fn limit(&self) -> SizeLimit {
        let absolute = self.max_size.map(SizeLimit::Absolute);
        let increase = self.max_size_increase.map(SizeLimit::Increase);
        absolute.or(increase).or(self.max_size_ratio.map(SizeLimit::Ratio)).unwrap_or(USUAL_SIZE)
    }
}

impl SearchOptions {
    /// Seed of all random choices.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(self.drawn)
    }

    pub fn has(&self, experiment: Experiment) -> bool {
        self.experiment.contains(&experiment)
    }

    /// Limits of a gathering phase, and the ratio from which on an input is interesting.
    pub fn gathering(&self) -> GatheringLimits {
        let (files, executions) = (self.interesting_files_limit, self.exec_limit);
        GatheringLimits { files, executions, rate: self.coverage_increase_rate }
    }

    /// Use of FairFuzz's masks.
    pub fn masking(&self) -> Masking {
        let (no_trim, shadow) = (self.has(Experiment::NoTrim), self.has(Experiment::ShadowMask));
        Masking { no_mask: self.no_mask, no_trim, shadow }
    }

    fn names_places(&self) -> bool {
        !self.towards.is_empty() || !self.towards_patch.is_empty()
    }

    /// Places that the search works towards, with the lines of the patches, which are read.
    ///
    /// # Errors
    /// A usage error if a patch cannot be read, or changes no line.
    pub fn wanted(&self) -> Result<Wanted> {
        let patch = |file: &PathBuf| {
            let refused =
                |why: &dyn std::fmt::Display| Error::usage(format!("--towards-patch {}: {why}", file.display()));
            let bytes = files::read_named(file, files::LARGEST_TEXT).map_err(|error| refused(&error))?;
            let changes = changed_lines(&String::from_utf8_lossy(&bytes)).map_err(|why| refused(&why))?;
            if changes.is_empty() {
                return Err(refused(&"it changes no line of a file that is there after it: give a patch that does"));
            }
            Ok((file.clone(), changes))
        };
        let patches = self.towards_patch.iter().map(patch).collect::<Result<_>>()?;
        Ok(Wanted { places: self.towards.clone(), patches })
    }
}

impl Options {
    /// Refuses options that make no sense together, whatever the program is.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn refuse_contradictions(&self) -> Result<()> {
        let (search, confirm) = (&self.search, &self.confirm);
        if self.seeds.is_empty() && search.grammar.is_none() && !self.resume {
            return Err(no_seeds());
        }
        if self.output.is_none() {
            return Err(Error::usage("no output folder: name one with -o"));
        }
        if search.no_mask && search.has(Experiment::ShadowMask) {
            return Err(Error::usage(
                "--no-mask and --experiment shadow-mask contradict each other: a shadow is compared with a masked mutant; leave one of \
                 them out",
            ));
        }
        if search.has(Experiment::TowardsWatch) && !search.names_places() {
            return Err(Error::usage("--experiment towards-watch has nothing to watch: name a place with --towards"));
        }
        if let Some(steered) = search.steer {
            if let Some(other) = confirm.cost.iter().find(|cost| cost.unit() == Unit::Bytes) {
                return Err(Error::usage(format!(
                    "--steer {steered} follows {steered} alone, and not {other} of --cost: leave out one of them"
                )));
            }
            if search.skip_coverage_testing {
                return Err(Error::usage(format!(
                    "--steer {steered} runs slow mutants again by itself: leave out --skip-coverage-testing"
                )));
            }
        }
        let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if self.sync.as_ref().is_some_and(|sync| whole(self.output()).starts_with(whole(sync))) {
            return Err(Error::usage(format!(
                "-o {} is inside of the --sync folder, where others would take it for one more campaign: choose another -o",
                self.output().display()
            )));
        }
        Ok(())
    }

    /// The output folder, which [`refuse_contradictions`](Self::refuse_contradictions) has asked for.
    pub fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new(""))
    }

    /// Numbers of the cores to fuzz on; empty for one that the system chooses.
    pub fn cores(&self) -> &[usize] {
        self.jobs.as_ref().or(self.cores.as_ref()).map_or(&[], Vec::as_slice)
    }

    /// Sync folder, and the name of this campaign in it.
    pub fn meeting(&self) -> Option<(&Path, String)> {
        Some((self.sync.as_deref()?, self.name.clone().unwrap_or_else(host_name)))
    }

    /// Objective of the search, with the noise of a resource whose noise was not measured yet.
    pub fn objective(&self) -> Objective {
        let measured = self.search.steer.map(|resource| Objective::steered(resource, NoiseFloor::default()));
        measured.unwrap_or_else(|| Objective::new(&self.confirm.cost))
    }

    /// Whether the same seed repeats the search: one client that follows counts and takes nothing in from others.
    pub fn is_repeatable(&self) -> bool {
        self.search.steer.is_none() && self.cores().len() < 2 && self.sync.is_none()
    }

    /// The options with the seeds of the campaign that goes on, if no others are given.
    ///
    /// # Errors
    /// A usage error if there are none.
    pub fn with_saved_seeds(mut self) -> Result<Self> {
        if self.resume && self.seeds.is_empty() {
            let is_seed = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.parse::<EntryName>().is_ok_and(|name| name.orig.is_some())
            };
            self.seeds = files_in(&self.output().join("queue")).into_iter().filter(is_seed).collect();
            // those that it let pass
            self.workloads_filter = None;
        }
        if self.seeds.is_empty() && self.search.grammar.is_none() { Err(no_seeds()) } else { Ok(self) }
    }

    /// Adapts the costs to what the target's instrumentation measures: edges instead of instructions, and time as well
    /// where counts of edges are not exact. Without instrumentation, the search follows time, or what `--cost` names
    /// first.
    ///
    /// # Errors
    /// If a requested cost is not measured, or an option needs counts where there are none.
    pub fn for_target(mut self, target: &TargetInfo) -> Result<Self> {
        let by = target.instrumentation;
        // a search for time whose finds were no degradations would be in vain
        let steered = self.search.steer.filter(|steered| !self.confirm.cost.contains(steered));
        self.confirm.cost.extend(steered);
        if self.search.trace.is_none() && (self.search.diversity || self.search.grammar.is_some()) {
            self.search.trace = Some(TraceKind::Bucketed);
        }
        if by == Instrumentation::Afl && self.search.names_places() {
            return Err(Error::usage(format!(
                "--towards: {} was {}, and nothing says where its edges are: build it with quagmire-cc -g",
                target.name(),
                by.origin()
            )));
        }
        if by.measures(Resource::Instructions) {
            return self.only_measured(target);
        }
        let instead: &[Resource] = match by {
            Instrumentation::Uninstrumented => &[Resource::Time],
            _ if by.is_exact() => &[Resource::Edges],
            _ => &[Resource::Edges, Resource::Time],
        };
        let mut costs = Vec::new();
        for cost in std::mem::take(&mut self.confirm.cost) {
            // the default
            let meant = if cost == Resource::Instructions { instead.to_vec() } else { vec![cost] };
            costs.extend(meant.into_iter().filter(|cost| !costs.contains(cost)).collect::<Vec<_>>());
        }
        self.confirm.cost = costs;
        let adapted = self.only_measured(target)?;
        if by.counts() { Ok(adapted) } else { adapted.uncounted() }
    }

    /// Refuses costs that the target's instrumentation does not measure.
    fn only_measured(self, target: &TargetInfo) -> Result<Self> {
        let by = target.instrumentation;
        let Some(cost) = self.confirm.cost.iter().find(|cost| !by.measures(**cost)) else { return Ok(self) };
        let program = target.name();
        let measured = Resource::ALL.into_iter().filter(|&cost| by.measures(cost));
        let measured: Vec<&str> = measured.map(Resource::name).collect();
        let measured = alternatives(&measured);
        Err(Error::usage(match by {
            Instrumentation::Counts => format!("--cost {cost}: only --uninstrumented measures it: write {measured}"),
            _ => format!(
                "--cost {cost}: {program} was {}, which does not measure it: build it with quagmire-cc, or write {measured}",
                by.origin()
            ),
        }))
    }

    /// Follows a measured resource, as there are no counts, and refuses options that need some.
    fn uncounted(mut self) -> Result<Self> {
        let needing = [
            ("--valid-if-reached", self.search.validity.valid_if_reached.is_some()),
            ("--towards", self.search.names_places()),
            ("--diversity and --trace", self.search.trace.is_some() && self.search.grammar.is_none()),
            ("--experiment shadow-mask", self.search.has(Experiment::ShadowMask)),
            ("--skip-coverage-testing", self.search.skip_coverage_testing),
        ];
        if let Some((option, _)) = needing.into_iter().find(|&(_, is_typed)| is_typed) {
            return Err(Error::usage(format!(
                "--uninstrumented counts nothing that {option} could go by: leave out one of them"
            )));
        }
        self.search.trace = None;
        // coverage has nothing to find
        self.search.focus = Focus::Cost;
        let time = Some(Resource::Time).filter(|time| self.confirm.cost.contains(time));
        self.search.steer = self.search.steer.or(time).or(self.confirm.cost.first().copied());
        Ok(self)
    }
}

/// `a, b or c`.
fn alternatives(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

fn no_seeds() -> Error {
    Error::usage("no seeds: give at least one file or folder with -i, or a grammar with --grammar")
}

fn filter(pattern: &str) -> Result<PathFilter, String> {
    PathFilter::new(pattern).map_err(|reason| format!("`{pattern}` is not a regular expression ({reason}): correct it"))
}

fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).map_err(|error| error.message.trim_start_matches("--metrics: ").to_owned())
}

fn place(typed: &str) -> Result<(String, Place), String> {
    Place::parse(typed).map(|place| (typed.to_owned(), place)).map_err(|why| format!("`{typed}`: {why}"))
}

/// Help of `--cost`: all resources, those last that only runs without instrumentation have.
fn cost_help() -> String {
    let (alone, usual): (Vec<_>, Vec<_>) =
        Resource::ALL.into_iter().partition(|resource| resource.describe().needs == Capability::Processes);
    let [usual, alone] = [usual, alone].map(|all| all.into_iter().map(Resource::name).collect::<Vec<_>>().join(", "));
    format!("Which costs make an input a degradation, any of them: {usual}; {alone} with --uninstrumented")
}

fn costs(list: &str) -> Result<Costs, String> {
    let mut costs = Costs::new();
    for name in list.split(',').map(str::trim) {
        let cost = name.parse().map_err(|()| {
            let names = Resource::ALL.map(Resource::name).join(", ");
            format!("`{name}` is not a cost: write one or more of {names}, with commas")
        })?;
        if !costs.contains(&cost) {
            costs.push(cost);
        }
    }
    Ok(costs)
}

/// The cores that this process may use.
fn usable() -> Result<CoreList, String> {
    let ids = get_core_ids().map_err(|error| format!("cannot tell which cores there are: {error}"))?;
    Ok(ids.into_iter().map(|core| core.0).collect())
}

fn jobs(text: &str) -> Result<CoreList, String> {
    let number = text.parse().ok().filter(|&number: &usize| number > 0);
    let number = number.ok_or_else(|| format!("`{text}` is not a number of cores: write 1 or more"))?;
    let mut cores = usable()?;
    if number > cores.len() {
        return Err(format!(
            "{number} is too many: this process may use {}: give no more, or --cores all",
            counted(cores.len() as u64, "core")
        ));
    }
    cores.truncate(number);
    Ok(cores)
}

fn core_list(list: &str) -> Result<CoreList, String> {
    if list == "all" {
        return usable();
    }
    let wrong = || format!("`{list}` is no list of cores: write all, 0-3 or 0,2");
    // LibAFL panics on some invalid lists
    let is_range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        matches!((first.parse::<u16>(), last.parse::<u16>()), (Ok(first), Ok(last)) if first <= last)
    };
    let is_plain = list.bytes().all(|byte| byte.is_ascii_digit() || b",-".contains(&byte)) && list.len() <= 1000;
    if !is_plain || !list.split(',').all(is_range) {
        return Err(wrong());
    }
    let cores = Cores::from_cmdline(list).map_err(|_| wrong())?;
    let mut cores: CoreList = cores.ids.into_iter().map(|core| core.0).collect();
    cores.sort_unstable();
    cores.dedup();
    let usable = usable()?;
    match cores.iter().find(|core| !usable.contains(core)) {
        Some(core) => Err(format!(
            "this process may not use core {core}, only {}: give some of these, or all",
            usable.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        )),
        None => Ok(cores),
    }
}

fn name(name: &str) -> Result<String, String> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if name.is_empty() || name.len() > LONGEST_NAME || !is_plain {
        return Err(format!(
            "`{name}`: write up to {LONGEST_NAME} letters, digits, - and _: it is the name of a folder"
        ));
    }
    Ok(name.to_owned())
}

/// Name of this machine, with dashes for what no folder's name should have.
fn host_name() -> String {
    let node = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let name: String = node.trim_end().chars().map(safe).take(LONGEST_NAME).collect();
    if name.is_empty() { "quagmire".into() } else { name }
}

/// Draws a number from the operating system's entropy, of 32 bits so that people can copy it.
pub(crate) fn drawn_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

#[cfg(test)]
mod tests;

//! `quagmire mutants compare`: results of `mutants score` side by side.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::CompareOptions;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    files,
    format::{counted, grouped},
    plain::{self, Form, shown},
};
use quagmire_cost::statistics::p_above;
use quagmire_results::score_file::{MutantState, SCORE, ScoreFile};

/// Largest result that is read, in bytes.
const LARGEST: u64 = 1 << 30;

/// Results side by side, as printed with `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Comparison {
    /// Number of mutants of the program.
    mutants: u64,
    /// Mutants that some result kills.
    killed: u64,
    /// The groups, as given.
    groups: Vec<Group>,
    /// Each two groups.
    pairs: Vec<Pair>,
}

/// Results that belong together: one corpus, or those of repeated campaigns.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Group {
    /// Files of the results.
    results: Vec<String>,
    /// Mutants that each result kills.
    killed_by_each: Vec<u64>,
    /// Mutants that some result of the group kills.
    killed: u64,
    /// Mutants that no result of another group kills.
    only_here: u64,
}

/// Two groups, by their places in the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Pair {
    a: usize,
    b: usize,
    /// Mutants that only `a` kills, only `b`, and both.
    only_a: u64,
    only_b: u64,
    both: u64,
    /// For two single results: p value of McNemar's test, exact and two-sided: over mutants, not over campaigns.
    #[serde(skip_serializing_if = "Option::is_none")]
    mcnemar: Option<f64>,
    /// For repeated campaigns: p value of the rank test of Mann and Whitney, two-sided.
    #[serde(skip_serializing_if = "Option::is_none")]
    mann_whitney: Option<f64>,
    /// For repeated campaigns: probability that one of `a` kills more than one of `b` (Vargha and Delaney's A12).
    #[serde(skip_serializing_if = "Option::is_none")]
    a12: Option<f64>,
}

/// Runs `quagmire mutants compare`.
///
/// # Errors
/// If a result cannot be read, or they are of different programs, or were made with different options.
pub fn run(options: &CompareOptions) -> Result<ExitCode> {
    let read_all = |group: &Vec<PathBuf>| group.iter().map(|path| read(path)).collect::<Result<Vec<_>>>();
    let groups = options.groups.iter().map(read_all).collect::<Result<Vec<_>>>()?;
    let all = || groups.iter().flatten();
    let (first, score) = all().next().ok_or_else(|| Error::usage("no results to compare"))?;
    let first = first.display();
    if let Some((path, _)) = all().find(|(_, other)| other.program != score.program) {
        return Err(Error::usage(format!(
            "{} is of another program than {first}, or of other arguments: score both with the same build",
            path.display()
        )));
    }
    let options_of = |score: &ScoreFile| (score.inputs_per_mutant, score.cost_factor, score.slower);
    if let Some((path, _)) = all().find(|(_, other)| options_of(other) != options_of(score)) {
        return Err(Error::usage(format!(
            "{} was made with another --inputs-per-mutant, --cost-factor or --slower than {first}: score both with the same",
            path.display()
        )));
    }
    let comparison = Comparison::new(&groups);
    if options.json {
        plain::print_json(&comparison)?;
    } else {
        plain::print(&text(&comparison), Form::Lines)?;
    }
    Ok(ExitCode::Ended)
}

/// Reads a result, or that in a folder.
fn read(path: &Path) -> Result<(PathBuf, ScoreFile)> {
    let path = if files::is_folder(path) { path.join(SCORE) } else { path.to_owned() };
    let shown = path.display();
    let text = files::read_named(&path, LARGEST).map_err(|error| {
        Error::usage(format!("cannot read {shown}: {error}: give what `mutants score -o DIR` has written"))
    })?;
    let score: ScoreFile = serde_json::from_slice(&text).map_err(|error| {
        Error::usage(format!("{shown} is no result of `mutants score` of this version ({error}): score again"))
    })?;
    if score.is_incomplete {
        return Err(Error::usage(format!("{shown} is of a score that was stopped: go on with it by --resume")));
    }
    Ok((path, score))
}

fn killed(score: &ScoreFile) -> BTreeSet<usize> {
    (0..).zip(&score.mutants).filter(|(_, one)| one.state == MutantState::Killed).map(|(number, _)| number).collect()
}

impl Comparison {
    fn new(groups: &[Vec<(PathBuf, ScoreFile)>]) -> Self {
        let sets: Vec<Vec<BTreeSet<usize>>> =
            groups.iter().map(|group| group.iter().map(|(_, score)| killed(score)).collect()).collect();
        let unions: Vec<BTreeSet<usize>> = sets.iter().map(|group| group.iter().flatten().copied().collect()).collect();
        let others = |place: usize| -> BTreeSet<usize> {
            let rest = unions.iter().enumerate().filter(|(other, _)| *other != place);
            rest.flat_map(|(_, set)| set).copied().collect()
        };
        let of_group = |(place, group): (usize, &Vec<(PathBuf, ScoreFile)>)| Group {
            results: group.iter().map(|(path, _)| path.display().to_string()).collect(),
            killed_by_each: sets[place].iter().map(|set| set.len() as u64).collect(),
            killed: unions[place].len() as u64,
            only_here: unions[place].difference(&others(place)).count() as u64,
        };
        let places = 0..groups.len();
        let pairs = places.clone().flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
        Self {
            mutants: groups.iter().flatten().next().map_or(0, |(_, score)| score.all.mutants),
            killed: unions.iter().flatten().collect::<BTreeSet<_>>().len() as u64,
            groups: groups.iter().enumerate().map(of_group).collect(),
            pairs: pairs.map(|(a, b)| Pair::new(a, b, &sets, &unions)).collect(),
        }
    }
}

impl Pair {
    fn new(a: usize, b: usize, sets: &[Vec<BTreeSet<usize>>], unions: &[BTreeSet<usize>]) -> Self {
        let only_a = unions[a].difference(&unions[b]).count() as u64;
        let only_b = unions[b].difference(&unions[a]).count() as u64;
        let both = unions[a].intersection(&unions[b]).count() as u64;
        let is_single = sets[a].len() == 1 && sets[b].len() == 1;
        let sizes = |place: usize| -> Vec<f64> { sets[place].iter().map(|set| set.len() as f64).collect() };
        let (of_a, of_b) = (sizes(a), sizes(b));
        Self {
            a,
            b,
            only_a,
            only_b,
            both,
            mcnemar: is_single.then(|| mcnemar(only_a, only_b)),
            mann_whitney: (!is_single).then(|| mann_whitney(&of_a, &of_b)),
            a12: (!is_single).then(|| a12(&of_a, &of_b)),
        }
    }
}

/// P value of McNemar's test, exact and two-sided: that of so uneven a split of coin tosses.
fn mcnemar(only_a: u64, only_b: u64) -> f64 {
    let tosses = only_a + only_b;
    // logarithms of binomial coefficients, since tosses may be thousands
    let mut log = -(tosses as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for heads in 0..=only_a.min(only_b) {
        tail += log.exp();
        log += ((tosses - heads) as f64).ln() - ((heads + 1) as f64).ln();
    }
    (2.0 * tail).min(1.0)
}

/// P value of the rank test of Mann and Whitney, two-sided.
pub(super) fn mann_whitney(a: &[f64], b: &[f64]) -> f64 {
    (2.0 * p_above(a, b).min(p_above(b, a))).min(1.0)
}

/// Probability that a value of `a` is above one of `b`; ties count half.
pub(super) fn a12(a: &[f64], b: &[f64]) -> f64 {
    let halves = |x: &f64| b.iter().map(|y| 2 * usize::from(x > y) + usize::from(x == y)).sum::<usize>();
    a.iter().map(halves).sum::<usize>() as f64 / 2.0 / (a.len() * b.len()).max(1) as f64
}

fn text(comparison: &Comparison) -> String {
    let letter = |place: usize| char::from(b'A' + (place % 26) as u8);
    let mut text =
        format!("{} of {} killed by some\n\n", grouped(comparison.killed), counted(comparison.mutants, "mutant"));
    for (place, group) in comparison.groups.iter().enumerate() {
        let (least, most) = (group.killed_by_each.iter().min(), group.killed_by_each.iter().max());
        let each = match (least, most) {
            (Some(least), Some(most)) if group.results.len() > 1 => {
                format!(" ({} to {} by each)", grouped(*least), grouped(*most))
            }
            _ => String::new(),
        };
        let first = group.results.first().map(|path| shown(path)).unwrap_or_default();
        let others = group.results.len() - 1;
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        let (killed, only) = (grouped(group.killed), grouped(group.only_here));
        let _ =
            writeln!(text, "{}  {killed} killed{each}, {only} by none of the others  {first}{others}", letter(place));
    }
    for pair in &comparison.pairs {
        let (a, b) = (letter(pair.a), letter(pair.b));
        let (only_a, only_b, both) = (grouped(pair.only_a), grouped(pair.only_b), grouped(pair.both));
        let _ = write!(text, "\n{a} and {b}: only {a} {only_a}, only {b} {only_b}, both {both}");
        if let Some(p) = pair.mcnemar {
            let _ = write!(text, "; McNemar p = {p:.3}");
        }
        if let (Some(p), Some(a12)) = (pair.mann_whitney, pair.a12) {
            let _ = write!(text, "; Mann-Whitney p = {p:.3}, A12 = {a12:.2}");
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_test_of_mcnemar_is_that_of_the_books() {
        // scipy.stats.binomtest(k, n).pvalue
        for (a, b, p) in [(0, 0, 1.0), (5, 5, 1.0), (0, 6, 0.03125), (1, 9, 0.021484375), (121, 59, 4.434449e-6)] {
            let found = mcnemar(a, b);
            assert!((found - p).abs() < 1e-3 * p, "{a} {b}: {found} instead of {p}");
            assert!((found - mcnemar(b, a)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_effect_size_counts_ties_half() {
        assert_eq!(a12(&[3.0, 4.0], &[1.0, 2.0]), 1.0);
        assert_eq!(a12(&[1.0, 2.0], &[1.0, 2.0]), 0.5);
        assert_eq!(a12(&[1.0], &[2.0, 1.0]), 0.25);
    }
}

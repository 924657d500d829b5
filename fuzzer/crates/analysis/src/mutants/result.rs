//! Result of `mutants score`, as printed with `--json` and written to `score.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    baseline::{LeftOut, Stable},
    kill::{Killed, Verdict},
    log::{Header, Log},
    probing::Probed,
    table::{Mutant, Table},
};

/// How good a corpus is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Score {
    /// Version of quagmire.
    pub version: String,
    /// SHA-256 of the program and its arguments: results of the same one can be compared.
    pub program: String,
    /// Number of inputs that are used.
    pub inputs: u64,
    /// Inputs that are not used.
    pub left_out: Vec<Unused>,
    /// Sums over all mutants.
    pub all: Counts,
    /// Sums by operator.
    pub operators: BTreeMap<String, Counts>,
    /// Sums by file and function.
    pub functions: BTreeMap<String, BTreeMap<String, Counts>>,
    /// For each way to notice a mutant, the number that it has killed.
    pub killed_by: BTreeMap<String, u64>,
    /// Number of runs of mutants.
    pub runs: u64,
    /// Most inputs that a mutant was run with.
    pub inputs_per_mutant: u64,
    /// Whether a signal came before all mutants were done.
    pub is_incomplete: bool,
    /// Multiple of the CPU time from which on a mutant is killed by it, of small faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    /// Multiple of an input's own cost from which on it kills, for performance mutants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_factor: Option<f64>,
    /// Sums by operator and gate, for performance mutants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladder: Vec<Rung>,
    /// All mutants, in the order of the program.
    pub mutants: Vec<Outcome>,
}

/// An input that is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unused {
    pub path: String,
    /// `unstable`, `hang`, `lost` or `differs-unoptimised`.
    pub reason: String,
}

/// Numbers of mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    pub mutants: u64,
    /// Mutants that some input reaches.
    pub reached: u64,
    /// Mutants that some input infects: their value differs from the original one.
    pub infected: u64,
    /// Mutants that some input tells from the original.
    pub killed: u64,
    /// Mutants that no input can tell, since the compiler makes the same code of them: in no other number.
    #[serde(default)]
    pub equivalent: u64,
}

/// Performance mutants of one operator with one gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rung {
    pub operator: String,
    /// Amount past which they slow something down.
    pub gate: u64,
    /// `infected`: some input costs more with the mutant.
    #[serde(flatten)]
    pub counts: Counts,
    /// Number of mutants with which some input costs at least 2, 10 and 100 times what it does without.
    pub at_2: u64,
    pub at_10: u64,
    pub at_100: u64,
}

/// Fate of a mutant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Name by which `QUAGMIRE_MUTANT` chooses it.
    #[serde(default)]
    pub id: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub function: String,
    pub operator: String,
    /// Source text that changes, as far as the compiler knows it.
    pub was: String,
    /// Source text that it becomes.
    pub became: String,
    /// Amount past which a performance mutant slows something down, and its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_unit: Option<String>,
    /// Whether a performance mutant is run, since its cost cannot be charged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_run: bool,
    pub state: State,
    /// Number of inputs that infect it; of a performance mutant, that cost more with it.
    pub infected_by: u64,
    /// Number of its runs.
    pub runs: u64,
    /// Number of the runs of a performance mutant that end, answer or write differently: they say nothing of its cost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed_runs: u64,
    /// How it was noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed: Option<Killed>,
    /// Largest multiple of an input's own cost with a performance mutant, the instructions that it adds, and that input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_factor: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_added: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_input: Option<String>,
    /// With `--in-order mtime`: age of the input that kills it, in seconds since the first input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_killed_at: Option<f64>,
}

/// How far a mutant has got: each state but the last includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// The compiler makes the same code of it as of the original.
    Equivalent,
    /// No input runs its place.
    NotReached,
    /// Its value is the original one with each input.
    NotInfected,
    /// It is infected, and a signal came before it was done.
    NotRun,
    /// It is infected, and no input tells it from the original.
    Survived,
    /// An input tells it from the original.
    Killed,
}

/// Whether a number need not be written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references over")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Counts {
    pub(super) fn add(&mut self, one: &Outcome) {
        if one.state == State::Equivalent {
            self.equivalent += 1;
            return;
        }
        self.mutants += 1;
        self.reached += u64::from(one.state > State::NotReached);
        self.infected += u64::from(one.infected_by > 0);
        self.killed += u64::from(one.state == State::Killed);
    }
}

impl Score {
    /// Sums up what became of all mutants.
    pub(super) fn new(
        header: &Header,
        table: Table,
        inputs: &[Stable],
        left_out: Vec<LeftOut>,
        probed: &Probed,
        log: &Log,
    ) -> Self {
        let outcomes = table.mutants.into_iter().enumerate();
        let mutants: Vec<Outcome> = outcomes
            .map(|(number, mutant)| {
                let infecting = probed.infecting[number].len() as u64;
                outcome(mutant, probed.is_reached[number], infecting, log.verdicts.get(&number))
            })
            .collect();
        let unoptimised = left_out.iter().filter(|one| one.reason == "differs-unoptimised").count();
        let used = (inputs.len() - unoptimised) as u64;
        let runs = mutants.iter().map(|one| one.runs).sum();
        let is_incomplete = mutants.iter().any(|one| one.state == State::NotRun);
        Self { is_incomplete, runs, ..Self::of(header, used, left_out, mutants) }
    }

    /// Sums up outcomes.
    pub(super) fn of(header: &Header, inputs: u64, left_out: Vec<LeftOut>, mutants: Vec<Outcome>) -> Self {
        let left_out = left_out.into_iter().map(|one| Unused { path: one.path, reason: one.reason.to_owned() });
        let mut score = Self {
            version: header.version.clone(),
            program: header.program.clone(),
            inputs,
            left_out: left_out.collect(),
            all: Counts::default(),
            operators: BTreeMap::new(),
            functions: BTreeMap::new(),
            killed_by: BTreeMap::new(),
            runs: 0,
            inputs_per_mutant: header.inputs_per_mutant as u64,
            is_incomplete: false,
            slower: header.slower,
            cost_factor: None,
            ladder: Vec::new(),
            mutants: Vec::new(),
        };
        for one in &mutants {
            score.all.add(one);
            score.operators.entry(one.operator.clone()).or_default().add(one);
            let of_file = score.functions.entry(one.file.clone()).or_default();
            of_file.entry(one.function.clone()).or_default().add(one);
            if let Some(killed) = &one.killed {
                *score.killed_by.entry(killed.by.name().to_owned()).or_default() += 1;
            }
        }
        score.mutants = mutants;
        score
    }
}

impl Outcome {
    /// A mutant that no input reaches.
    pub(super) fn new(mutant: Mutant) -> Self {
        let Mutant { id, file, line, column, function, operator, was, became, gate, is_run, .. } = mutant;
        let (gate, gate_unit) = gate.map_or((None, None), |gate| (Some(gate.past), Some(gate.unit)));
        Self {
            id,
            file,
            line,
            column,
            function,
            operator,
            was,
            became,
            gate,
            gate_unit,
            is_run,
            state: State::NotReached,
            infected_by: 0,
            runs: 0,
            changed_runs: 0,
            killed: None,
            worst_factor: None,
            worst_added: None,
            worst_input: None,
            first_killed_at: None,
        }
    }
}

fn outcome(mutant: Mutant, is_reached: bool, infected_by: u64, verdict: Option<&Verdict>) -> Outcome {
    if mutant.is_equivalent {
        return Outcome { state: State::Equivalent, ..Outcome::new(mutant) };
    }
    let killed = verdict.and_then(|verdict| verdict.killed.clone());
    let state = match (is_reached, infected_by, verdict) {
        (_, _, Some(_)) if killed.is_some() => State::Killed,
        (_, 1.., Some(_)) => State::Survived,
        (_, 1.., None) => State::NotRun,
        // it may have been run with inputs that only reach it
        (true, 0, _) => State::NotInfected,
        (false, 0, _) => State::NotReached,
    };
    let runs = verdict.map_or(0, |verdict| verdict.runs);
    Outcome { state, infected_by, runs, killed, ..Outcome::new(mutant) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::kill::KilledBy;

    #[test]
    fn a_state_includes_those_before_it() {
        let table = Table::read(
            "\u{c}f\tf\n=/a.c\n1\t1\tshift\t<<\t>>\n2\t1\tshift\t<<\t>>\n3\t1\tarithmetic\t+\t-\n4\t1\tarithmetic\t+\t-\n5\t1\tarithmetic\t+\t-\n",
        );
        let infecting = vec![vec![], vec![], vec![0], vec![0], vec![0, 1]];
        let probed = Probed { is_reached: vec![false, true, true, true, true], infecting, ..Probed::default() };
        let killed = Killed { by: KilledBy::Output, input: "i".into(), detail: String::new() };
        let verdicts = [
            (2, Verdict { mutant: 2, runs: 1, killed: None }),
            (3, Verdict { mutant: 3, runs: 4, killed: Some(killed) }),
            // with inputs that only reach it
            (1, Verdict { mutant: 1, runs: 2, killed: None }),
        ];
        let log = Log::of(verdicts);
        let header = Header {
            version: "1".into(),
            program: String::new(),
            inputs: String::new(),
            inputs_per_mutant: 50,
            slower: None,
        };
        let left_out = vec![LeftOut { path: "u".into(), reason: "unstable" }];
        let score = Score::new(&header, table, &[], left_out, &probed, &log);
        use State::{NotInfected, NotReached, NotRun, Survived};
        let states: Vec<State> = score.mutants.iter().map(|one| one.state).collect();
        assert_eq!(states, [NotReached, NotInfected, Survived, State::Killed, NotRun]);
        assert_eq!(score.all, Counts { mutants: 5, reached: 4, infected: 3, killed: 1, equivalent: 0 });
        assert_eq!(score.operators["shift"], Counts { mutants: 2, reached: 1, infected: 0, killed: 0, equivalent: 0 });
        assert_eq!((score.runs, score.is_incomplete, score.killed_by["output"]), (7, true, 1));
        let text = serde_json::to_string(&score).expect("JSON");
        assert_eq!(serde_json::from_str::<Score>(&text).expect("the same"), score);
    }
}

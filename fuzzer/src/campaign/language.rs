//! Language of the inputs of a campaign: a grammar, and the first inputs if there are no others.

use std::{collections::HashSet, path::PathBuf, sync::Arc};

use libafl_bolts::rands::StdRand;

use crate::options::Options;
use quagmire_base::{
    error::{Error, Result},
    seeds::{Seed, Seeds},
};
use quagmire_choices::{
    grammar::{Grammar, Limits},
    operator::Operator,
};
use quagmire_mutators::Rule;
use quagmire_search::{
    choices::mode::Mode,
    stages::{
        choices::{ChoiceOptions, Language},
        operators::is_used,
    },
};

/// First inputs that are made from a grammar.
const FIRST_INPUTS: usize = 32;

/// Inputs that are made to find so many different ones, for each of them.
const ATTEMPTS: usize = 8;

/// Size of the first inputs in bytes, and depth of their derivations: small ones, from which costs are told.
const FIRST_SIZE: usize = 256;
const FIRST_DEPTH: usize = 12;

/// Loads the grammar of the options, if they name one.
///
/// # Errors
/// If it cannot be used.
pub(crate) fn load(options: &Options) -> Result<Option<Arc<Grammar>>> {
    options.search.grammar.as_deref().map(|path| Grammar::load(path).map(Arc::new)).transpose()
}

/// Loads the seeds, or makes the first inputs from the grammar if none are given.
///
/// # Errors
/// If a seed cannot be read, or the grammar makes empty inputs only.
pub(crate) fn seeds(options: &Options, grammar: Option<&Grammar>) -> Result<Seeds> {
    let Some(grammar) = grammar.filter(|_| options.seeds.is_empty()) else {
        return Seeds::load(&options.seeds, options.workloads_filter.as_ref());
    };
    let mut rand = StdRand::with_seed(options.search.seed());
    let limits = Limits { size: FIRST_SIZE, depth: FIRST_DEPTH };
    let made = (0..FIRST_INPUTS * ATTEMPTS).map(|_| grammar.generate(&mut rand, &limits).bytes);
    let mut known = HashSet::new();
    let distinct = made.filter(|bytes| !bytes.is_empty() && known.insert(bytes.clone())).take(FIRST_INPUTS);
    let inputs: Vec<Seed> = distinct
        .enumerate()
        .map(|(number, bytes)| Seed { path: PathBuf::from(format!("generated_{number:02}")), bytes })
        .collect();
    if inputs.is_empty() {
        let path = options.search.grammar.as_deref().unwrap_or(std::path::Path::new("")).display();
        return Err(Error::usage(format!("--grammar {path}: it makes empty inputs only: give seeds with -i")));
    }
    Ok(Seeds { inputs, warnings: Vec::new() })
}

/// Options of the search for choices.
pub(crate) fn choices(
    options: &Options,
    grammar: Option<&Arc<Grammar>>,
    rules: &[Arc<dyn Rule>],
    tokens: Vec<Vec<u8>>,
) -> ChoiceOptions {
    let is_used = |operator: &Operator| is_used(options.search.rules.as_deref(), operator.name());
    ChoiceOptions {
        mode: options.search.choices,
        language: grammar.map_or(Language::Unknown, |grammar| Language::Grammar(grammar.clone())),
        rules: rules.to_vec(),
        tokens,
        operators: Operator::ALL.into_iter().filter(is_used).collect(),
    }
}

/// Warnings on seeds that the grammar does not describe; they are mutated as bytes.
pub(crate) fn warnings(grammar: &Grammar, seeds: &Seeds, mode: Mode) -> Vec<String> {
    if mode == Mode::Off {
        return vec!["--choices off: the grammar is not used".to_owned()];
    }
    let unknown: Vec<_> = seeds.inputs.iter().filter(|seed| grammar.parse(&seed.bytes).is_none()).collect();
    let Some(first) = unknown.first() else { return Vec::new() };
    let (count, all, path) = (unknown.len(), seeds.inputs.len(), first.path.display());
    let warning = if count == all {
        format!("the grammar describes no seed ({path} is the first): parts come from inputs that it makes")
    } else {
        format!("the grammar does not describe {count} of {all} seeds ({path} is the first): they are mutated as bytes")
    };
    vec![warning]
}

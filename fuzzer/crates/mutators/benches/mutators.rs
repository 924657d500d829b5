//! Benchmark of the mutators, in nanoseconds per call: `cargo bench -p quagmire-mutators`.

use std::sync::Arc;
use std::time::Instant;

use libafl::HasMetadata;
use libafl::corpus::{Corpus, InMemoryCorpus, Testcase};
use libafl::inputs::BytesInput;
use libafl::mutators::{HavocScheduledMutator, Mutator, Tokens, havoc_mutations_no_crossover};
use libafl::state::{HasMaxSize, StdState};
use libafl_bolts::rands::StdRand;
use quagmire_mutators::{RuleMutator, built_in_rules, custom::CustomRule, havoc, rule::Rule};

type State = StdState<InMemoryCorpus<BytesInput>, BytesInput, StdRand, InMemoryCorpus<BytesInput>>;

fn state_with(inputs: &[&[u8]], max_size: usize) -> State {
    let mut corpus = InMemoryCorpus::new();
    for input in inputs {
        corpus.add(Testcase::new(BytesInput::new(input.to_vec()))).expect("an addition to memory");
    }
    let rand = StdRand::with_seed(1);
    let mut state = StdState::new(rand, corpus, InMemoryCorpus::new(), &mut (), &mut ()).expect("a state");
    state.set_max_size(max_size);
    state
}

/// Nanoseconds per call, without the time for copying the input.
fn nanoseconds(mutator: &mut dyn Mutator<BytesInput, State>, state: &mut State, text: &[u8]) -> f64 {
    let calls = (100_000_000 / (text.len() + 2000)).clamp(300, 20_000);
    let mut input = BytesInput::new(Vec::with_capacity(2 * text.len()));
    let mut spent = 0.0;
    for mutate in [true, false] {
        let start = Instant::now();
        for _ in 0..calls {
            input.as_mut().clear();
            input.as_mut().extend_from_slice(text);
            if mutate {
                mutator.mutate(state, &mut input).expect("a mutation");
            }
            std::hint::black_box(&mut input);
        }
        let elapsed = start.elapsed().as_nanos() as f64 / calls as f64;
        spent += if mutate { elapsed } else { -elapsed };
    }
    spent
}

/// Custom rules: a word, words that change places, and an expression that reads on after each match.
const CUSTOM: [(&str, &str); 3] = [("words", "w"), (r"(\w+) (\w+)", r"\2 \1"), ("(?s)o(.*!)?", "0")];

fn main() {
    let sizes = [100, 10_000, 1_000_000];
    let repeated = |unit: &[u8]| sizes.map(|size| unit.repeat(size / unit.len() + 1));
    let lines = repeated(b"some words 12 3 \0 in\n");
    let markup = repeated(b"<book id=\"bk106\" pages=\"457\"><title>Some words</title>\n</book><br />\n");
    let mut mutators: Vec<(String, Box<dyn Mutator<BytesInput, State>>)> = Vec::new();
    for rule in built_in_rules() {
        let name = format!("{} {}", rule.label(), rule.name());
        mutators.push((name, Box::new(RuleMutator::new(Arc::clone(&rule)))));
    }
    for (number, (pattern, replacement)) in CUSTOM.into_iter().enumerate() {
        let rule = CustomRule::new(number + 1, pattern, replacement).expect("a rule");
        let name = format!("{} {}", rule.label(), rule.name());
        mutators.push((name, Box::new(RuleMutator::new(Arc::new(rule)))));
    }
    mutators.push(("havoc".into(), Box::new(havoc::havoc())));
    mutators.push(("splice".into(), Box::new(havoc::splice())));
    mutators.push(("tokens".into(), Box::new(havoc::tokens())));
    let stock = HavocScheduledMutator::new(havoc_mutations_no_crossover());
    mutators.push(("LibAFL's havoc, 2..128".into(), Box::new(stock)));
    println!("{:30} {:>10} {:>10} {:>10}", "ns per call", "100 B", "10 kB", "1 MB");
    for (name, mutator) in &mut mutators {
        print!("{name:30}");
        for text in if name.starts_with("D.") { &markup } else { &lines } {
            let mut other = text.clone();
            other.reverse();
            let mut state = state_with(&[text, &other], 2 * text.len());
            state.add_metadata(Tokens::from([b"<TAG>".to_vec()]));
            print!(" {:>10.0}", nanoseconds(mutator.as_mut(), &mut state, text));
        }
        println!();
    }
}

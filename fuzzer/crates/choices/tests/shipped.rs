//! The grammars of `corpus/grammars`: each loads, and describes what it generates.

use std::{error::Error, fs, path::Path};

use libafl_bolts::rands::StdRand;
use quagmire_choices::grammar::{Grammar, Limits};

#[test]
fn every_grammar_describes_what_it_generates() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/grammars");
    let mut grammars = 0;
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        grammars += 1;
        let grammar = Grammar::load(&path)?;
        let mut rand = StdRand::with_seed(1);
        for _ in 0..20 {
            let made = grammar.generate(&mut rand, &Limits { size: 500, depth: 32 });
            assert!(made.is_sound());
            let parsed = grammar.parse(&made.bytes).ok_or_else(|| {
                format!("{}: does not describe {:?}", path.display(), String::from_utf8_lossy(&made.bytes))
            })?;
            assert_eq!(parsed.bytes, made.bytes);
        }
    }
    assert!(grammars >= 8, "{grammars} grammars");
    Ok(())
}

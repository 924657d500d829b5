//! Recognition of the grammar that seeds follow, among those in `corpus/grammars`.

use std::time::{Duration, Instant};

use quagmire_base::seeds::Seed;
use quagmire_choices::grammar::Grammar;

/// The shipped grammars, a language that others contain before them.
const GRAMMARS: [(&str, &str); 8] = [
    ("json", include_str!("../../../corpus/grammars/json.json")),
    ("xml", include_str!("../../../corpus/grammars/xml.json")),
    ("css", include_str!("../../../corpus/grammars/css.json")),
    ("sql", include_str!("../../../corpus/grammars/sql.json")),
    ("lua", include_str!("../../../corpus/grammars/lua.json")),
    ("javascript", include_str!("../../../corpus/grammars/javascript.json")),
    ("pcre", include_str!("../../../corpus/grammars/pcre.json")),
    ("markdown", include_str!("../../../corpus/grammars/markdown.json")),
];

/// Number of seeds that are parsed, and the size up to which one is.
const SEEDS: usize = 8;
const LARGEST: usize = 2_048;

/// Size from which a seed tells its language from others: `1` is a text of many.
const SMALLEST: usize = 8;

/// Time that the search for a grammar may take.
const TIME: Duration = Duration::from_millis(200);

/// Name of the first grammar that parses the seeds, and not all of them backwards: one that does takes any text. `None` if there
/// is none, or it was not found in time.
pub(super) fn grammar(seeds: &[Seed]) -> Option<&'static str> {
    let started = Instant::now();
    let is_time = || started.elapsed() < TIME;
    let fit = |seed: &&Seed| (SMALLEST..=LARGEST).contains(&seed.bytes.len());
    let seeds: Vec<&[u8]> = seeds.iter().filter(fit).take(SEEDS).map(|seed| &*seed.bytes).collect();
    let backwards = |seed: &[u8]| seed.iter().rev().copied().collect::<Vec<u8>>();
    let fits = |grammar: &Grammar| {
        seeds.iter().all(|seed| is_time() && parses(grammar, seed))
            && seeds.iter().any(|seed| is_time() && !parses(grammar, &backwards(seed)))
    };
    GRAMMARS
        .iter()
        .take_while(|_| !seeds.is_empty() && is_time())
        .find(|(name, text)| Grammar::read(text, name).is_ok_and(|grammar| fits(&grammar)) && is_time())
        .map(|(name, _)| *name)
}

/// Whether a text is of a grammar, as it is or without the line feed that editors leave at its end.
fn parses(grammar: &Grammar, text: &[u8]) -> bool {
    let trimmed = text.strip_suffix(b"\n").filter(|trimmed| !trimmed.is_empty());
    grammar.parse(text).is_some() || trimmed.is_some_and(|trimmed| grammar.parse(trimmed).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Option<&'static str> {
        let seed = |text: &&str| Seed { path: "seed".into(), bytes: text.as_bytes().to_vec() };
        grammar(&texts.iter().map(seed).collect::<Vec<Seed>>())
    }

    #[test]
    fn the_language_of_seeds_is_recognised_and_any_text_is_of_none() {
        assert_eq!(of(&["{\"a\": [1, 2, true]}\n", "[1.5e3, \"text\"]"]), Some("json"));
        assert_eq!(of(&["<a b=\"c\"><d>text</d></a>"]), Some("xml"));
        for texts in [&["hello world, hello"][..], &["a=1;b=2;"], &["\u{1}\u{2}binary\0\0"], &["1"], &[]] {
            assert_eq!(of(texts), None, "{texts:?}");
        }
        assert_eq!(of(&["{\"a\": [1, 2, true]}", "{not json at all"]), None);
    }
}

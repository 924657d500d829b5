//! Recognition of the grammar that seeds follow, among those in `corpus/grammars`.

use std::time::{Duration, Instant};

use quagmire_base::seeds::Seed;
use quagmire_choices::grammar::Grammar;

/// A shipped grammar: its name, what a text of it looks like, and its text. Reading one takes half a second, so only that which
/// most seeds look like is read. Of Markdown any text is one, and of regular expressions nearly any.
type Shipped = (&'static str, fn(&str) -> bool, &'static str);

const GRAMMARS: [Shipped; 6] = [
    ("json", looks_like_json, include_str!("../../grammars/json.json")),
    ("xml", |text| text.starts_with('<') && text.ends_with('>'), include_str!("../../grammars/xml.json")),
    ("sql", looks_like_sql, include_str!("../../grammars/sql.json")),
    ("lua", looks_like_lua, include_str!("../../grammars/lua.json")),
    ("javascript", looks_like_javascript, include_str!("../../grammars/javascript.json")),
    ("css", |text| text.ends_with('}') && text.contains(':'), include_str!("../../grammars/css.json")),
];

/// Number of seeds that are parsed, and the size up to which one is.
const SEEDS: usize = 8;
const LARGEST: usize = 2_048;

/// Time that parsing the seeds may take.
const TIME: Duration = Duration::from_millis(500);

fn looks_like_json(text: &str) -> bool {
    [('{', '}'), ('[', ']')].iter().any(|&(open, close)| text.starts_with(open) && text.ends_with(close))
}

fn looks_like_sql(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    ["select", "insert", "create", "update", "delete", "with", "drop", "alter", "pragma", "begin"].contains(&&*first)
}

fn looks_like_lua(text: &str) -> bool {
    let has = |word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|one| one == word);
    has("local") || has("end") && (has("then") || has("do") || has("function"))
}

fn looks_like_javascript(text: &str) -> bool {
    ["function", "var ", "let ", "const ", "=>"].iter().any(|sign| text.contains(sign))
}

/// Name of the grammar that most seeds look like, if it parses at least half of them: half, since the grammars have few letters.
pub(super) fn grammar(seeds: &[Seed]) -> Option<&'static str> {
    let texts = seeds.iter().filter(|seed| seed.bytes.len() <= LARGEST);
    let texts: Vec<&str> = texts.filter_map(|seed| std::str::from_utf8(&seed.bytes).ok()).take(SEEDS).collect();
    // a text looks like the first of them
    let kind = |text: &&str| GRAMMARS.iter().position(|(_, looks_like, _)| looks_like(text.trim()));
    let kinds: Vec<usize> = texts.iter().filter_map(kind).collect();
    let votes = |of: usize| kinds.iter().filter(|&&kind| kind == of).count();
    let most = (0..GRAMMARS.len()).max_by_key(|&kind| (votes(kind), std::cmp::Reverse(kind)))?;
    if votes(most) == 0 || 2 * votes(most) < texts.len() {
        return None;
    }
    let (name, _, text) = GRAMMARS[most];
    let grammar = Grammar::read(text, name).ok()?;
    let started = Instant::now();
    let parsed = texts.iter().filter(|text| started.elapsed() < TIME && parses(&grammar, text)).count();
    (2 * parsed >= texts.len()).then_some(name)
}

/// Whether a text is of a grammar, as it is or without the blanks around it.
fn parses(grammar: &Grammar, text: &str) -> bool {
    grammar.parse(text.as_bytes()).is_some() || grammar.parse(text.trim().as_bytes()).is_some()
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
        assert_eq!(of(&["{\"a\": [1, 2, true]}", "{not json}", "{nor this}"]), None);
        for texts in [&["hello world, hello"][..], &["a=1;b=2;"], &["\u{1}\u{2}binary\0\0"], &["1"], &[""], &[]] {
            assert_eq!(of(texts), None, "{texts:?}");
        }
    }

    #[test]
    fn seeds_of_the_shipped_grammars_are_of_them() {
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
        for (folder, name) in [("jansson", "json"), ("pugixml", "xml")] {
            let files = std::fs::read_dir(corpus.join(folder)).expect("a corpus").flatten();
            let texts: Vec<String> = files.map(|file| std::fs::read_to_string(file.path()).expect("text")).collect();
            assert_eq!(of(&texts.iter().map(String::as_str).collect::<Vec<_>>()), Some(name), "{folder}");
        }
    }
}

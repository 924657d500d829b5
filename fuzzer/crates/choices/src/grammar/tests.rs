//! Tests of grammars.

mod antlr;
mod mistakes;

use std::collections::BTreeSet;

use libafl_bolts::rands::StdRand;
use proptest::prelude::*;

use super::*;
use crate::tree::Role;

fn grammar(text: &str) -> Grammar {
    Grammar::of_text(text).unwrap_or_else(|mistake| panic!("{mistake:?}"))
}

/// Roles and texts of all nodes below the root.
fn parts<'a>(grammar: &Grammar, text: &'a str) -> Vec<(Role, &'a str)> {
    let tree = grammar.parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
    assert!(tree.is_sound());
    tree.nodes[1..].iter().map(|node| (node.role, &text[node.range()])).collect()
}

const JSON: &str = include_str!("../../testdata/json.json");
const XML: &str = include_str!("../../testdata/xml.json");

#[test]
fn json_is_parsed() {
    let json = grammar(JSON);
    for text in ["[]", "{\"a\": [1, 2.5e3, -3, true], \"b\" : {}}", " \"x\\u00ff\" "] {
        let tree = json.parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
        assert!(tree.is_sound());
        assert_eq!(tree.bytes, text.as_bytes());
    }
    for text in ["", "[", "[1,]", "{\"a\"}", "01", "[1 2]"] {
        assert_eq!(json.parse(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn what_is_generated_parses_again() {
    for text in [JSON, XML, antlr::CALCULATOR] {
        let grammar = grammar(text);
        let mut rand = StdRand::with_seed(1);
        for size in [0, 20, 100, 1000, 10_000] {
            for depth in [0, 3, 10, 100] {
                for _ in 0..20 {
                    let tree = grammar.generate(&mut rand, &Limits { size, depth });
                    assert!(tree.is_sound(), "{tree:?}");
                    assert!(tree.bytes.len() <= size.max(10), "{} {size}", tree.bytes.len());
                    let parsed = grammar.parse(&tree.bytes);
                    assert!(parsed.is_some(), "{}", String::from_utf8_lossy(&tree.bytes));
                    if text == JSON {
                        assert_eq!(parsed, Some(tree));
                    }
                }
            }
        }
    }
}

#[test]
fn generation_reaches_all_alternatives_and_many_sizes() {
    let json = grammar(JSON);
    let mut rand = StdRand::with_seed(3);
    let trees: Vec<Tree> = (0..500).map(|_| json.generate(&mut rand, &Limits { size: 1000, depth: 10 })).collect();
    let value = json.symbols.iter().position(|symbol| symbol.name == "<value>").expect("a symbol") as u32;
    let choices: BTreeSet<u32> =
        trees.iter().flat_map(|tree| &tree.nodes).filter(|node| node.symbol == value).map(|node| node.choice).collect();
    assert_eq!(choices.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert!(trees.iter().any(|tree| tree.bytes.len() > 500) && trees.iter().any(|tree| tree.bytes.len() < 10));
    let different: BTreeSet<&[u8]> = trees.iter().map(|tree| &tree.bytes[..]).collect();
    assert!(different.len() > 300, "{}", different.len());
}

#[test]
fn lists_of_all_kinds_become_repetitions_with_separators() {
    use Role::{Leaf, List, Part, Separator};
    let left = r#"{"<start>": ["<l>."], "<l>": ["<l>,<n>", "<n>"], "<n>": ["x", "(<n>)"]}"#;
    let right = r#"{"<start>": ["<l>."], "<l>": ["<n>,<l>", "<n>"], "<n>": ["x", "(<n>)"]}"#;
    let both = r#"{"<start>": ["<n>."], "<n>": ["<n>,<n>", "x", "(<n>)"]}"#;
    for text in [left, right] {
        let found = parts(&grammar(text), "x,(x),x.");
        assert_eq!(found[..4], [(List, "x,(x),x"), (Part, "x"), (Separator, ","), (Part, "(x)")]);
        assert_eq!(found[5..], [(Separator, ","), (Part, "x")]);
    }
    let found = parts(&grammar(both), "x,(x,x).");
    assert_eq!(found[..5], [(List, "x,(x,x)"), (Part, "x"), (Separator, ","), (Part, "(x,x)"), (List, "x,x")]);
    let operators = r#"{"<start>": ["<e>"], "<e>": ["<e>+<t>", "<e>-<t>", "<t>"], "<t>": ["<f>*<t>", "<f>"], "<f>": ["1", "(<e>)"]}"#;
    let found = parts(&grammar(operators), "1+(1-1)*1");
    assert_eq!(found[0], (List, "1+(1-1)*1"));
    assert_eq!(found.iter().filter(|part| part.0 == Separator).map(|part| part.1).collect::<String>(), "+-*");
    let prefix = r#"{"<start>": ["<e>"], "<e>": ["-<e>", "<e>!", "<e>+<e>", "1", "(<e>)"]}"#;
    let found = grammar(prefix);
    for (text, is_in) in
        [("1", true), ("--1!!+-1!", true), ("(1+1)!", true), ("1-", false), ("+1", false), ("!1", false)]
    {
        assert_eq!(found.parse(text.as_bytes()).is_some(), is_in, "{text}");
    }
    let lines = r#"{"<start>": [[], ["<line>", "\n", "<start>"]], "<line>": [["a", "<line>"], []]}"#;
    assert_eq!(parts(&grammar(lines), "aa\n\na\n").iter().filter(|part| part.0 == Leaf).count(), 3);
}

#[test]
fn values_are_leaves() {
    let found = parts(&grammar(JSON), r#"{"ab": [-12.5e3, ""]}"#);
    let leaves: Vec<&str> =
        found.iter().filter(|part| part.0 == Role::Leaf && !part.1.is_empty()).map(|part| part.1).collect();
    assert_eq!(leaves, ["\"ab\"", " ", "-12.5e3", " ", "\"\""]);
    // a name and a number are two values, whatever the rule around them
    let settings = r#"{"<start>": ["", "<one>\n<start>"], "<one>": ["<name>=<number>"],
        "<name>": ["a", "b", "a<name>", "b<name>"], "<number>": ["1", "2", "1<number>", "2<number>"]}"#;
    let found = parts(&grammar(settings), "ab=12\n");
    assert!(found.contains(&(Role::Leaf, "ab")) && found.contains(&(Role::Leaf, "12")), "{found:?}");
}

#[test]
fn large_inputs_of_every_shape_are_parsed() {
    let json = grammar(JSON);
    let shapes = [
        ("string", format!("\"{}\"", "a".repeat(16_000))),
        ("strings", format!("[{}1]", format!("\"{}\",", "\\\"b".repeat(50)).repeat(1000))),
        ("list", format!("[{}1]", "1,".repeat(50_000))),
        ("nest", format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))),
        ("objects", format!("{}1{}", "{\"a\": ".repeat(10_000), "}".repeat(10_000))),
        ("blanks", format!("[{}1]", " ".repeat(100_000))),
        ("digits", "1".repeat(100_000)),
    ];
    for (shape, text) in shapes {
        let tree = json.parse(text.as_bytes()).unwrap_or_else(|| panic!("{shape}"));
        assert!(tree.is_sound());
    }
    let xml = grammar(XML);
    let text = format!("{}some text{}", "<a b=\"1\">".repeat(5000), "</a>".repeat(5000));
    assert!(xml.parse(text.as_bytes()).is_some());
    assert!(xml.parse(format!("<a>{}</a>", "text and &amp; text ".repeat(5000)).as_bytes()).is_some());
}

#[test]
fn ambiguity_ends_in_the_first_alternative_or_by_the_budget() {
    let twice = grammar(r#"{"<start>": ["<a>x", "<b>x"], "<a>": ["1", "(<a>)"], "<b>": ["(<b>)", "1"]}"#);
    assert_eq!(twice.parse(b"(1)x").expect("a tree").nodes[0].choice, 0);
    // S -> S S | a is a list, and this is none
    let cubic = grammar(r#"{"<start>": ["<t>", "<s>"], "<s>": ["<t><t>", "a"], "<t>": ["<s><s>", "b", "<s>c"]}"#);
    assert!(cubic.parse(b"aa").is_some());
    assert_eq!(cubic.parse("a".repeat(400).as_bytes()), None);
    let list = grammar(r#"{"<start>": ["<start><start>", "a"]}"#);
    assert!(list.parse("a".repeat(400).as_bytes()).is_some());
    // the longest leaf is not always the right one
    let split = grammar(r#"{"<start>": ["<w><w>(<start>)", "."], "<w>": ["a", "a<w>"]}"#);
    assert!(split.parse(b"aaa(.)").is_some());
}

#[test]
fn chains_of_many_rules_are_ready_soon_in_either_order() {
    let count = 30_000;
    for forward in [true, false] {
        let name = |at: usize| if forward { at } else { count - 1 - at };
        let rules: Vec<String> = (0..count)
            .map(|at| match at + 1 == count {
                true => format!("\"<{}>\": [\"b\"]", name(at)),
                false => format!("\"<{}>\": [\"a<{}>\", \"\"]", name(at), name(at + 1)),
            })
            .collect();
        // written in the order of their names
        let mut ordered = rules;
        ordered.sort_by_key(|rule| rule[2..rule.find('>').unwrap()].parse::<usize>().unwrap());
        let grammar = grammar(&format!("{{\"<start>\": [\"<{}>\"], {}}}", name(0), ordered.join(", ")));
        assert!(grammar.parse(b"aaa").is_some() && grammar.parse(b"ab").is_none());
    }
}

/// Words over a and b of up to five letters that a small grammar derives, by putting words together until nothing is new.
fn words(rules: &[Vec<Vec<u8>>]) -> BTreeSet<Vec<u8>> {
    let mut words: Vec<BTreeSet<Vec<u8>>> = vec![BTreeSet::new(); rules.len()];
    loop {
        let before = words.clone();
        for (number, alternatives) in rules.iter().enumerate() {
            for alternative in alternatives {
                let mut all = BTreeSet::from([Vec::new()]);
                for &item in alternative {
                    let letters = BTreeSet::from([vec![item]]);
                    let more = if item.is_ascii_digit() { &before[usize::from(item - b'0')] } else { &letters };
                    let joined = all.iter().flat_map(|one| more.iter().map(move |other| [&one[..], other].concat()));
                    all = joined.filter(|word| word.len() <= 5).collect();
                }
                words[number].extend(all);
            }
        }
        if words == before {
            return words.swap_remove(0);
        }
    }
}

fn as_json(rules: &[Vec<Vec<u8>>]) -> String {
    let item = |&item: &u8| {
        if item.is_ascii_digit() { format!("\"<{}>\"", item as char) } else { format!("\"{}\"", item as char) }
    };
    let alternative = |one: &Vec<u8>| format!("[{}]", one.iter().map(item).collect::<Vec<_>>().join(","));
    let rule = |(number, all): (usize, &Vec<Vec<u8>>)| {
        format!("\"<{number}>\": [{}]", all.iter().map(alternative).collect::<Vec<_>>().join(","))
    };
    format!("{{{}}}", rules.iter().enumerate().map(rule).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn separators_of_recursion_on_both_sides_keep_their_order() {
    let both = grammar(r#"{"<l>": ["a", "ab<l>", "<l>ca"]}"#);
    let one = grammar(r#"{"<l>": ["a", "<l>b<l>", "ab<l>", "<l>ca"]}"#);
    for (word, of_both) in [("abacaca", true), ("ababaca", true), ("acaba", false), ("abacaba", false)] {
        assert_eq!(both.parse(word.as_bytes()).is_some(), of_both, "{word}");
        assert!(one.parse(word.as_bytes()).is_some(), "{word}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_small_grammar_accepts_what_brute_force_derives(
        rules in prop::collection::vec(prop::collection::vec(prop::collection::vec(
            prop::sample::select(&b"aabb0123"[..]), 0..4), 1..4), 4)
    ) {
        let text = as_json(&rules);
        let Ok(grammar) = Grammar::of_text(&text) else { return Ok(()) };
        let words = words(&rules);
        for length in 0..=5_u32 {
            for bits in 0..1_u32 << length {
                let word: Vec<u8> = (0..length).map(|at| if bits >> at & 1 == 0 { b'a' } else { b'b' }).collect();
                let tree = grammar.parse(&word);
                prop_assert_eq!(tree.is_some(), words.contains(&word), "{} {:?}", text, String::from_utf8_lossy(&word));
                prop_assert!(tree.is_none_or(|tree| tree.is_sound() && tree.bytes == word));
            }
        }
        let mut rand = StdRand::with_seed(1);
        for size in [0, 5, 5, 5] {
            let tree = grammar.generate(&mut rand, &Limits { size, depth: 5 });
            prop_assert!(tree.is_sound());
            if tree.bytes.len() <= 5 {
                prop_assert!(words.contains(&tree.bytes), "{} {:?}", text, tree);
            }
        }
    }
}

//! Tests of grammars.

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
    for text in [JSON, XML, CALCULATOR] {
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

/// A grammar with most of what is read.
const CALCULATOR: &str = r#"
grammar Calculator;  // as people write them
options { language = Cpp; }
@header { #include "x.h" /* } */ }
program : statement+ EOF ;
statement locals [int n] : target=ID '=' value=expr ';' # assign | 'print' '(' expr (',' expr)* ')' ';' {count("}");} # call ;
expr : <assoc=right> expr '^' expr | expr op=('*' | '/') expr | {ok()}? expr ('+' | '-') expr | '-' expr | atom ;
atom : NUMBER | STRING | ID | '(' expr ')' ;
ID : LETTER (LETTER | [0-9_])* ;
NUMBER : DIGIT+ ('.' DIGIT*)? ;
STRING : '"' (~["\\\r\n] | '\\' .)* '"' ;
fragment LETTER : 'a'..'z' | [A-Z\u00e4] ;
fragment DIGIT : [0-9] ;
BLANK : [ \t\r\n]+ -> skip ;
COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
"#;

#[test]
fn a_grammar_of_antlr_is_read() {
    let calculator = grammar(CALCULATOR);
    for (text, is_in) in [
        ("a=1;", true),
        (" a = 1 + 2*-3^(b) ;\n/* x */ print ( \"a\\\"b é\" , 1.5 ) ; /**/", true),
        ("\u{e4}1 = 2;", true),
        ("a=1; /* a */ b=2; */", false),
        ("a=1", false),
        ("1=a;", false),
        ("a=\";", false),
    ] {
        assert_eq!(calculator.parse(text.as_bytes()).is_some(), is_in, "{text}");
    }
    let found = parts(&calculator, "x=1+ 2; print(a,b, c);");
    let of = |role: Role| found.iter().filter(|part| part.0 == role).map(|part| part.1).collect::<Vec<_>>();
    assert_eq!(of(Role::Separator), ["+ ", ",", ", "]);
    assert!(of(Role::List).contains(&"a,b, c") && of(Role::Leaf).contains(&"c"), "{found:?}");
}

#[test]
fn classes_of_unicode_and_upper_case_are_read() {
    let word = grammar(
        "grammar W; options { caseInsensitive = true; } s : 'if' WORD ; WORD : [\\p{Lu}\\u{1F600}-\\u{1F602}]+ ;",
    );
    for (text, is_in) in [("ifÄB", true), ("IFx", true), ("If\u{1F601}", true), ("if1", false), ("ofx", false)] {
        assert_eq!(word.parse(text.as_bytes()).is_some(), is_in, "{text}");
    }
}

#[track_caller]
fn mistake(text: &str, line: usize, part: &str) {
    match Grammar::of_text(text) {
        Ok(_) => panic!("nothing wrong with {text}"),
        Err(mistake) => {
            assert!(mistake.what.contains(part) && !mistake.what.contains('\n'), "{mistake:?}");
            assert_eq!(mistake.line, line, "{mistake:?}");
        }
    }
}

#[test]
fn mistakes_have_a_line_and_a_remedy() {
    mistake("", 0, "empty");
    mistake(" \n", 0, "empty");
    mistake("{}", 0, "no rules");
    mistake("{\"<start>\": [\n\"x\",\n]}", 3, "no grammar in JSON");
    mistake("{\"<start>\":\n[\"<b>\"]}", 2, "<b> is used by <start> and has no rule");
    mistake("{\"<start>\": 5}", 1, "no list of alternatives");
    mistake("{\"<start>\": [5]}", 1, "where an alternative belongs");
    mistake("{\"<a>\": [\"x\"],\n\"<a>\": [\"y\"]}", 1, "twice");
    mistake("{\"<start>\": [\"x\", \"<a>\"],\n\"<a>\": [\"(<a>)\"]}", 2, "<a> never ends");
    mistake("{\"<start>\": []}", 1, "<start> never ends");
    mistake("{\"<start>\": [\"<start>\", \"x\"]}", 1, "<start> can become itself");
    mistake(
        "{\"<start>\": [\"<a>\"],\n\"<a>\": [\"x\", \"<b><c>\"], \"<b>\": [\"\"], \"<c>\": [\"<a>\"]}",
        2,
        "can become itself",
    );
    mistake("[[\"A\", \"x{B}\"]]", 1, "B is used by A");
    mistake("[[\"A\", \"x{B\"]]", 1, "closing brace");
    mistake("[[\"A\", \"x{b}\"]]", 1, "no name");
    mistake("[\n[\"A\", [\"B\"], \"x\"]]", 2, "no pair");
}

#[test]
fn mistakes_in_grammars_of_antlr_have_a_line_and_a_remedy() {
    mistake("grammar G;\na : b ;", 2, "b is used by a");
    mistake("grammar G;\na : 'x' ;\nA : 'x' -> pushMode(M) ;", 3, "modes");
    mistake("lexer grammar G;\nA : 'x';\nmode M;", 3, "modes");
    mistake("grammar G;\nimport H;", 2, "one");
    mistake("grammar G;\na : 'x ;", 2, "no ' on this line");
    mistake("grammar G;\na : ('x' ;", 2, "`)`");
    mistake("grammar G;\na : 'x' ", 2, "the end of the file");
    mistake("grammar G;\nA : 'x' ;", 0, "rule of a parser");
    mistake("grammar G;\na : B ; B : ~'xy' ;", 2, "not one character");
    mistake("grammar G;\na : B ; B : [z-a] ;", 2, "range");
    mistake("grammar G;\na : { x", 2, "not closed");
    mistake("grammar G;\na : % ;", 2, "`%`");
    mistake(&format!("grammar G; a : {}'x'{} ;", "(".repeat(5000), ")".repeat(5000)), 1, "groups");
}

#[test]
fn unused_rules_are_warnings() {
    let found = grammar("{\"<start>\": [\"x\"], \"<a>\": [\"<a>\"]}");
    assert_eq!(found.warnings, ["<a> is not used"]);
}

#[test]
fn the_three_forms_of_json_are_read() {
    let book = grammar(r#"{"<start>": ["a <b> < c>", ["<b>", "<"]], "<b>": ["\u00ff\u0100", ""]}"#);
    for (text, is_in) in [(&b"a \xff\xc4\x80 < c>"[..], true), (b"<", true), (b"a  < c>", true), (b"a <b> < c>", false)]
    {
        assert_eq!(book.parse(text).is_some(), is_in, "{text:?}");
    }
    let nautilus = grammar(r#"[["A", "\\{x{B:label}\\}"], ["B", "1"], ["B", "{A}\\n"]]"#);
    for (text, is_in) in [("{x1}", true), ("{x{x1}\\n}", true), ("{x1", false), ("1", false)] {
        assert_eq!(nautilus.parse(text.as_bytes()).is_some(), is_in, "{text}");
    }
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.json");
    std::fs::write(&path, "{\"<start>\":\n[\"<b>\"]}").expect("a file");
    let error = Grammar::load(&path).expect_err("a mistake");
    assert!(error.message.contains("g.json:2: <b> is used"), "{error}");
    for path in [folder.path(), std::path::Path::new("/no/such/file")] {
        assert!(Grammar::load(path).expect_err("no file").message.contains("cannot read the grammar"));
    }
    std::fs::write(&path, b"{\"<start>\": [\"\xff\"]}").expect("a file");
    assert!(Grammar::load(&path).expect_err("a mistake").message.contains("UTF-8"));
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

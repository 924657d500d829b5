//! Tests of grammars that are wrong.

use super::*;

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
    assert_eq!(found.warnings(), ["<a> is not used"]);
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

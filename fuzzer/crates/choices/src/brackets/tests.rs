//! Tests of trees of texts.

use super::*;
use proptest::prelude::*;

/// Checks what [`Tree`] promises, and that lists have several items of one kind.
fn check_sound(tree: &Tree) {
    assert!(tree.is_sound() && tree.nodes.iter().all(|node| node.length > 0), "{tree:?}");
    for list in (0..tree.nodes.len()).filter(|&node| tree.nodes[node].role == Role::List) {
        let items = tree.children(list).map(|item| tree.nodes[item]).filter(|item| item.role != Role::Separator);
        let items: Vec<u32> = items.map(|item| item.symbol).collect();
        assert!(items.len() > 1 && items.iter().all(|&item| item == items[0]));
    }
}

fn texts(text: &str, symbol: Symbol) -> Vec<String> {
    let tree = parse(text.as_bytes()).expect("it has structure");
    assert_eq!(tree.bytes, text.as_bytes());
    check_sound(&tree);
    let found = tree.nodes.iter().filter(|node| node.symbol == symbol as u32);
    found.map(|node| String::from_utf8_lossy(&tree.bytes[node.range()]).into_owned()).collect()
}

#[test]
fn parts_of_each_kind_are_found() {
    let json = r#"{"a": [1, 2.5, "x,y"], "b": {}}"#;
    let xml = r#"<a x="1" y='2'><b/>text<c><c></c></c></a>"#;
    let known: [(&str, Symbol, &[&str]); 16] = [
        (json, Symbol::Key, &[r#""a""#, r#""b""#]),
        (json, Symbol::Value, &[r#"[1, 2.5, "x,y"]"#, "1", "2.5", r#""x,y""#, "{}"]),
        (json, Symbol::QuotedText, &["a", "x,y", "b"]),
        (json, Symbol::Number, &["1", "2.5"]),
        (xml, Symbol::Element, &[xml, "<c><c></c></c>", "<c></c>"]),
        (xml, Symbol::Group, &["<b/>", "text", "<c><c></c></c>"]),
        (xml, Symbol::Key, &["x", "y"]),
        ("<p>one<br>two</p>", Symbol::Element, &["<p>one<br>two</p>"]),
        // the slash of an element without an end tag is no part of its last attribute
        ("<a b=\"c\" d='e'/>", Symbol::Atom, &["a", "b=\"c\"", "d='e'"]),
        ("a = 1\n[b]\n\nc = 2 3\n", Symbol::Line, &["a = 1", "[b]", "c = 2 3"]),
        ("(a (b c) 1)", Symbol::Atom, &["a", "(b c)", "b", "c", "1"]),
        ("1 + 2*(3-4)", Symbol::Term, &["1", "2", "(3-4)", "3", "4"]),
        ("f(x, y[1])", Symbol::Item, &["x", "y[1]"]),
        // a sign after a blank and an exponent belong to their number
        ("(5 -2e-3, 4 - 1)", Symbol::Atom, &["5", "-2e-3"]),
        ("(5 -2e-3, 4 - 1)", Symbol::Number, &["5", "2e-3", "4", "1"]),
        ("(4 - 1)", Symbol::Term, &["4", "1"]),
    ];
    for (text, symbol, expected) in known {
        assert_eq!(texts(text, symbol), expected, "{text} {symbol:?}");
    }
}

#[test]
fn brackets_without_a_partner_are_ordinary_bytes() {
    assert_eq!(texts("a) b (c [d, e] ]", Symbol::Item), ["d", "e"]);
    assert_eq!(texts("if (a < b && c > d) don't", Symbol::Value), ["a < b && c > d"]);
    for text in ["", "word", "42", "\0\u{1}\u{2}(\0)\u{1}\0\0\0"] {
        assert!(parse(text.as_bytes()).is_none(), "{text:?}");
    }
}

#[test]
fn deep_nesting_and_long_lists_take_linear_room() {
    let shapes: [fn(usize) -> String; 6] = [
        |n| format!("{}{}", "[".repeat(n), "]".repeat(n)),
        |n| format!("{}x{}", "<a>".repeat(n), "</a>".repeat(n)),
        |n| "(".repeat(n) + ")",
        |n| "a,".repeat(n),
        |n| "'\"x".repeat(n) + "\n(y)",
        |n| format!("{}{}", "<a<".repeat(n), "x>".repeat(2 * n)),
    ];
    for shape in shapes {
        let [small, large] = [1_000, 100_000].map(|n| parse(shape(n).as_bytes()).expect("structure").nodes.len());
        assert!(large <= 101 * small, "{small} nodes, {large} of a text that is 100 times as long");
    }
}

proptest! {
    #[test]
    fn trees_of_any_text_are_sound(text in r#"[\[\](){}<>/"'`\\,;:=+ \na1.&-]{0,80}"#) {
        if let Some(tree) = parse(text.as_bytes()) {
            prop_assert_eq!(&tree.bytes[..], text.as_bytes());
            check_sound(&tree);
        }
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        parse(&bytes).iter().for_each(check_sound);
    }
}

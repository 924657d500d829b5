//! Tests of trees of texts.

use super::*;
use proptest::prelude::*;

/// Checks what [`Tree`] promises.
fn check_sound(tree: &Tree) {
    let mut open: Vec<usize> = Vec::new();
    for (place, node) in tree.nodes.iter().enumerate() {
        while open.last().is_some_and(|&outer| outer + tree.nodes[outer].nodes as usize <= place) {
            open.pop();
        }
        assert!(node.nodes >= 1 && place + node.nodes as usize <= tree.nodes.len());
        if let Some(&outer) = open.last() {
            let outer_node = tree.nodes[outer];
            let (inner, around) = (node.range(), outer_node.range());
            assert!(around.start <= inner.start && inner.end <= around.end, "{node:?} in {outer_node:?}");
            assert!(place + node.nodes as usize <= outer + outer_node.nodes as usize);
            assert!(matches!(outer_node.role, Role::Part | Role::List));
            assert_eq!(outer_node.role == Role::List, is_in_list(node), "{node:?} in {outer_node:?}");
        } else {
            assert_eq!((place, node.range()), (0, 0..tree.bytes.len()));
        }
        assert!(node.length > 0);
        open.push(place);
    }
    for (place, list) in tree.nodes.iter().enumerate().filter(|node| node.1.role == Role::List) {
        check_list(tree, place, list);
    }
}

fn is_in_list(node: &Node) -> bool {
    let items = [Symbol::Line, Symbol::Statement, Symbol::Item, Symbol::Term, Symbol::Atom, Symbol::Group];
    node.role == Role::Separator || items.iter().any(|&item| item as u32 == node.symbol)
}

/// Checks that items and separators alternate and fill the list.
fn check_list(tree: &Tree, place: usize, list: &Node) {
    let (mut at, mut end, mut items, mut separators) = (place + 1, list.start, Vec::new(), 0);
    while at < place + list.nodes as usize {
        let node = tree.nodes[at];
        assert_eq!(node.start, end, "a list has a gap");
        end = node.start + node.length;
        if node.role == Role::Separator {
            separators += 1;
            assert_eq!(separators, items.len());
        } else {
            items.push(node.symbol);
        }
        at += node.nodes as usize;
    }
    assert_eq!(end, list.start + list.length);
    assert!(separators == 0 || separators + 1 == items.len());
    assert!(items.len() > 1 && items.iter().all(|&item| item == items[0]));
}

fn texts(text: &str, symbol: Symbol) -> Vec<String> {
    let tree = parse(text.as_bytes()).expect("it has structure");
    assert_eq!(tree.bytes, text.as_bytes());
    check_sound(&tree);
    let found = tree.nodes.iter().filter(|node| node.symbol == symbol as u32);
    found.map(|node| String::from_utf8_lossy(&tree.bytes[node.range()]).into_owned()).collect()
}

#[test]
fn json_has_items_keys_and_values() {
    let text = r#"{"a": [1, 2.5, "x,y"], "b": {}}"#;
    assert_eq!(texts(text, Symbol::Key), [r#""a""#, r#""b""#]);
    assert_eq!(texts(text, Symbol::Value), [text, r#"[1, 2.5, "x,y"]"#, "1", "2.5", r#""x,y""#, "{}"][1..]);
    assert_eq!(texts(text, Symbol::QuotedText), ["a", "x,y", "b"]);
    assert_eq!(texts(text, Symbol::Number), ["1", "2.5"]);
}

#[test]
fn elements_contain_elements_and_end_tags_have_the_names_of_start_tags() {
    let text = r#"<a x="1" y='2'><b/>text<c><c></c></c></a>"#;
    assert_eq!(texts(text, Symbol::Element), [text, "<c><c></c></c>", "<c></c>"]);
    assert_eq!(texts(text, Symbol::Group), ["<b/>", "text", "<c><c></c></c>"]);
    assert_eq!(texts(text, Symbol::Key), ["x", "y"]);
    assert_eq!(texts("<p>one<br>two</p>", Symbol::Element), ["<p>one<br>two</p>"]);
}

#[test]
fn lines_statements_words_and_terms_are_lists() {
    assert_eq!(texts("a = 1\n[b]\n\nc = 2 3\n", Symbol::Line), ["a = 1", "[b]", "c = 2 3"]);
    assert_eq!(texts("(a (b c) 1)", Symbol::Atom), ["a", "(b c)", "b", "c", "1"]);
    assert_eq!(texts("1 + 2*(3-4)", Symbol::Term), ["1", "2", "(3-4)", "3", "4"]);
    assert_eq!(texts("f(x, y[1])", Symbol::Item), ["x", "y[1]"]);
}

#[test]
fn a_sign_after_a_blank_and_an_exponent_belong_to_their_number() {
    assert_eq!(texts("(5 -2e-3, 4 - 1)", Symbol::Atom), ["5", "-2e-3"]);
    assert_eq!(texts("(5 -2e-3, 4 - 1)", Symbol::Number), ["5", "2e-3", "4", "1"]);
    assert_eq!(texts("(4 - 1)", Symbol::Term), ["4", "1"]);
}

#[test]
fn the_slash_of_an_element_without_an_end_tag_is_no_part_of_its_last_attribute() {
    assert_eq!(texts("<a b=\"c\" d='e'/>", Symbol::Atom), ["a", "b=\"c\"", "d='e'"]);
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
        if let Some(tree) = parse(&bytes) {
            prop_assert_eq!(&tree.bytes, &bytes);
            check_sound(&tree);
        }
    }
}

//! Tests of the language: text form, sizes, bytes and generators agree.

use super::*;
use proptest::prelude::*;
use std::process::Command;

fn parse(text: &str) -> Template {
    Template::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn render(text: &str, n: u64) -> String {
    let bytes = parse(text).render(n, 1 << 20).expect("it fits");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn each_part_is_written_as_documented() {
    assert_eq!(render(r#""<" rep(2*N+1){"ab"} ">""#, 2), "<ababababab>");
    assert_eq!(render(r#"nest(N){"[{" | "x" | "}]"}"#, 2), "[{[{x}]}]");
    assert_eq!(render(r#"rep(N){"k" #i:3 "="}"#, 3), "k000=k001=k002=");
    assert_eq!(render(r#"rep(N){#i:2:down " "}"#, 3), "02 01 00 ");
    assert_eq!(render(r#"rep(N){#i:3:letters #i:2:hex " "}"#, 28).split(' ').nth(27), Some("abb1b"));
    assert_eq!(render(r#"rep(N){stair{"`"} "e"}"#, 3), "`e``e```e");
    assert_eq!(render(r#"rep(N){pick("a","b") ","}"#, 3), "a,b,a,");
    assert_eq!(render(r#"nest(N){"<a" #i:1 ">" | "." | "</a" #i:1 ">"}"#, 2), "<a0><a1>.</a1></a0>");
    assert_eq!(render(r#"rep(2){rep(N){#j:1 #i:1 " "}}"#, 2), "00 01 10 11 ");
    assert_eq!(render(r#""{" #N "," #N:4 "," #N:hex "}""#, 26), "{26,0026,1a}");
    let numbers = parse("rep(N){#i:2:be #i:2:le}").render(258, 1 << 20).expect("it fits");
    assert_eq!(numbers[4 * 257..], [1, 1, 1, 1]);
}

#[test]
fn a_shuffle_is_a_permutation_that_depends_on_its_seed() {
    let mut seen = std::collections::HashSet::new();
    for seed in [1, 2, u64::MAX] {
        let text = render(&format!("rep(N){{#i:4:shuffle({seed}) \" \"}}"), 500);
        let mut numbers: Vec<&str> = text.split_whitespace().collect();
        assert!(seen.insert(text.clone()));
        assert!(!numbers.is_sorted());
        numbers.sort_unstable();
        assert!(numbers.iter().enumerate().all(|(place, number)| number.parse() == Ok(place)));
    }
}

#[test]
fn texts_that_are_no_template_are_refused_with_place_and_reason() {
    let reason = |text: &str| Template::parse(text).expect_err(text).to_string();
    for (text, expected) in [
        ("rep(N){\"a\"", "at byte 10 of the template: `}` is expected"),
        ("\"a", "at byte 2 of the template: the closing quote is missing"),
        ("rep(M){}", "at byte 4 of the template: a whole number of at most 64 bits is expected"),
        ("\"\\q\"", "an escape is one of"),
        ("\"\\x+1\"", "two hexadecimal digits"),
        ("nothing", "at byte 0 of the template: a part is expected"),
        ("#i:4", "#i counts no loop around it"),
        ("rep(N){#j:4}", "#j counts no loop around it"),
        ("rep(N){#i:0}", "a counter has 0 digits: give it 1 to 20"),
        ("rep(N){#i:999}", "a counter has 999 digits: give it 1 to 20"),
        ("rep(N){#q:4}", "N is expected, or the letter of a loop"),
        ("#N:be", "a number has no width"),
        ("#N:21", "a number has 21 digits"),
        ("rep(N){#i:4:sideways}", "up, down, shuffle(SEED)"),
        ("stair{\"a\"}", "a stair is in no loop"),
        ("rep(N){stair{\"a\" stair{\"b\"}}}", "a stair is in another one"),
        ("pick(\"a\")", "a pick is in no loop"),
        ("rep(N){pick(\"\",\"\")}", "a pick has nothing to pick from"),
        ("rep(N){pick file(\"keys\")}", "a template that names a file cannot be used here"),
        ("rep(99999999999999999999999){}", "a whole number of at most 64 bits is expected"),
    ] {
        assert!(reason(text).contains(expected), "{text}: {}", reason(text));
    }
    assert!(reason(&"rep(N){".repeat(100_000)).contains("more than 32 parts"));
}

#[test]
fn lines_of_a_file_are_picked_in_turn() {
    let load = |name: &str| if name == "keys" { Ok(b"aa\n\nb\n".to_vec()) } else { Err("no such file".to_owned()) };
    let template = Template::parse_with(r#"rep(N){pick file("keys") ";"}"#, load).expect("a template");
    assert_eq!(template.render(4, 100).as_deref(), Ok(&b"aa;;b;aa;"[..]));
    assert_eq!(template.to_string(), r#"rep(N){pick file("keys") ";"}"#);
    let error = Template::parse_with(r#"rep(N){pick file("none")}"#, load).expect_err("no such file");
    assert!(error.to_string().contains("no such file"));
}

#[test]
fn huge_sizes_are_told_without_making_bytes() {
    let template = parse(r#"rep(N){rep(N){rep(N){rep(N){"a"}}}}"#);
    assert_eq!(template.size(1_000_000), u64::MAX);
    assert_eq!(template.render(1000, 1 << 20), Err(1_000_000_000_000));
    assert_eq!(template.n_for_size(10_000), 10);
    // rounds without bytes take no time
    assert_eq!(parse(r#"rep(N){rep(0*N){#j:4}} "x""#).render(u64::MAX, 10).as_deref(), Ok(&b"x"[..]));
    assert_eq!(parse(r#""abc" rep(N){"ab"}"#).n_for_size(2), 1);
    assert_eq!(parse("rep(N){#i:2 #i:3:letters}").largest_n(), Some(100));
    assert_eq!((parse("#N:2:be").largest_n(), parse("#N").largest_n()), (Some(65_535), None));
}

#[test]
fn literals_are_listed_and_replaced_in_order() {
    let template = parse(r#""<" nest(N){"(" | "x" | ")"} rep(N){#i:4 ","} ">""#);
    assert_eq!(template.literals(), [&b"<"[..], b"(", b"x", b")", b",", b">"]);
    let texts = |number: usize, bytes: &[u8]| template.with_literal(number, bytes).to_string();
    assert_eq!(texts(2, b""), r#""<" nest(N){"(" | | ")"} rep(N){#i:4 ","} ">""#);
    assert_eq!(texts(0, b""), r#"nest(N){"(" | "x" | ")"} rep(N){#i:4 ","} ">""#);
    assert_eq!(texts(4, b"\n"), r#""<" nest(N){"(" | "x" | ")"} rep(N){#i:4 "\n"} ">""#);
    assert_eq!(parse(r#"nest(N){"(" | "x" | }"#).with_literal(0, b"").to_string(), r#""x""#);
    assert_eq!(template.pump(), r#"four digits that count up and ",""#);
    assert_eq!(parse(r#"nest(N){"(" | | ")"}"#).pump(), r#""(" ... ")""#);
    let number = parse(r#""abc" rep(3){"d"} #N:2:be "e""#);
    assert_eq!(number.number_in_words().as_deref(), Some("the number at byte 6 (2 bytes, the highest first)"));
    assert!(number.scales() && number.pump().is_empty());
}

#[test]
fn what_changes_from_round_to_round_is_described_and_long_texts_are_cut_with_their_length() {
    let pump = |text: &str| parse(text).pump();
    let names = pump(r#"rep(N){"name" #i:6:letters ": " #j:1:hex:down}"#.replace("#j", "#i").as_str());
    assert_eq!(names, r#""name", six letters that count up, ": " and one hexadecimal digit that counts down"#);
    assert_eq!(pump("rep(N){#i:2:be:shuffle(7)}"), "two bytes, the highest first, that come in a random order");
    assert_eq!(pump(r#"rep(N){pick("ab","cd","ef")}"#), r#""ab" and the like (3 texts in turn)"#);
    assert_eq!(pump(r#"rep(N){pick("ab","cd") "x"}"#), r#""ab" or "cd" and "x""#);
    let long = pump(&format!("rep(N){{\"{}\"}}", "x".repeat(300)));
    assert!(long.len() < 70 && long.ends_with("(302 characters)"), "{long}");
}

#[test]
fn the_shell_writes_templates_of_literals() {
    let template = parse(r#""-%\\'\n" rep(N){"a'b%\x00c"} nest(N){"-(" | "m" | ")\n"}"#);
    for n in [0, 1, 1000] {
        let command = template.shell(n).expect("a command");
        let output = Command::new("sh").args(["-c", &command]).output().expect("sh runs");
        assert_eq!(output.stdout, template.render(n, 1 << 20).expect("it fits"), "{command}");
    }
    assert_eq!(parse("rep(N){#i:4}").shell(1), None);
}

fn python(command: &str) -> Vec<u8> {
    let output = Command::new("sh").args(["-c", command]).output().expect("sh runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn python_reads_picked_lines_from_their_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it's");
    std::fs::write(&path, b"aa\n\nb").expect("a file");
    let text = format!("rep(N){{pick file({:?}) \";\"}}", path.to_str().expect("UTF-8"));
    let load = |name: &str| std::fs::read(name).map_err(|error| error.to_string());
    let template = Template::parse_with(&text, load).expect("a template");
    assert_eq!(python(&template.python(7)), template.render(7, 100).expect("it fits"));
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof!["[a-c(<'\"\\\\% \n-]{1,4}".prop_map(String::into_bytes), proptest::collection::vec(any::<u8>(), 0..4),]
}

fn times() -> impl Strategy<Value = Times> {
    (0_u64..3, 0_u64..4).prop_map(|(factor, plus)| Times { factor, plus })
}

fn counter() -> impl Strategy<Value = Part> {
    let order = prop_oneof![Just(Order::Up), Just(Order::Down), any::<u64>().prop_map(Order::Shuffle)];
    let digits = proptest::sample::select(number::DIGITS.map(|(digits, _)| digits).to_vec());
    (0_u8..2, 1_u8..=20, digits, order)
        .prop_map(|(level, width, digits, order)| Part::Counter(Counter { level, width, digits, order }))
}

fn field() -> impl Strategy<Value = Part> {
    let digits = proptest::sample::select(number::DIGITS.map(|(digits, _)| digits).to_vec());
    (0_u8..=20, digits).prop_map(|(width, digits)| Part::Number(Field { width, digits }))
}

fn length() -> impl Strategy<Value = Length> {
    let digits = proptest::sample::select(number::DIGITS.map(|(digits, _)| digits).to_vec());
    let form = prop_oneof![
        (0_u8..=20, digits).prop_map(|(width, digits)| LengthForm::Field(Field { width, digits })),
        Just(LengthForm::Der),
        Just(LengthForm::Groups),
    ];
    (form, prop_oneof![Just(0), -9..9_i64, any::<i32>().prop_map(i64::from)])
        .prop_map(|(form, plus)| Length { form, plus })
}

fn part() -> impl Strategy<Value = Part> {
    let pick = proptest::collection::vec(bytes(), 1..4);
    let leaf = prop_oneof![
        3 => bytes().prop_map(Part::Literal),
        1 => counter(),
        1 => field(),
        1 => pick.prop_map(|choices| Part::Pick(Pick { file: None, choices })),
    ];
    leaf.prop_recursive(3, 20, 3, |inner| {
        let parts = || proptest::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            (times(), parts()).prop_map(|(times, body)| Part::Repeat { times, body }),
            (times(), parts(), parts(), parts()).prop_map(|(times, open, middle, close)| Part::Nest {
                times,
                open,
                middle,
                close
            }),
            parts().prop_map(Part::Stair),
            (length(), parts()).prop_map(|(length, body)| Part::Length(length, body)),
        ]
    })
}

/// Valid templates.
fn template() -> impl Strategy<Value = Template> {
    proptest::collection::vec(part(), 0..4).prop_filter_map("valid", |parts| Template::new(parts).ok())
}

proptest! {
    #[test]
    fn a_printed_template_is_read_as_the_same(template in template()) {
        let text = template.to_string();
        prop_assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        prop_assert_eq!(Template::parse(&text), Ok(template));
    }

    #[test]
    fn sizes_are_those_of_the_bytes(template in template(), n in 0_u64..9) {
        if template.size(n) <= 1 << 20 {
            prop_assert_eq!(template.render(n, 1 << 20).map(|bytes| bytes.len() as u64), Ok(template.size(n)));
        }
        if template.size(1) != template.size(2) {
            let n = template.n_for_size(500);
            prop_assert!(n == 1 || template.size(n) <= 500);
            prop_assert!(template.size(n + 1) > 500 || n == 500);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ -~]{0,40}|(rep|nest|len|:der|stair|pick|#i:|\\(|N|\\{|\\||\\}|\"a\"|\\)|[0-9*+]){0,20}") {
        if let Ok(template) = Template::parse(&text) {
            prop_assert_eq!(Template::parse(&template.to_string()), Ok(template));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn python_writes_the_same_bytes(template in template(), n in 0_u64..7) {
        if template.size(n) <= 1 << 16 {
            let command = template.python(n);
            prop_assert!(!command.contains('\n'));
            prop_assert_eq!(python(&command), template.render(n, 1 << 16).expect("it fits"), "{}", command);
        }
    }
}

#[test]
fn lengths_are_those_of_what_is_behind_them() {
    let bytes = |text: &str, n: u64| Template::parse(text).expect("a template").render(n, 1 << 20).expect("it fits");
    assert_eq!(bytes("len:2:be{rep(N){\"ab\"}}", 3), b"\x00\x06ababab");
    assert_eq!(bytes("len-2:1:le{rep(N){\"ab\"}} \"x\"", 3), b"\x04abababx");
    assert_eq!(bytes("len{rep(N){\"ab\"}}", 6), b"12abababababab");
    let nested = "\"0\" len:der{\"0\" len:der{rep(N){\"\\x02\\x01\\x05\"}}}";
    assert_eq!(bytes(nested, 2), b"0\x080\x06\x02\x01\x05\x02\x01\x05");
    let long = bytes(nested, 100);
    assert_eq!(&long[..8], b"0\x82\x01\x300\x82\x01\x2c");
    assert_eq!(&bytes("len:leb{rep(N){\"x\"}}", 300)[..2], [0xac, 0x02]);
    let largest = |text: &str| Template::parse(text).expect("a template").largest_n();
    assert_eq!(largest("len+4:1:be{rep(N){\"ab\"}}"), Some(125));
    assert_eq!(largest(nested), None);
    assert_eq!(largest("len:1:be{\"ab\"} rep(N){\"x\"}"), None);
    assert_eq!(largest("len-8:1:be{rep(N){\"a\"}}"), Some(263));
    assert!(Template::parse("rep(N){len:1:be{\"a\"}}").is_err());
}

#[test]
fn long_lists_end_and_short_ones_go_on() {
    let list = |texts: usize| (0..texts).map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(",");
    let end = |text: &str| Template::parse(text).expect("a template").list_end();
    assert_eq!(end(&format!("rep(N){{pick({})}}", list(71))), Some(71));
    assert_eq!(end(&format!("rep(2*N+1){{\"x\" pick({})}}", list(71))), Some(35));
    assert_eq!(end(&format!("rep(N){{rep(3){{\"y\"}} pick({})}}", list(3))), None);
    assert_eq!(end("rep(N){#i:4}"), None);
}

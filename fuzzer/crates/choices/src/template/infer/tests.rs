//! Tests of inference: made inputs give back their pumps.

use super::*;
use proptest::prelude::*;

fn of(input: &[u8]) -> Vec<Candidate> {
    candidates(&Evidence { input, ..Evidence::default() }, 48)
}

fn texts(input: &[u8]) -> Vec<String> {
    of(input).iter().map(|candidate| candidate.template.to_string()).collect()
}

/// The rank of the candidate with this text.
fn rank(input: &[u8], text: &str) -> usize {
    let all = texts(input);
    let shown: String = all.iter().map(|text| format!("{text:.150}\n")).collect();
    let rank = all.iter().position(|one| one == text).unwrap_or_else(|| panic!("no {text} in\n{shown}"));
    println!("{rank} of\n{shown}");
    rank
}

fn made(text: &str, n: u64) -> Vec<u8> {
    Template::parse(text).expect("a template").render(n, 1 << 24).expect("it fits")
}

#[test]
fn a_run_between_other_text_is_the_first_candidate() {
    let text = r#""int x;" rep(N){" "} "//\n""#;
    assert_eq!(rank(&made(text, 900), text), 0);
    let first = &of(&made(text, 900))[0];
    assert!(first.is_exact && first.n == 900 && first.origin == Origin::Tandem, "{first:?}");
}

#[test]
fn templates_of_made_inputs_are_among_the_first() {
    for (text, n, before) in [
        (r#""begin\n" rep(N){"line of text\n"} "end\n""#, 40, 2),
        (r#""[" rep(N){"<key id=" #i:6 "/>\n"} "]""#, 300, 4),
        (r#""[" rep(N){"<key id=" #i:6:down "/>\n"} "]""#, 300, 4),
        (r#""[" rep(N){"<key id=" #i:6:shuffle(1) "/>\n"} "]""#, 300, 4),
        (r#""x" nest(N){"([" | "7" | "])"} ";""#, 50, 2),
        (r#"nest(N){"<a b=\"c\">" | "text" | "</a>"}"#, 30, 2),
        (r#""begin " rep(N){stair{"`"} "e"} "end""#, 30, 4),
        (r#""x" rep(N){"ab"} "y" rep(3*N+1){"(-"} "z""#, 20, 6),
    ] {
        assert!(rank(&made(text, n), text) < before, "{text}");
    }
}

#[test]
fn units_are_found_in_inputs_as_they_are() {
    let columns = b"<a q='Xy'>\n<a q='pP'>\n<a q='(!'>\n<a q='__'>\n<a q='zA'>\n";
    let names = br#"<lib nklq="457" jfrwy="457" nzfhq="457" omhst="457" mfm="457" zejsk="457" kefkhi="457">"#;
    let keys: Vec<u8> = (0..200).flat_map(|number| format!("key{number},").into_bytes()).collect();
    let falling: Vec<u8> = (0..200).rev().collect();
    let rising: Vec<u8> = (0..300_u32).flat_map(|number| (7 * number).to_le_bytes()).collect();
    let words = b"zulu yankee xray whiskey victor uniform tango sierra romeo quebec";
    for (input, text, before) in [
        (&b"x = [foo, foo, foo, foo, foo, 1]"[..], r#""x = [" rep(N){"foo, "} "1]""#, 1),
        (columns, r#"rep(N){"<a q='" pick("Xy","pP","(!","__","zA") "'>\n"}"#, 6),
        // what is never closed may be closed
        (&b"[{".repeat(40), r#"nest(N){"[{" | | "}]"}"#, 4),
        (&b"<p>".repeat(40), r#"nest(N){"<p>" | | "</p>"}"#, 4),
        (names, r##""<lib " rep(N){#i:6:letters:shuffle(1) "=\"457\" "} "kefkhi=\"457\">""##, 12),
        (b"alpha foo beta foo foo gamma foo delta foo epsilon foo", r#""alpha " rep(N){"foo "}"#, 48),
        (&keys, r#"rep(N){"key" #i:6 ","}"#, 48),
        (words, r##"rep(N){#i:6:letters:down " "}"##, 48),
        (&falling, "rep(N){#i:4:be:down}", 48),
        (&rising, "rep(N){#i:4:le}", 48),
        (b"{}", r#"rep(N){"{}"}"#, 48),
        (b"{}", r#"rep(N){"{}\n"}"#, 48),
    ] {
        assert!(rank(input, text) < before, "{text}");
    }
    assert!(texts(words).iter().any(|text| text.starts_with(r#"rep(N){pick("zulu","yankee","#)));
    assert!(of(b"").is_empty());
}

#[test]
fn parts_in_parts_of_the_same_kind_nest_though_their_texts_differ() {
    let mut input = b"1".to_vec();
    for place in 0..20 {
        let extra = if place % 4 == 3 { &b", 22"[..] } else { b"" };
        input = [b"[", &input[..], extra, b"]"].concat();
    }
    let shown = texts(&input).join("\n");
    assert!(shown.contains("nest(N){\"[\" | "), "{shown}");
}

#[test]
fn what_the_parent_has_not_repeats() {
    let evidence = Evidence { input: b"<r><i>abc</i></r>", parent: Some(b"<r></r>"), ..Evidence::default() };
    let all = candidates(&evidence, 48);
    let text = r#""<r><" rep(N){"i>abc</i><"} "/r>""#;
    assert!(all.iter().any(|candidate| candidate.template.to_string() == text && candidate.is_exact), "{all:#?}");
}

#[test]
fn what_a_mask_says_to_matter_repeats() {
    let matters = [4..7, 100..200];
    let evidence = Evidence { input: b"xxxxfoozzzz", matters: &matters, ..Evidence::default() };
    let all = candidates(&evidence, 48);
    assert!(all.iter().any(|one| one.template.to_string() == r#""xxxx" rep(N){"foo"} "zzzz""#), "{all:#?}");
}

/// Inputs of a megabyte of each kind that one of the ways could take long for.
#[test]
fn lists_are_bounded_and_repeatable_for_large_inputs() {
    let size = 1 << 20;
    let random: Vec<u8> = (0..size as u64)
        .scan(1_u64, |state, _| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some((*state >> 56) as u8)
        })
        .collect();
    let words: Vec<u8> = random.iter().map(|byte| b"ab \n"[usize::from(byte % 4)]).collect();
    let nested = [b"[".repeat(size / 2), b"]".repeat(size / 2)].concat();
    for input in [random, words, nested, vec![b'a'; size], b"<a>".repeat(size / 3)] {
        let all = of(&input);
        assert!(!all.is_empty() && all.len() <= 48);
        assert_eq!(all, of(&input));
        assert!(all.iter().all(|one| one.n >= 1 && one.template.size(one.n) < 64 * size as u64));
    }
}

proptest! {
    #[test]
    fn the_pump_of_a_made_input_is_found(
        prefix in "[a-z{ ]{0,12}", unit in "[A-Z(<,; ]{1,9}", suffix in "[a-z} ]{0,12}", times in 20_u64..60,
    ) {
        let input = format!("{prefix}{}{suffix}", unit.repeat(times as usize)).into_bytes();
        let whole = (times - 3) as usize * unit.len();
        // the unit may begin at another place, and be a repetition itself
        let is_found = of(&input).iter().any(|one| {
            one.is_exact && one.n >= times - 3 && one.template.size(2 * one.n) >= (input.len() + whole) as u64
        });
        prop_assert!(is_found, "{:#?}", texts(&input));
    }

    #[test]
    fn candidates_of_any_bytes_are_valid_and_scale(
        input in proptest::collection::vec(proptest::sample::select(b"ab01<>/()[]{}\n, \"'\xff\x00".to_vec()), 0..200),
    ) {
        for one in of(&input) {
            prop_assert!(one.template.scales() && one.n >= 1);
            prop_assert_eq!(Template::parse(&one.template.to_string()), Ok(one.template.clone()));
            if one.is_exact {
                prop_assert_eq!(one.template.render(one.n, 1 << 20), Ok(input.clone()));
            }
        }
    }
}

//! Tests of units: made inputs are divided into what they were made of, and fewer units make inputs of the same form.

use super::*;
use proptest::prelude::*;

fn of_kind<'a>(all: &'a [Units<'a>], kind: Kind) -> &'a Units<'a> {
    all.iter().find(|one| one.kind == kind).unwrap_or_else(|| panic!("no {kind}"))
}

/// Whether some way to divide the input makes this of half of it.
#[track_caller]
fn has_half(input: &[u8], half: &[u8]) {
    let all = units(input);
    let halves: Vec<Vec<u8>> = all.iter().map(|one| one.take(one.count() / 2, Taken::First)).collect();
    assert!(
        halves.iter().any(|one| one == half),
        "{:?} of {}",
        all.iter().map(|one| one.kind).collect::<Vec<_>>(),
        input[..20].escape_ascii()
    );
}

#[test]
fn items_of_a_list_stay_between_what_opens_and_what_closes() {
    let input: Vec<String> = (0..40).map(|number| format!("{{\"k{number}\": [1]}}")).collect();
    let text = format!("{{\"a\": [{}], \"b\": 2}}", input.join(", "));
    let half = format!("{{\"a\": [{}], \"b\": 2}}", input[..20].join(", "));
    has_half(text.as_bytes(), half.as_bytes());
}

#[test]
fn levels_lose_what_opens_and_what_closes_them() {
    let text = format!("x{}7{}", "[".repeat(40), "]".repeat(40));
    let all = units(text.as_bytes());
    let levels = of_kind(&all, Kind::Levels);
    let half = levels.take(levels.count() / 2, Taken::Spread);
    let opened = half.iter().filter(|byte| **byte == b'[').count();
    assert!((18..=22).contains(&opened) && half.ends_with(b"]"), "{}", half.escape_ascii());
    assert_eq!(half.iter().filter(|byte| **byte == b']').count(), opened);
}

#[test]
fn lengths_of_what_follows_stay_right() {
    let body: Vec<u8> = (0..400).flat_map(|number| format!("rec{number:05}").into_bytes()).collect();
    let of = |head: &dyn Fn(usize) -> Vec<u8>, records: usize| [head(records), body[..8 * records].to_vec()].concat();
    let forms: [&dyn Fn(usize) -> Vec<u8>; 6] = [
        &|n| [b"RIFF".to_vec(), (8 * n as u32).to_le_bytes().to_vec()].concat(),
        &|n| [b"WHOLE".to_vec(), (9 + 8 * n as u32).to_be_bytes().to_vec()].concat(),
        &|n| [b"M.".to_vec(), (n as u16).to_be_bytes().to_vec(), b"....".to_vec()].concat(),
        &|n| [vec![0x30, 0x82], (8 * n as u16).to_be_bytes().to_vec()].concat(),
        &|n| vec![7, ((8 * n) as u8 & 0x7f) | 0x80, ((8 * n) >> 7) as u8],
        &|n| format!("length: {}\n", 8 * n).into_bytes(),
    ];
    for head in forms {
        has_half(&of(head, 400), &of(head, 200));
    }
}

#[test]
fn a_count_may_be_the_first_line() {
    let made = |lines: usize| (0..lines).fold(format!("{lines}\n"), |text, line| text + &format!("line {line}x\n"));
    has_half(made(350).as_bytes(), made(175).as_bytes());
}

#[test]
fn lengths_in_each_other_stay_right_together() {
    let made = |records: usize| {
        let body = b"abcdefgh".repeat(records);
        let inner = [b"LIST".to_vec(), (body.len() as u32).to_le_bytes().to_vec(), body].concat();
        [b"RIFF".to_vec(), (inner.len() as u32).to_le_bytes().to_vec(), inner].concat()
    };
    has_half(&made(100), &made(50));
}

/// Whether some way to divide the input finds so many records.
fn has_records(input: &[u8], count: usize) -> bool {
    units(input).iter().any(|one| one.kind == Kind::Records && one.count() == count)
}

#[test]
fn records_behind_their_own_lengths_are_found() {
    let record = |number: u8| [vec![4, number % 6], vec![number; usize::from(number % 6)]].concat();
    let input: Vec<u8> = [b"head".to_vec(), (1..100).flat_map(record).collect()].concat();
    assert!(has_records(&input, 99));
    let padded = |number: u8| {
        let length = number % 6;
        let body = vec![number; usize::from(length + length % 2)];
        [b"name".to_vec(), vec![length, 0, 0, 0], body].concat()
    };
    let input: Vec<u8> = [b"RIFF\x00\x10\x00\x00".to_vec(), (1..100).flat_map(padded).collect()].concat();
    assert!(has_records(&input, 99));
}

proptest! {
    #[test]
    fn all_units_make_the_input_and_fewer_make_less(
        input in proptest::collection::vec(proptest::sample::select(b"ab01<>/()[]{}\n, \"'\xff\x00\x10".to_vec()), 0..300),
    ) {
        for one in units(&input) {
            for taken in [Taken::Spread, Taken::First, Taken::Last] {
                prop_assert_eq!(one.take(one.count(), taken).escape_ascii().to_string(), input.escape_ascii().to_string());
                prop_assert!(one.take(one.count() / 2, taken).len() < input.len());
            }
        }
    }
}

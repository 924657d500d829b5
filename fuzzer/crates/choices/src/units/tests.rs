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
    assert!(halves.iter().any(|one| one == half), "{} ways to divide {}", all.len(), input[..20].escape_ascii());
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
fn half_of_the_units_is_an_input_of_the_same_form() {
    let list = |items: usize| {
        let items: Vec<String> = (0..items).map(|number| format!("{{\"k{number}\": [1]}}")).collect();
        format!("{{\"a\": [{}], \"b\": 2}}", items.join(", ")).into_bytes()
    };
    has_half(&list(40), &list(20));
    // a count may be the first line
    let lines = |lines: usize| (0..lines).fold(format!("{lines}\n"), |text, line| text + &format!("line {line}x\n"));
    has_half(lines(350).as_bytes(), lines(175).as_bytes());
    // lengths in each other stay right together
    let chunk = |name: &str, body: Vec<u8>| [name.as_bytes(), &(body.len() as u32).to_le_bytes(), &body].concat();
    let chunks = |records: usize| chunk("RIFF", chunk("LIST", b"abcdefgh".repeat(records)));
    has_half(&chunks(100), &chunks(50));
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
fn fields_of_many_forms_stay_right() {
    use libafl_bolts::rands::{Rand, StdRand};
    let mut rand = StdRand::with_seed(5);
    let body: Vec<u8> = (0..2_000).map(|_| rand.next() as u8).collect();
    let text: Vec<u8> = (0..200).flat_map(|word| format!("word{word:05} ").into_bytes()).collect();
    let crc = |bytes: Vec<u8>| [&*bytes, &checks::of_crc32(&bytes).to_le_bytes()].concat();
    let of = |bytes: usize| body[..bytes].to_vec();
    type Make<'a> = &'a dyn Fn(usize) -> Vec<u8>;
    let made: [(Make<'_>, usize); 8] = [
        // a length that counts itself, one in words, and one that leaves something out
        (&|n| [b"3".to_vec(), (3 + 8 * n as u32).to_be_bytes()[1..].to_vec(), of(8 * n)].concat(), 200),
        (&|n| [b"W\x02".to_vec(), (2 * n as u16).to_be_bytes().to_vec(), of(8 * n)].concat(), 200),
        (&|n| [b"-\0\x01\x02".to_vec(), (8 * n as u32 - 20).to_le_bytes().to_vec(), of(8 * n)].concat(), 200),
        // texts
        (&|n| [format!("{}:", 10 * n).into_bytes(), text[..10 * n].to_vec(), b",".to_vec()].concat(), 200),
        (
            &|n| {
                [format!("{:x}\r\n", 10 * n).into_bytes(), text[..10 * n].to_vec(), b"\r\n0\r\n\r\n".to_vec()].concat()
            },
            200,
        ),
        // a place behind the units, a number of units and a place behind them, and a sum of all
        (
            &|n| {
                [b"OFF.".to_vec(), (8 + 8 * n as u32).to_le_bytes().to_vec(), of(8 * n), b"the table".to_vec()].concat()
            },
            200,
        ),
        (
            &|n| {
                let count = (n as u16).to_le_bytes();
                [
                    b"F\0\0\x01".to_vec(),
                    of(9 * n),
                    b"end".to_vec(),
                    count.to_vec(),
                    (4 + 9 * n as u32).to_le_bytes().to_vec(),
                ]
                .concat()
            },
            200,
        ),
        (&|n| crc([b"K\0\x01\0abcd".to_vec(), of(8 * n)].concat()), 201),
    ];
    for (of, units) in made {
        has_half(&of(units), &of(units / 2));
    }
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

//! Tests of the text that the display writes.

use super::*;
use crate::{
    summary::{Diversity, Target, TowardsPlace, Unseen, Validity},
    testing,
};

fn summary() -> Summary {
    let example = testing::example();
    Summary {
        seconds: 90.0,
        executions_per_second: 9_021.3,
        entries: 1_151,
        size_limit: 8_232,
        degradations: 3,
        large: 12,
        unconfirmed: vec![example.unconfirmed[0].clone(); 2],
        unseen: Unseen::default(),
        advice: None,
        validity: Validity::default(),
        diversity: None,
        towards: Vec::new(),
        live: Live {
            target: "./trim".into(),
            phase: "searching",
            limit: Duration::from_secs(1800),
            active: 120,
            worst_ratio: 41.38,
            worst_ratio_by_size: Some(29.5),
            worst_time_ratio: Some(38.2),
            spent_in: vec!["trim trim.cpp:12".into()],
            last_new: Some(Duration::from_secs(78)),
            last_found: Some(LastFound {
                path: "degradations/id_000012,src_000003,cost_41.4,op_T.10+T.8".into(),
                ratio: Some(29.5),
                ago: Duration::from_secs(190),
            }),
            ..Live::default()
        },
        ..example
    }
}

/// State of a campaign of which nothing is known yet.
fn empty() -> Summary {
    Summary {
        seed: 0,
        seconds: 0.0,
        executions: 0,
        executions_per_second: 0.0,
        entries: 0,
        size_limit: 0,
        edges_found: 0,
        degradations: 0,
        large: 0,
        hangs: 0,
        unconfirmed: Vec::new(),
        target: Target { edges: None, ..summary().target },
        live: Live::default(),
        ..summary()
    }
}

fn client(number: u64) -> Client {
    Client {
        name: format!("client-{number}"),
        executions: 1_234_567 / (number + 1),
        executions_per_second: 5_120.4,
        edges_found: 512 - number,
        entries: 1_151 - number,
    }
}

/// State of a campaign with this many clients.
fn with_clients(clients: u64) -> Summary {
    Summary { clients: (0..clients).map(client).collect(), foreign: 12, ..summary() }
}

/// Text that `act` writes to a display of this style and width.
fn shown(style: Style, columns: usize, act: impl FnOnce(&mut Screen<&mut Vec<u8>>)) -> String {
    let mut out = Vec::new();
    act(&mut Screen::new(&mut out, style, move || Some(Size { columns, rows: 24 })));
    String::from_utf8(out).unwrap()
}

const TERMINAL: Style = Style { terminal: true, color: false, quiet: false };
const PLAIN_VIEW: View = View { keys: false, clients: false, help: false };
const LINES: Style = Style { terminal: false, color: false, quiet: false };

#[test]
fn the_block() {
    insta::assert_snapshot!("block", shown(TERMINAL, 80, |screen| screen.show(&summary(), PLAIN_VIEW)));
}

#[test]
fn places_that_the_search_works_towards_have_a_row() {
    let place = |hits| TowardsPlace { hits, ..TowardsPlace::default() };
    let summary = Summary { towards: [5_000, 0, 7].map(place).to_vec(), ..summary() };
    let text = shown(TERMINAL, 80, |screen| screen.show(&summary, PLAIN_VIEW));
    assert!(text.contains("\n  towards     2 of 3 places hit, the rarest by 0 runs\n"), "{text}");
}

#[test]
fn the_block_in_colour() {
    let text = shown(Style { color: true, ..TERMINAL }, 80, |screen| screen.show(&summary(), PLAIN_VIEW));
    insta::assert_snapshot!("block_in_colour", text.replace('\x1b', "ESC"));
}

#[test]
fn the_block_before_anything_is_known() {
    insta::assert_snapshot!("block_empty", shown(TERMINAL, 80, |screen| screen.show(&empty(), PLAIN_VIEW)));
}

#[test]
fn no_terminal_wraps_a_line() {
    let sgr = regex::Regex::new("\x1b\\[[0-9]*m").unwrap();
    let all = View { keys: true, clients: true, help: true };
    for (columns, color) in [(1, true), (2, false), (20, true), (20, false), (33, true), (34, true), (40, false)] {
        let text = shown(Style { color, ..TERMINAL }, columns, |screen| screen.show(&with_clients(2), all));
        for line in text.lines() {
            let plain = sgr.replace_all(line, "");
            assert!(plain.chars().count() <= columns, "{columns}: {plain}");
        }
    }
    insta::assert_snapshot!("block_narrow", shown(TERMINAL, 31, |screen| screen.show(&summary(), PLAIN_VIEW)));
}

#[test]
fn a_row_goes_on_in_the_next_line() {
    let view = View { keys: true, ..View::default() };
    insta::assert_snapshot!("block_40", shown(TERMINAL, 40, |screen| screen.show(&with_clients(2), view)));
    // and what does not fit into the terminal then goes on in none
    let view = View { clients: true, ..view };
    insta::assert_snapshot!("block_40_clients", shown(TERMINAL, 40, |screen| screen.show(&with_clients(6), view)));
}

#[test]
fn keys_show_the_clients_and_themselves() {
    let shown = |view| shown(TERMINAL, 80, |screen| screen.show(&with_clients(2), view));
    insta::assert_snapshot!("block_clients", shown(View { keys: true, clients: true, help: false }));
    insta::assert_snapshot!("block_help", shown(View { keys: true, clients: false, help: true }));
    for bits in 0..8 {
        assert_eq!(View::from_bits(bits).to_bits(), bits);
    }
}

#[test]
fn the_block_is_never_higher_than_the_terminal() {
    let all = View { keys: true, clients: true, help: true };
    for rows in 1..40 {
        let mut out = Vec::new();
        let size = Some(Size { columns: 80, rows });
        Screen::new(&mut out, TERMINAL, move || size).show(&with_clients(64), all);
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().count() < rows.max(2), "{rows}: {text}");
        if rows == 25 {
            assert!(text.contains("\n  and 55 more\n  c "), "{text}");
        }
    }
}

#[test]
fn a_window_that_became_narrower_is_cleared_as_a_whole() {
    let columns = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(80));
    let asked = columns.clone();
    let mut out = Vec::new();
    let size = move || Some(Size { columns: asked.load(std::sync::atomic::Ordering::Relaxed), rows: 24 });
    let mut screen = Screen::new(&mut out, TERMINAL, size);
    screen.show_now(&summary(), PLAIN_VIEW);
    columns.store(40, std::sync::atomic::Ordering::Relaxed);
    screen.show_now(&summary(), PLAIN_VIEW);
    let text = String::from_utf8(out).unwrap();
    let rows: usize = text.lines().take(10).map(|line| line.chars().count().div_ceil(40)).sum();
    assert!(rows > 10 && text.contains(&format!("\x1b[{rows}A\r")), "{rows}: {text}");
}

#[test]
fn a_redraw_takes_the_place_of_the_block_before_and_notes_stay() {
    let text = shown(TERMINAL, 80, |screen| {
        screen.show_now(&summary(), PLAIN_VIEW);
        screen.show(&summary(), PLAIN_VIEW); // too soon
        screen.note("a seed crashes: set aside");
        screen.show(&Summary { executions: 900_000, ..summary() }, PLAIN_VIEW);
        screen.finish("the end\n");
    });
    assert_eq!(text.matches("\x1b[10A\r\x1b[J").count(), 1);
    assert_eq!(text.matches("quagmire  ./trim").count(), 2);
    let note = text.find("a seed crashes").unwrap();
    assert!(text.find("\x1b[10A").unwrap() < note && note < text.find("900,000").unwrap());
    assert!(text.ends_with("op_T.10+T.8\n\nthe end\n"), "{text}");
}

#[test]
fn what_is_not_a_terminal_gets_plain_lines() {
    let text = shown(LINES, 10, |screen| {
        screen.show(&summary(), PLAIN_VIEW);
        screen.show(&summary(), PLAIN_VIEW);
    });
    assert!(!text.contains('\x1b') && text.lines().count() == 2);
    insta::assert_snapshot!("line", text);
}

#[test]
fn lines_are_coloured_where_that_was_asked_for() {
    let text = shown(Style { color: true, ..LINES }, 10, |screen| screen.show(&summary(), PLAIN_VIEW));
    insta::assert_snapshot!("line_in_colour", text.replace('\x1b', "ESC"));
    let plain = regex::Regex::new("\x1b\\[[0-9]*m").unwrap().replace_all(&text, "").into_owned();
    assert_eq!(plain, shown(LINES, 10, |screen| screen.show(&summary(), PLAIN_VIEW)));
}

#[test]
fn quiet_says_nothing_but_the_end() {
    for style in [TERMINAL, LINES] {
        let text = shown(Style { quiet: true, ..style }, 80, |screen| {
            screen.show(&summary(), PLAIN_VIEW);
            screen.show_now(&summary(), PLAIN_VIEW);
            screen.note("a note");
            screen.finish("the end\n");
        });
        assert_eq!(text, "the end\n");
    }
}

#[test]
fn a_closed_pipe_does_not_panic() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
    let mut screen = Screen::new(Closed, LINES, || None);
    screen.show(&summary(), PLAIN_VIEW);
    screen.finish("the end\n");
}

#[test]
fn the_name_of_a_target_cannot_steer_the_terminal() {
    let live = Live { target: "\x1b[2Jx\ny".into(), ..summary().live };
    let text = shown(TERMINAL, 80, |screen| screen.show(&Summary { live, ..summary() }, PLAIN_VIEW));
    assert!(text.starts_with("quagmire  ?[2Jx?y"), "{text}");
}

#[test]
fn a_campaign_that_counts_traces_has_a_row_for_them() {
    let diversity = Diversity { unique_valid_traces: 21_034, b1: 311.52, b2: 240.0, ..Diversity::default() };
    let validity = Validity { valid: 612_000, invalid: 200_331, valid_edges: 498 };
    let summary = Summary { validity, diversity: Some(diversity), ..summary() };
    let lines = block(&summary, PLAIN_VIEW, Size { columns: 80, rows: 24 });
    let row = lines.iter().map(|line| written(line, false)).find(|line| line.contains("diversity"));
    let shown = "  diversity   75.3 % valid, 21,034 unique valid traces, B(1) 311.5, B(2) 240.0";
    assert_eq!(row.as_deref(), Some(shown));
}

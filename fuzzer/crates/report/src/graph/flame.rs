//! Flame graphs of two runs: widths are the costs of the second, colours what changed against the first.
//!
//! Drawn as icicles, the root on top. Below it there are functions, and below those their lines: counts know no call
//! stacks. No script is needed: what a frame does not say is in its tooltip.

use maud::{Markup, html};

use super::{
    chart::{Chart, WIDTH},
    px,
};
use crate::words;
use quagmire_base::{
    format::{counted, grouped, ratio, short},
    visible::shown,
};
use quagmire_results::cost_tree::CostTree;

const ROW: f64 = 21.0;
const TOP: f64 = 30.0;
const NOTE: f64 = 40.0;
const EDGE: f64 = 8.0;

/// Narrowest frame that is drawn, in pixels.
const NARROWEST: f64 = 1.0;

/// Width of a letter in pixels, about.
const LETTER: f64 = 6.6;

/// Draws a flame graph; `None` if the second run has no cost. `names` are those of the two runs, such as `the seed` and
/// `this input`, and `unit` is what costs are counted in.
pub fn flame(title: &str, tree: &CostTree, names: [&str; 2], unit: &str) -> Option<Chart> {
    if tree.after == 0 {
        return None;
    }
    let changes = changes(tree).max(1);
    let drawing = Drawing { whole: tree.after, changes, names, unit };
    let gone = tree.parts.iter().filter(|part| part.after == 0 && part.before > 0).count();
    let content = html! {
        text class="qtitle" x="8" y="20" { (shown(title)) }
        (drawing.frames(tree, EDGE, 0))
        text class="qdim" x="8" y=(px(TOP + 3.0 * ROW + 16.0)) {
            "width: " (unit) " of " (names[1]) "; red: more than " (names[0]) ", blue: fewer, by the part of all change"
        }
        @if gone > 0 {
            text class="qdim" x="8" y=(px(TOP + 3.0 * ROW + 32.0)) { (counted(gone as u64, "function")) " of " (names[0]) " not executed any more" }
        }
    };
    Some(Chart { content, height: TOP + 3.0 * ROW + NOTE })
}

/// Sum of all changes, of lines where they are known.
fn changes(tree: &CostTree) -> u64 {
    match tree.parts.as_slice() {
        [] => tree.after.abs_diff(tree.before),
        parts => parts.iter().map(changes).fold(0, u64::saturating_add),
    }
}

/// Scale and colours that all frames share.
struct Drawing<'a> {
    /// Cost of the second run.
    whole: u64,
    /// Sum of all changes.
    changes: u64,
    names: [&'a str; 2],
    unit: &'a str,
}

impl Drawing<'_> {
    /// Frame of a part at a place in a row, and those of its parts below it, side by side.
    fn frames(&self, part: &CostTree, left: f64, row: u32) -> Markup {
        let mut next = left;
        let parts = part.parts.iter().map(|below| {
            let at = next.min(WIDTH - EDGE);
            next += self.width(below);
            (below, at)
        });
        let wide: Vec<(&CostTree, f64)> = parts.filter(|(below, _)| self.width(below) >= NARROWEST).collect();
        html! {
            (self.frame(part, left, row))
            @for (below, at) in wide { (self.frames(below, at, row + 1)) }
        }
    }

    fn width(&self, part: &CostTree) -> f64 {
        (WIDTH - 2.0 * EDGE) * self.share(part.after).min(1.0)
    }

    fn share(&self, amount: u64) -> f64 {
        amount as f64 / self.whole as f64
    }

    fn frame(&self, part: &CostTree, left: f64, row: u32) -> Markup {
        // sums that are cut off at the largest number have parts that are wider than they are
        let (top, width) = (TOP + f64::from(row) * ROW, self.width(part).min(WIDTH - EDGE - left).max(0.0));
        let letters = ((width - 6.0) / LETTER).max(0.0) as usize;
        html! {
            g {
                title { (self.tooltip(part)) }
                rect class={ "qframe " (self.color(part)) } x=(px(left)) y=(px(top)) width=(px(width)) height=(px(ROW - 1.0)) {}
                @if letters >= 3 { text class="qname" x=(px(left + 4.0)) y=(px(top + 14.5)) { (fitting(&part.name, letters)) } }
            }
        }
    }

    fn tooltip(&self, part: &CostTree) -> String {
        let [first, second] = self.names;
        let change = match part.before {
            0 => "not executed".to_owned(),
            before => format!("{}, {} as many", grouped(before), ratio(part.after as f64 / before as f64)),
        };
        let share = words::percent(self.share(part.after));
        format!("{}\n{second}: {} {} ({share})\n{first}: {change}", shown(&part.name), grouped(part.after), self.unit)
    }

    /// Class of the colour: by the part of all changes that is here.
    fn color(&self, part: &CostTree) -> &'static str {
        const MORE: [&str; 4] = ["qmore4", "qmore3", "qmore2", "qmore1"];
        const FEWER: [&str; 4] = ["qfewer4", "qfewer3", "qfewer2", "qfewer1"];
        let share = part.after.abs_diff(part.before) as f64 / self.changes as f64;
        let level = [0.5, 0.2, 0.05, 0.01].iter().position(|least| share >= *least);
        let classes = if part.after > part.before { MORE } else { FEWER };
        level.map_or("qequal", |level| classes[level])
    }
}

/// A name in at most so many letters: a file without its folders, a function shortened.
fn fitting(name: &str, letters: usize) -> String {
    let name = shown(name);
    let is_place = name.rsplit_once(':').is_some_and(|(_, line)| line.bytes().all(|byte| byte.is_ascii_digit()));
    let brief =
        if is_place { name.rsplit('/').next().unwrap_or(&name).to_owned() } else { short(&words::brief(&name)) };
    match brief.chars().count() > letters {
        true => brief.chars().take(letters.saturating_sub(1)).chain(['…']).collect(),
        false => brief,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(name: &str, before: u64, after: u64, parts: Vec<CostTree>) -> CostTree {
        CostTree { name: name.into(), before, after, parts }
    }

    fn svg(tree: &CostTree) -> String {
        let chart = flame("t", tree, ["old", "new"], "instructions").unwrap();
        super::super::inline(WIDTH, chart.height, "t", &chart.content).into_string().replace("><", ">\n<")
    }

    #[test]
    fn frames_are_as_wide_as_their_costs_and_coloured_by_what_changed() {
        let lines = vec![tree("/src/a.c:12", 100, 700, vec![]), tree("/src/a.c:13", 100, 90, vec![])];
        let gone = tree("gone()", 50, 0, vec![]);
        let all = vec![tree("ns::f(int, <x>)", 200, 790, lines), tree("g", 200, 200, vec![]), gone];
        insta::assert_snapshot!(svg(&tree("all", 450, 1_000, all)));
    }

    #[test]
    fn a_run_without_cost_has_no_picture() {
        assert!(flame("t", &tree("all", 5, 0, vec![]), ["a", "b"], "edges").is_none());
    }

    #[test]
    fn names_are_cut_to_their_frames() {
        assert_eq!(fitting("/usr/include/c++/12/bits/regex.h:512", 30), "regex.h:512");
        assert_eq!(fitting("parse_attribute_value", 8), "parse_a…");
    }

    proptest! {
        #[test]
        fn frames_stay_inside_of_the_frame_above(amounts: Vec<(u64, u64)>) {
            let parts: Vec<CostTree> = amounts.iter().map(|&(before, after)| tree("f", before / 2, after / 2, vec![])).collect();
            let sum = |amount: fn(&CostTree) -> u64| parts.iter().map(amount).fold(1, u64::saturating_add);
            let svg = svg(&tree("all", sum(|part| part.before), sum(|part| part.after), parts.clone()));
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
            for frame in svg.split("<rect class=\"qframe").skip(1) {
                let value = |name: &str| -> f64 { frame.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap() };
                prop_assert!(value("x") + value("width") <= WIDTH - EDGE + 0.2, "{}", frame);
            }
        }
    }
}

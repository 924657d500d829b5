//! Rows of a difference, as elements of a page.

use maud::{Markup, html};

use super::{
    hex::HexRow,
    text::{Mark, Row},
};
use crate::markup::pieces;

fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Same => "same",
        Mark::Removed => "removed",
        Mark::Added => "added",
    }
}

/// Renders the rows of a text difference.
pub(crate) fn text_rows(rows: &[Row]) -> Markup {
    html! {
        div class="bytes lines" {
            @for row in rows {
                @match row {
                    Row::Skipped(text) => div class="skipped" { (text) },
                    Row::Line { number, parts } => div class=(if parts.iter().any(|part| part.0 != Mark::Same) { "row changed" } else { "row" }) {
                        span class="no" { @if let Some(number) = number { (number) } }
                        span class="line" {
                            @for (mark, shown) in parts {
                                @match mark {
                                    Mark::Same => (pieces(shown)),
                                    Mark::Removed => del { (pieces(shown)) },
                                    Mark::Added => ins { (pieces(shown)) },
                                }
                            }
                        }
                    },
                }
            }
        }
    }
}

/// Renders the rows of a hex dump.
pub(crate) fn hex_rows(rows: &[HexRow]) -> Markup {
    html! {
        div class="bytes hex" {
            @for row in rows {
                @match row {
                    HexRow::Words(mark, words) => div class={ "skipped " (class(*mark)) } { (words) },
                    HexRow::Bytes { offset, cells } => div class="row" {
                        span class="no" { (format!("{offset:08x}")) }
                        span class="cells" {
                            @for same in cells.chunk_by(|a, b| a.0 == b.0) {
                                span class=(class(same[0].0)) { (hex(same)) }
                            }
                        }
                        span class="ascii" {
                            @for same in cells.chunk_by(|a, b| a.0 == b.0) {
                                span class=(class(same[0].0)) { (ascii(same)) }
                            }
                        }
                    },
                }
            }
        }
    }
}

fn hex(cells: &[(Mark, u8)]) -> String {
    cells.iter().map(|(_, byte)| format!("{byte:02x} ")).collect()
}

fn ascii(cells: &[(Mark, u8)]) -> String {
    cells.iter().map(|&(_, byte)| if byte.is_ascii_graphic() { char::from(byte) } else { '.' }).collect()
}

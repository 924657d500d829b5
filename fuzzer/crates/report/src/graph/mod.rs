//! Graphs as SVG: as separate files, and inline in the page.

pub mod chart;
pub mod flame;
pub mod growth;
pub mod histogram;
pub mod scale;

use maud::{Markup, PreEscaped, html};

/// Style sheet of all graphs. Its classes start with `q`, so that it can be embedded in a page.
pub(crate) const STYLE: &str = include_str!("graph.css");

/// Formats a coordinate to a tenth of a pixel.
fn px(value: f64) -> String {
    format!("{:.1}", if value.is_finite() { value } else { 0.0 })
}

/// Renders a complete SVG file with its own style.
pub fn file(width: f64, height: f64, title: &str, content: &Markup) -> String {
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="qg" role="img" viewBox=(view_box(width, height))
            width=(width) height=(height) {
            title { (title) }
            style { (PreEscaped(STYLE)) }
            rect class="qpaper" width="100%" height="100%" {}
            (content)
        }
    };
    svg.into_string() + "\n"
}

/// Renders an SVG element for a page, which contains the style.
pub fn inline(width: f64, height: f64, title: &str, content: &Markup) -> Markup {
    html! {
        svg class="qg" role="img" viewBox=(view_box(width, height)) {
            title { (title) }
            (content)
        }
    }
}

fn view_box(width: f64, height: f64) -> String {
    format!("0 0 {width} {height}")
}

//! Turns Markdown with all extensions into HTML with the crate pulldown-cmark.
#![no_main]

use pulldown_cmark::{Options, Parser, html};

libfuzzer_sys::fuzz_target!(|text: &str| {
    html::push_html(&mut String::new(), Parser::new_ext(text, Options::all()));
});

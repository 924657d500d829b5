//! Renders Markdown to HTML with all extensions, as comrak's own target does.
#![no_main]

use comrak::{ComrakExtensionOptions, ComrakOptions, ComrakParseOptions, ComrakRenderOptions, markdown_to_html};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let options = ComrakOptions {
        extension: ComrakExtensionOptions {
            strikethrough: true,
            tagfilter: true,
            table: true,
            autolink: true,
            tasklist: true,
            superscript: true,
            header_ids: Some("user-content-".to_string()),
            footnotes: true,
            description_lists: true,
            front_matter_delimiter: Some("---".to_string()),
            ..Default::default()
        },
        parse: ComrakParseOptions {
            smart: true,
            default_info_string: Some("rust".to_string()),
            relaxed_tasklist_matching: true,
        },
        render: ComrakRenderOptions { hardbreaks: true, github_pre_lang: true, unsafe_: true, ..Default::default() },
    };
    markdown_to_html(text, &options);
});

//! Reads all events, and all attributes with the check for duplicates.
#![no_main]

use quick_xml::{Reader, events::Event};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => tag.attributes().for_each(drop),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
});

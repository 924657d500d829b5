//! Tests of the tokens that the pass leaves: constants that programs compare with.

use std::{collections::BTreeSet, fs, path::Path};

use crate::common::{copied, installed, must};

/// Tokens in a file, found without knowing what the file is.
fn tokens(path: &Path) -> BTreeSet<Vec<u8>> {
    let bytes = fs::read(path).expect("a file");
    let texts = bytes.split(|byte| *byte == 0).filter_map(|text| text.strip_prefix(b"quagmire-token: "));
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("digits");
    texts.map(|digits| digits.chunks(2).map(byte).collect()).collect()
}

#[test]
fn keywords_and_magic_numbers_are_words_however_a_program_asks_for_them() {
    let everywhere: [&[u8]; 25] = [
        b"compared",
        b"<prefix",
        b"wrapped",
        b"\x89Z\0G", // calls
        b"\xfe\xed\xbe\xef",
        b"\xef\xbe\xed\xfe",
        b"\x12\x34",
        b"\x34\x12", // ==, switch
        b"\x01\x11\x70",
        b"\x70\x11\x01",
        b"\x01\x11\x71", // > and the neighbour
        b"lorem",
        b"ipsum",
        b"dolor",
        b"sitam",
        b"alpha",
        b"beta",
        b"gamma",
        b"delta",
        b"struct1",
        b"struct2",
        b"struct3",
        b"struct4",
        b"[%",
        b"[@",
    ];
    let nowhere: [&[u8]; 3] = [b"printed", b"no such file", b"\x00\x07"];
    for llvm in installed() {
        for options in [&["-O0"][..], &["-O1"], &["-O2"], &["-O2", "-g"], &["-O2", "-c"]] {
            let folder = copied("tokens");
            must(llvm.wrapperxx(), folder.path(), &[options, &["formats.cc", "-o", "program"]].concat());
            let found = tokens(&folder.path().join("program"));
            for token in everywhere {
                assert!(found.contains(token), "{}: {options:?}: no {}", llvm.major, token.escape_ascii());
            }
            for token in nowhere {
                assert!(!found.contains(token), "{}: {options:?}: {}", llvm.major, token.escape_ascii());
            }
            assert!(found.contains(&b"<!D"[..]), "{}: {options:?}: no sequence of bytes", llvm.major);
            assert!(found.len() < 40, "{}: {options:?}: {} tokens", llvm.major, found.len());
        }
    }
}

#[test]
fn words_need_no_memory_and_survive_the_removal_of_debug_information() {
    let Some(llvm) = installed().pop() else { return };
    let folder = copied("tokens");
    must(llvm.wrapperxx(), folder.path(), &["-O2", "-g", "formats.cc", "-o", "program"]);
    let before = tokens(&folder.path().join("program"));
    must(std::process::Command::new("strip"), folder.path(), &["program"]);
    assert_eq!(tokens(&folder.path().join("program")), before);
    let sections = must(std::process::Command::new("readelf"), folder.path(), &["-SW", "program"]);
    let line = sections.lines().find(|line| line.contains(".GCC.command.line")).expect("a section");
    assert!(line.contains(" 0000000000000000 "), "no address: {line}");
}

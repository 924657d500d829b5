//! `example-cc`: a C compiler that counts every edge, and links harnesses with the fuzzer of this crate.

use libafl_cc::ToolWrapper;
use quagmire_cc::{Language, QuagmireWrapper};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = std::env::current_exe().expect("a path").parent().expect("a folder").to_owned();
    let mut cc = QuagmireWrapper::new(Language::C);
    cc.engine(folder.join("libexample_fuzzer.a"));
    match cc.parse_args(&arguments).and_then(|cc| cc.add_args(&["-g", "-O1"]).run()) {
        Ok(code) => std::process::exit(code.unwrap_or(1)),
        Err(error) => {
            eprintln!("example-cc: {error:?}");
            std::process::exit(1)
        }
    }
}

//! The C++ compiler for the tests of this crate: users have that of the crate quagmire.

fn main() -> std::process::ExitCode {
    quagmire_cc::main(quagmire_cc::Language::Cxx)
}

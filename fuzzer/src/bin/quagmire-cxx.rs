//! `quagmire-c++`: C++ compiler that counts every edge.

fn main() -> std::process::ExitCode {
    quagmire_cc::main(quagmire_cc::Language::Cxx)
}

//! `quagmire-cc`: a C compiler that counts every edge (a C++ compiler when it is called by a name that ends in `++`).

fn main() -> std::process::ExitCode {
    quagmire_cc::main(quagmire_cc::Language::C)
}

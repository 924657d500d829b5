//! `quagmire-cc`: C compiler that counts every edge; C++ compiler if it is called by a name that ends in `++`.

fn main() -> std::process::ExitCode {
    quagmire_cc::main(quagmire_cc::Language::C)
}

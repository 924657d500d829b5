//! Classification of input files, by extension or by the `-x` in effect.

/// Kinds of input files, by how clang treats them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// C, C++ or Objective-C: preprocessed and compiled.
    Source,
    /// Preprocessed C, C++ or Objective-C, or LLVM IR: compiled.
    Preprocessed,
    /// A header: precompiled, never linked.
    Header,
    /// Assembly that is preprocessed first.
    AssemblySource,
    Assembly,
    /// Compiled by clang, but in a language that is not instrumented (OpenCL, CUDA, ...).
    Foreign,
    /// Passed to the linker.
    Object,
}

impl InputKind {
    /// Whether the pass plugin instruments code generated from it.
    pub(crate) fn is_instrumented(self) -> bool {
        matches!(self, InputKind::Source | InputKind::Preprocessed)
    }

    /// Whether the C preprocessor reads it, so that a macro definition matters.
    pub(crate) fn is_preprocessed_by_clang(self) -> bool {
        matches!(self, InputKind::Source | InputKind::Header | InputKind::AssemblySource)
    }

    /// The kind of a language named by `-x`; `None` for `-x none`.
    pub(crate) fn of_language(language: &str) -> Option<InputKind> {
        Some(match language {
            "none" => return None,
            "c" | "c++" | "objective-c" | "objc" | "objective-c++" | "objc++" | "c++-module" => InputKind::Source,
            "cpp-output" | "c++-cpp-output" | "objective-c-cpp-output" | "objc-cpp-output" => InputKind::Preprocessed,
            "objective-c++-cpp-output" | "objc++-cpp-output" | "c++-module-cpp-output" | "ir" | "pcm" => {
                InputKind::Preprocessed
            }
            header if header.contains("header") => InputKind::Header,
            "assembler-with-cpp" => InputKind::AssemblySource,
            "assembler" => InputKind::Assembly,
            "object" => InputKind::Object,
            _ => InputKind::Foreign,
        })
    }

    /// The kind of a file without a `-x` in effect. Files with an unknown extension are passed to the linker.
    pub(crate) fn of_path(path: &str) -> InputKind {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((_, extension)) = name.rsplit_once('.') else {
            return if path == "-" { InputKind::Source } else { InputKind::Object };
        };
        match extension {
            "c" | "C" | "cc" | "CC" | "cp" | "cpp" | "CPP" | "cxx" | "CXX" | "c++" | "C++" | "m" | "mm" | "M" => {
                InputKind::Source
            }
            "cppm" | "ccm" | "cxxm" | "c++m" | "ixx" => InputKind::Source,
            "i" | "ii" | "mi" | "mii" | "iim" | "ll" | "bc" | "pcm" => InputKind::Preprocessed,
            "h" | "H" | "hh" | "hp" | "hpp" | "hxx" | "h++" | "tcc" => InputKind::Header,
            "S" | "sx" => InputKind::AssemblySource,
            "s" | "asm" => InputKind::Assembly,
            "cl" | "clcpp" | "cu" | "cui" | "hip" | "hipi" | "rs" | "ast" | "hlsl" | "ifs" => InputKind::Foreign,
            _ => InputKind::Object,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_judged_by_its_last_extension() {
        for (path, kind) in [
            ("a.c", InputKind::Source),
            ("dir.c/a", InputKind::Object),
            ("a.tab.cc", InputKind::Source),
            ("a.C", InputKind::Source),
            ("a.ii", InputKind::Preprocessed),
            ("a.bc", InputKind::Preprocessed),
            ("a.hpp", InputKind::Header),
            ("start.S", InputKind::AssemblySource),
            ("start.s", InputKind::Assembly),
            ("libz.so.1.2", InputKind::Object),
            ("libz.a", InputKind::Object),
            ("-", InputKind::Source),
        ] {
            assert_eq!(InputKind::of_path(path), kind, "{path}");
        }
    }

    #[test]
    fn a_language_named_with_x_decides() {
        assert_eq!(InputKind::of_language("none"), None);
        assert_eq!(InputKind::of_language("c++-header"), Some(InputKind::Header));
        assert_eq!(InputKind::of_language("assembler-with-cpp"), Some(InputKind::AssemblySource));
        assert_eq!(InputKind::of_language("cuda"), Some(InputKind::Foreign));
    }
}

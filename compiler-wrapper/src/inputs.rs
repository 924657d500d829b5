//! Classification of input files, by extension or by the `-x` in effect.

/// Kinds of input files, by how clang treats them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// C, C++ or Objective-C: preprocessed and compiled.
    Source,
    /// Preprocessed C, C++ or Objective-C, or LLVM IR: compiled.
    Preprocessed,
    /// A header: precompiled, never linked.
    Header,
    /// Assembly that is preprocessed first.
    AssemblySource,
    /// Assembly.
    Assembly,
    /// Compiled by clang, but in a language that is not instrumented (OpenCL, CUDA, ...).
    Foreign,
    /// Passed to the linker.
    Object,
}

impl Kind {
    /// Whether the pass plugin instruments code generated from it.
    pub fn is_instrumented(self) -> bool {
        matches!(self, Kind::Source | Kind::Preprocessed)
    }

    /// Whether the C preprocessor reads it, so that a macro definition matters.
    pub fn is_preprocessed_by_clang(self) -> bool {
        matches!(self, Kind::Source | Kind::Header | Kind::AssemblySource)
    }

    /// The kind of a language named by `-x`; `None` for `-x none`.
    pub fn of_language(language: &str) -> Option<Kind> {
        Some(match language {
            "none" => return None,
            "c" | "c++" | "objective-c" | "objc" | "objective-c++" | "objc++" | "c++-module" => Kind::Source,
            "cpp-output" | "c++-cpp-output" | "objective-c-cpp-output" | "objc-cpp-output" => Kind::Preprocessed,
            "objective-c++-cpp-output" | "objc++-cpp-output" | "c++-module-cpp-output" | "ir" | "pcm" => {
                Kind::Preprocessed
            }
            header if header.contains("header") => Kind::Header,
            "assembler-with-cpp" => Kind::AssemblySource,
            "assembler" => Kind::Assembly,
            "object" => Kind::Object,
            _ => Kind::Foreign,
        })
    }

    /// The kind of a file without a `-x` in effect. Files with an unknown extension are passed to the linker.
    pub fn of_path(path: &str) -> Kind {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((_, extension)) = name.rsplit_once('.') else {
            return if path == "-" { Kind::Source } else { Kind::Object };
        };
        match extension {
            "c" | "C" | "cc" | "CC" | "cp" | "cpp" | "CPP" | "cxx" | "CXX" | "c++" | "C++" | "m" | "mm" | "M" => {
                Kind::Source
            }
            "cppm" | "ccm" | "cxxm" | "c++m" | "ixx" => Kind::Source,
            "i" | "ii" | "mi" | "mii" | "iim" | "ll" | "bc" | "pcm" => Kind::Preprocessed,
            "h" | "H" | "hh" | "hp" | "hpp" | "hxx" | "h++" | "tcc" => Kind::Header,
            "S" | "sx" => Kind::AssemblySource,
            "s" | "asm" => Kind::Assembly,
            "cl" | "clcpp" | "cu" | "cui" | "hip" | "hipi" | "rs" | "ast" | "hlsl" | "ifs" => Kind::Foreign,
            _ => Kind::Object,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_judged_by_its_last_extension() {
        for (path, kind) in [
            ("a.c", Kind::Source),
            ("dir.c/a", Kind::Object),
            ("a.tab.cc", Kind::Source),
            ("a.C", Kind::Source),
            ("a.ii", Kind::Preprocessed),
            ("a.bc", Kind::Preprocessed),
            ("a.hpp", Kind::Header),
            ("start.S", Kind::AssemblySource),
            ("start.s", Kind::Assembly),
            ("libz.so.1.2", Kind::Object),
            ("libz.a", Kind::Object),
            ("-", Kind::Source),
        ] {
            assert_eq!(Kind::of_path(path), kind, "{path}");
        }
    }

    #[test]
    fn a_language_named_with_x_decides() {
        assert_eq!(Kind::of_language("none"), None);
        assert_eq!(Kind::of_language("c++-header"), Some(Kind::Header));
        assert_eq!(Kind::of_language("assembler-with-cpp"), Some(Kind::AssemblySource));
        assert_eq!(Kind::of_language("cuda"), Some(Kind::Foreign));
    }
}

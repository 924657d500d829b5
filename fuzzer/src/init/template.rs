//! A harness for one function, made from its declaration.

use std::{
    fs::File,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use quagmire_base::{
    error::{Error, Result},
    files,
};
use regex::Regex;

use super::project::{Project, without_comments};

/// Size up to which a header is read, in bytes.
const LARGEST_HEADER: u64 = 4 << 20;

/// Writes a harness for `function` into `folder`. Returns its name.
///
/// # Errors
/// If no header declares the function, or the file is there already.
pub(super) fn write(folder: &Path, project: &Project, function: &str) -> Result<PathBuf> {
    let name = Regex::new(r"^[A-Za-z_][A-Za-z0-9_]*$").expect("a pattern");
    if !name.is_match(function) {
        return Err(Error::usage(format!("--function {function}: give the name of a function of C")));
    }
    let declared =
        Regex::new(&format!(r"\b{function}\s*\(((?:[^()]|\([^()]*\))*)\)\s*[^;{{()]*[;{{]")).expect("a pattern");
    let found = project.headers.iter().find_map(|header| {
        let text = files::read(&folder.join(header), LARGEST_HEADER).ok()?;
        let text = without_comments(&text);
        let parameters = declared.captures(&text)?.get(1)?.as_str().to_owned();
        Some((header, parameters))
    });
    let Some((header, parameters)) = found else {
        return Err(Error::usage(format!("--function {function}: no header in {} declares it", folder.display())));
    };
    // a header of C may be one of C++ by the same name
    let is_cxx = header.extension().is_some_and(|ending| ending != "h") || project.is_cxx;
    let path = PathBuf::from(format!("{function}_harness.{}", if is_cxx { "cc" } else { "c" }));
    let made = File::create_new(folder.join(&path));
    let written = made.and_then(|mut file| file.write_all(text(header, function, &parameters, is_cxx).as_bytes()));
    written.map_err(|error| {
        let remedy = if error.kind() == ErrorKind::AlreadyExists { ": remove or rename it" } else { "" };
        Error::other(format!("cannot write {}: {error}{remedy}", path.display()))
    })?;
    Ok(path)
}

/// Source of a harness.
fn text(header: &Path, function: &str, parameters: &str, is_cxx: bool) -> String {
    let arguments = arguments(parameters);
    let copies = arguments.iter().any(|argument| argument.ends_with(TEXT));
    let (before, after) = match copies {
        true => (
            "  char *text = (char *)malloc(size + 1);\n  if (!text)\n    return 0;\n  memcpy(text, data, size);\n  text[size] = 0;\n",
            "  free(text);\n",
        ),
        false => ("", ""),
    };
    let linkage = if is_cxx { "extern \"C\" " } else { "" };
    format!(
        "/* Gives one input to {function}({parameters}). Check what it passes, and free what the function returns. */\n\
         #include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include \"{}\"\n\n\
         {linkage}int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {{\n{before}  {function}({});\n{after}  return 0;\n}}\n",
        header.display(),
        arguments.join(", "),
    )
}

/// A copy of the input that a zero byte ends.
const TEXT: &str = "text";

/// The parameters of a declaration, each as a pointer where it is an array.
fn split(parameters: &str) -> Vec<String> {
    let mut depth = 0;
    let parts = parameters.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    let array = Regex::new(r"\s*(\w*)\s*\[[^\]]*\]$").expect("a pattern");
    parts
        .map(|one| array.replace(one.trim(), " *$1").into_owned())
        .filter(|one| !one.is_empty() && one != "void")
        .collect()
}

/// Arguments for the parameters of a declaration: the bytes and their number, a text, zeros.
fn arguments(parameters: &str) -> Vec<String> {
    let all = split(parameters);
    let is_bytes = |one: &str| {
        one.matches('*').count() == 1
            && !one.contains('(')
            && ["char", "void", "uint8_t"].iter().any(|kind| one.contains(kind))
    };
    let is_number = |one: &str| {
        !one.contains(['*', '('])
            && ["int", "size_t", "long", "unsigned", "uint", "short"].iter().any(|kind| one.contains(kind))
    };
    let (mut given, mut found) = (false, Vec::new());
    let mut at = 0;
    while let Some(one) = all.get(at) {
        let next_is_length = all.get(at + 1).is_some_and(|next| is_number(next));
        if !given && is_bytes(one) && next_is_length {
            let cast = one.rsplit_once('*').map_or("", |(kind, _)| kind).trim();
            // what may be written to is a copy
            let bytes = if cast.contains("const") { "data" } else { TEXT };
            found.extend([format!("({cast} *){bytes}"), "size".to_owned()]);
            at += 1;
            given = true;
        } else if !given && is_bytes(one) {
            found.push(TEXT.to_owned());
            given = true;
        } else {
            found.push("0".to_owned());
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_with_their_number_or_as_a_text_and_all_else_is_zero() {
        let passed = |parameters: &str| arguments(parameters).join(", ");
        assert_eq!(
            passed("const char *buffer, size_t n, int flags, struct error *e"),
            "(const char *)data, size, 0, 0"
        );
        assert_eq!(passed("const char *text"), "text");
        assert_eq!(passed("state *s, const void *p, unsigned int len"), "0, (const void *)data, size");
        assert_eq!(passed("void"), "");
        assert_eq!(passed("char *out, size_t n"), "(char *)text, size");
        assert_eq!(
            passed("const unsigned char data[], size_t n, void (*found)(int, char *)"),
            "(const unsigned char *)data, size, 0"
        );
    }

    #[test]
    fn a_text_is_copied_and_freed() {
        let made = text(Path::new("json.h"), "parse", "const char *text", true);
        assert!(made.contains("#include \"json.h\"") && made.contains("  parse(text);\n  free(text);"), "{made}");
        assert!(made.contains("extern \"C\" int LLVMFuzzerTestOneInput"), "{made}");
    }
}

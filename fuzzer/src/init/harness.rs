//! The text of a harness.

use std::{fmt::Write as _, path::Path};

use super::{
    call::{Call, Part},
    compiler::Language,
    declarations::Function,
    paths::is_source,
};

/// Copies the input, and ends it with a zero byte.
const COPY: [&str; 4] = [
    "char *text = (char *)malloc(size + 1);",
    "if (!text)\n    return 0;",
    "if (size)\n    memcpy(text, data, size);",
    "text[size] = 0;",
];

/// Puts the input into a file in memory.
const PATH_OF: &str = "\
/* Name of a file with the input. It is in memory. */
static const char *path_of(const uint8_t *data, size_t size) {
  static int file = -1;
  static char name[64];
  if (file < 0) {
    file = memfd_create(\"input\", 0);
    snprintf(name, sizeof name, \"/proc/self/fd/%d\", file);
  }
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
    abort();
  return name;
}

";

/// Everything in front of the function: what a header may expect to be there already, and the header itself.
pub(super) fn head(include: &str, language: Language, before: &[String]) -> String {
    let mut text = String::from("#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n");
    for name in ["stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"] {
        let _ = writeln!(text, "#include <{name}>");
    }
    if language == Language::Cxx {
        text += "#include <sstream>\n#include <string>\n";
    }
    text.push('\n');
    for line in before {
        let _ = writeln!(text, "{line}");
    }
    // a program's own main would be in the way
    let (hidden, shown) = match is_source(Path::new(include)) {
        true => ("#define main main_of_the_program\n", "#undef main\n"),
        false => ("", ""),
    };
    text + &format!("{hidden}#include \"{include}\"\n{shown}")
}

fn linkage(language: Language) -> &'static str {
    if language == Language::Cxx { "extern \"C\" " } else { "" }
}

/// A harness that calls a function.
pub(super) fn text(head: &str, language: Language, function: &Function, call: &Call) -> String {
    let mut text = format!("/* Gives one input to {}. */\n{head}", function.declaration().replace("*/", "* /"));
    if call.parts.contains(&Part::Path) {
        text += "#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\n";
        text += PATH_OF;
    } else {
        text.push('\n');
    }
    for one in &call.functions {
        let _ = writeln!(text, "{one}\n");
    }
    let _ = writeln!(text, "{}int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {{", linkage(language));
    let body = body(call, language);
    match language {
        Language::C => text += &indented(&body, 2),
        // an input that is refused by an exception is an ordinary one
        Language::Cxx => {
            let _ = write!(text, "  try {{\n{}  }} catch (...) {{\n  }}\n", indented(&body, 4));
        }
    }
    text += "  return 0;\n}\n";
    text
}

fn body(call: &Call, language: Language) -> Vec<String> {
    let has = |part| call.parts.contains(&part);
    let mut lines: Vec<String> = Vec::new();
    let mut last: Vec<String> = Vec::new();
    let makes_text = has(Part::Text) || has(Part::Stream);
    match language {
        Language::C if makes_text => {
            lines.extend(COPY.map(str::to_owned));
            last.push("free(text);".into());
        }
        Language::Cxx if makes_text => {
            lines.push("std::string text(reinterpret_cast<const char *>(data), size);".into());
        }
        _ => {}
    }
    if has(Part::Stream) {
        lines.push("std::stringstream stream(text);".into());
    }
    if has(Part::File) {
        lines.push("FILE *file = fmemopen((void *)data, size, \"rb\");".into());
        lines.push("if (!file)\n    return 0;".into());
        last.insert(0, "fclose(file);".into());
    }
    lines.extend(call.before.iter().cloned());
    lines.push(call.call.clone());
    lines.extend(call.after.iter().cloned());
    lines.extend(last);
    lines
}

fn indented(lines: &[String], by: usize) -> String {
    let blanks = " ".repeat(by);
    // lines of their own in a statement are indented as if it began with two blanks
    let more = format!("\n{}", " ".repeat(by - 2));
    lines.iter().map(|line| format!("{blanks}{}\n", line.replace('\n', &more))).collect()
}

/// A harness to be filled in, for a function that cannot be called without knowing more.
pub(super) fn template(head: &str, language: Language, function: &Function, why: &str) -> String {
    let declaration = function.declaration().replace("*/", "* /");
    format!(
        "/* Has to give one input to {declaration}.\n   It {}. */\n{head}\n\
         {}int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {{\n\
         #error \"fill in the call, remove this line, and type the same command again\"\n\
         \x20 /* make what it needs */\n\
         \x20 {}(/* data, size */);\n\
         \x20 /* free what it has made */\n\
         \x20 return 0;\n}}\n",
        why.replace("*/", "* /"),
        linkage(language),
        function.full_name(),
    )
}

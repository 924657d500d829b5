//! Report at the end of a campaign. The command `quagmire` writes it, since the engine inside harnesses holds no pages
//! and graphs.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::{Command, Stdio},
};

use quagmire_base::{
    plain::{self, Form},
    shell,
};

/// Environment variable with the path of the `quagmire` that started this process.
pub const QUAGMIRE: &str = "QUAGMIRE_BINARY";

/// Time for comparing findings with their seeds (`quagmire report` by itself takes as long as it needs).
const TIME_FOR_DIFFS: &str = "5s";

/// Path of `quagmire`: this process itself, the one that started this harness, or a name for the shell's search path.
fn quagmire(is_harness: bool) -> OsString {
    let named = || std::env::var_os(QUAGMIRE).filter(|path| Path::new(path).is_absolute());
    let own = if is_harness { None } else { std::env::current_exe().ok().map(OsString::from) };
    own.or_else(named).unwrap_or_else(|| "quagmire".into())
}

/// Writes the pages of the campaign in `folder`, and prints where they are; without a `quagmire`, prints the command
/// that writes them. `shown` is the folder as the user typed it.
pub fn write(folder: &Path, shown: &Path, graphs: bool, is_harness: bool) {
    let mut command = Command::new(quagmire(is_harness));
    command.args(["report", "--time", TIME_FOR_DIFFS]).args((!graphs).then_some("--no-plotting"));
    let mut brief = OsString::from("--brief=");
    brief.push(shown);
    command.arg(brief);
    // with the absolute path: the target may have changed the working folder
    let output = command.arg("--").arg(folder).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let text = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => {
            let words = [OsStr::new("quagmire"), OsStr::new("report"), shown.as_os_str()];
            format!("Report:     {}\n", shell::command(words))
        }
    };
    // a failure to print is no reason to fail
    let _ = plain::print(&text, Form::Lines);
}

//! Huge pages for large blocks of memory that harnesses allocate in campaigns.
//!
//! Inputs that make a harness allocate and clear hundreds of megabytes are what campaigns look for. Nearly all of their time is spent
//! in the kernel, on a page fault for each 4 KiB; with huge pages, one fault is for 2 MiB. glibc's malloc asks for them
//! if it is told to when a process starts. Where the system gives them to everybody (`always` in
//! `/sys/kernel/mm/transparent_hugepage/enabled`) or to nobody (`never`), that changes nothing.

use std::process::Command;

/// Variable with settings of glibc.
const VARIABLE: &str = "GLIBC_TUNABLES";

/// Setting that makes malloc ask for huge pages.
const ASK: &str = "glibc.malloc.hugetlb=1";

/// Has malloc ask for huge pages in the process that `command` becomes, unless the user has settings of their own.
pub fn ask(command: &mut Command) {
    if std::env::var_os(VARIABLE).is_none() {
        command.env(VARIABLE, ASK);
    }
}

/// Lets the process that `command` starts allocate as it would for the user, although this process may [`ask`]: times that decide on
/// a finding are those of ordinary runs.
pub fn do_not_ask(command: &mut Command) {
    if std::env::var_os(VARIABLE).is_some_and(|value| value == ASK) {
        command.env_remove(VARIABLE);
    }
}

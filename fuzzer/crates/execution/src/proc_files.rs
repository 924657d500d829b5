//! Information about processes from `/proc`. Everything here is async-signal-safe.

/// Builds the path `/proc/PROCESS/NAME` as a C string; `self` for process 0.
fn path(process: libc::pid_t, name: &[u8]) -> [u8; 32] {
    let mut path = [0; 32];
    let mut length = 0;
    let mut push = |text: &[u8]| {
        for &byte in text {
            path[length] = byte;
            length += 1;
        }
    };
    push(b"/proc/");
    if process == 0 {
        push(b"self");
    }
    let mut divisor = 1_000_000_000;
    while divisor > 0 {
        if process >= divisor {
            push(&[b'0' + (process / divisor % 10) as u8]);
        }
        divisor /= 10;
    }
    push(b"/");
    push(name);
    path
}

/// Reads the start of a `/proc` file of a process; empty if it cannot be read.
fn read<'a>(process: libc::pid_t, name: &[u8], buffer: &'a mut [u8; 512]) -> &'a [u8] {
    let path = path(process, name);
    // SAFETY: system calls on a path that is a C string and a buffer of the given length.
    let length = unsafe {
        let file = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return &[];
        }
        let length = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(file);
        length
    };
    &buffer[..length.max(0) as usize]
}

fn number(word: &[u8]) -> u64 {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: u64, byte| number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')))
}

/// Memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub resident: u64,
    /// Part of it that belongs to files or is shared with other processes.
    pub shared: u64,
}

/// Memory of a process, or of this one if `process` is 0; zeros if unknown.
pub(crate) fn memory(process: libc::pid_t) -> Memory {
    let mut buffer = [0; 512];
    let mut pages = read(process, b"statm", &mut buffer).split(|&byte| byte == b' ').skip(1).map(number);
    let mut bytes = || pages.next().unwrap_or(0).wrapping_mul(rustix::param::page_size() as u64);
    Memory { resident: bytes(), shared: bytes() }
}

/// Whether `process` is a child of `parent` that was not waited for, ended or not.
pub(crate) fn is_child(process: libc::pid_t, parent: libc::pid_t) -> bool {
    if process < 2 || parent < 2 {
        return false;
    }
    let mut buffer = [0; 512];
    let stat = read(process, b"stat", &mut buffer);
    // fields come after the name in parentheses, which may contain anything
    let Some(behind) = stat.iter().rposition(|&byte| byte == b')') else { return false };
    stat[behind..].split(|&byte| byte == b' ').nth(2).map(number) == Some(parent as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_children_are_taken_for_children() {
        let own = std::process::id() as libc::pid_t;
        let mut child = std::process::Command::new("sleep").arg("100").spawn().expect("sleep");
        let other = child.id() as libc::pid_t;
        assert!(is_child(other, own));
        for wrong in [0, 1, -1, -other, libc::pid_t::MIN, libc::pid_t::MAX, own] {
            assert!(!is_child(wrong, own), "{wrong}");
            assert!(!is_child(other, wrong) || wrong == own, "{wrong}");
        }
        child.kill().expect("ours");
        child.wait().expect("ours");
        assert!(!is_child(other, own));
    }

    #[test]
    fn memory_of_this_process_is_known() {
        let own = std::process::id() as libc::pid_t;
        for process in [0, own] {
            let memory = memory(process);
            assert!(memory.resident > memory.shared && memory.shared > 0, "{memory:?}");
        }
        assert_eq!(memory(libc::pid_t::MAX), Memory::default());
    }
}

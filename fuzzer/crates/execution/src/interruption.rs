//! Interruption by the user: SIGINT and SIGTERM end a command that runs many inputs after the run at hand, so that what
//! it knows by then is not lost.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether a signal has come. Static, since a signal handler has no other place to say so.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    IS_INTERRUPTED.store(true, Relaxed);
}

/// Notes the next SIGINT and SIGTERM instead of ending the process; the ones after them end it. Ignored signals stay
/// ignored.
pub fn watch() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        if crate::process::ignores(signal) {
            continue;
        }
        // SAFETY: the handler only stores to an atomic; a zeroed record is a valid one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Whether a signal has come since [`watch`].
pub fn has_come() -> bool {
    IS_INTERRUPTED.load(Relaxed)
}

//! The line of the screen while findings are explained.

use std::{
    io::{IsTerminal, Write},
    time::Duration,
};

use quagmire_base::terminal::terminal_width;

/// Line on a terminal that says what is looked for, and how long that may take.
pub(super) struct Progress {
    place: usize,
    of: usize,
    /// Width of the terminal; `None` if nothing is shown.
    columns: Option<usize>,
    /// Second that was shown last.
    shown: Option<(u64, String)>,
}

impl Progress {
    pub(super) fn new(quiet: bool, place: usize, of: usize) -> Self {
        let stdout = std::io::stdout();
        let columns = (!quiet && stdout.is_terminal()).then(|| terminal_width(&stdout).unwrap_or(80));
        Self { place, of, columns, shown: None }
    }

    pub(super) fn show(&mut self, what: &str, since: Duration, most: Duration) {
        let now = Some((since.as_secs(), what.to_owned()));
        let Some(columns) = self.columns.filter(|_| self.shown != now) else { return };
        self.shown = now;
        let line = progress(self.place, self.of, what, since, most);
        let line: String = line.chars().take(columns.saturating_sub(1)).collect();
        write(&format!("\r\x1b[K{line}"));
    }

    /// Erases the line.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            write("\r\x1b[K");
        }
    }
}

fn progress(place: usize, of: usize, what: &str, since: Duration, most: Duration) -> String {
    let cause = if of > 1 { format!("cause {place} of {of}") } else { "the cause".to_owned() };
    let (since, most) = (since.as_secs(), most.as_secs().max(1));
    format!("Explaining {cause}: {what}; {since} s of at most {most} s (Ctrl-C skips the rest)")
}

/// Writes to the terminal; a failure is no reason to fail.
fn write(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_screen_says_what_is_looked_for_and_how_long_it_may_take() {
        let seconds = Duration::from_secs;
        assert_eq!(
            progress(1, 3, "its law, by smaller sizes", seconds(7), seconds(60)),
            "Explaining cause 1 of 3: its law, by smaller sizes; 7 s of at most 60 s (Ctrl-C skips the rest)"
        );
    }
}

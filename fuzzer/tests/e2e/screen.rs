//! Campaigns on a terminal: their keys, and the state of the terminal after them.

use std::{
    fs::File, io::Read, io::Write, os::fd::AsRawFd, os::fd::FromRawFd, os::fd::OwnedFd, os::unix::process::CommandExt,
    sync::Arc, sync::Mutex,
};

use crate::common::*;

/// A pseudo-terminal of 80 columns, with both its ends.
struct Terminal {
    keyboard: File,
    /// End that the processes in the terminal use.
    inside: OwnedFd,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    fn new() -> Self {
        let (mut outer, mut inner) = (-1, -1);
        let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: writes two descriptors, which are owned from here on.
        let (outside, inside) = unsafe {
            let (nothing, no_settings) = (std::ptr::null_mut(), std::ptr::null_mut());
            assert_eq!(libc::openpty(&raw mut outer, &raw mut inner, nothing, no_settings, &raw const size as _), 0);
            // other tests start processes meanwhile
            for end in [outer, inner] {
                libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC);
            }
            (File::from_raw_fd(outer), OwnedFd::from_raw_fd(inner))
        };
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut reader, writes) = (outside.try_clone().expect("a copy"), shown.clone());
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut part) {
                writes.lock().expect("whole").push_str(&String::from_utf8_lossy(&part[..length]));
            }
        });
        Self { keyboard: outside, inside, shown }
    }

    /// Starts a command as a shell in this terminal would.
    fn start(&self, command: &mut Command) -> Child {
        let stream = || self.inside.try_clone().expect("a copy");
        command.stdin(stream()).stdout(stream()).stderr(stream());
        // SAFETY: async-signal-safe calls: a session of its own, whose terminal is this one.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            })
        };
        command.spawn().expect("it starts")
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("a terminal");
    }

    /// Waits until the terminal shows `text`, and drops the output up to it.
    fn expect(&self, text: &str) {
        wait_until(&format!("{text:?} is shown"), || {
            let mut shown = self.shown.lock().expect("whole");
            let end = shown.find(text)? + text.len();
            shown.drain(..end);
            Some(())
        });
    }

    /// Whether echo and line mode are on, which reading keys turns off.
    fn has_lines(&self) -> bool {
        let settings = self.settings();
        settings.0 & libc::ICANON != 0 && settings.0 & libc::ECHO != 0
    }

    fn settings(&self) -> (libc::tcflag_t, [libc::tcflag_t; 3], Vec<u8>) {
        // SAFETY: zeros are valid, and the call writes one of them.
        unsafe {
            let mut now: libc::termios = std::mem::zeroed();
            assert_eq!(libc::tcgetattr(self.inside.as_raw_fd(), &raw mut now), 0);
            (now.c_lflag, [now.c_iflag, now.c_oflag, now.c_cflag], now.c_cc.to_vec())
        }
    }
}

fn campaign(scene: &Scene, options: &str) -> Command {
    scene.campaign(&harness("quadratic.c"), &format!("--seed 1 --max-size 200 --no-plotting {options}"))
}

#[test]
fn keys_show_more_and_end_the_campaign() {
    let scene = Scene::new(GREETING);
    let mut terminal = Terminal::new();
    let before = terminal.settings();
    let mut running = terminal.start(&mut campaign(&scene, "--time 1h"));
    terminal.expect("c a row for each client, q end, h help");
    assert!(!terminal.has_lines());
    terminal.press("c");
    terminal.expect("one client: see -j");
    terminal.press("h");
    terminal.expect("end and write everything");
    // arrows are no letters
    terminal.press("\x1b[Q\x1b[q");
    terminal.press("?");
    terminal.expect("q end, h help");
    terminal.press("q");
    terminal.expect("stopped on request");
    assert!(running.wait().expect("a child").success());
    assert_eq!(scene.summary()["stopped_by"], "signal");
    assert!(terminal.settings() == before);
}

#[test]
fn the_terminal_is_as_before_whatever_ends_the_campaign() {
    let scene = Scene::new(GREETING);
    let mut terminal = Terminal::new();
    let before = terminal.settings();
    // a worker that is killed is followed by another one, and keys go on
    let mut running = terminal.start(&mut campaign(&scene, "--time 1h"));
    terminal.expect("q end, h help");
    signal(*children(running.id()).first().expect("a worker"), libc::SIGKILL);
    terminal.press("h");
    terminal.expect("end and write everything");
    // Ctrl-C
    terminal.press("\x03");
    terminal.expect("stopped on request");
    running.wait().expect("a child");
    assert!(terminal.settings() == before);
    // Ctrl-\ ends without a word
    let mut running = terminal.start(&mut campaign(&scene, "--time 1h --force"));
    terminal.expect("q end, h help");
    terminal.press("\x1c");
    assert!(!running.wait().expect("a child").success());
    assert!(terminal.settings() == before);
    // the usual end
    let mut running = terminal.start(&mut campaign(&scene, "--execs 3000 --force"));
    assert!(running.wait().expect("a child").success());
    assert!(terminal.settings() == before);
}

#[test]
fn keys_are_left_alone_without_a_display() {
    let scene = Scene::new(GREETING);
    let terminal = Terminal::new();
    for options in ["--quiet", ""] {
        let mut command = campaign(&scene, &format!("--time 1h --force {options}"));
        let mut running = if options.is_empty() {
            // standard input is not the terminal
            command.stdin(Stdio::null());
            command.stdout(terminal.inside.try_clone().expect("a copy")).spawn().expect("it starts")
        } else {
            terminal.start(&mut command)
        };
        wait_until("it runs", || (!children(running.id()).is_empty()).then_some(()));
        wait_until("it keeps something", || scene.path("out/summary.json").exists().then_some(()));
        assert!(terminal.has_lines(), "{options}");
        signal(running.id(), libc::SIGTERM);
        running.wait().expect("a child");
        let _ = fs::remove_file(scene.path("out/summary.json"));
    }
}

#[test]
fn a_campaign_that_is_stopped_gives_the_terminal_back_and_goes_on() {
    let scene = Scene::new(GREETING);
    let mut terminal = Terminal::new();
    // a shell with job control: Ctrl-Z has no effect where nobody would see it
    let quagmire = campaign(&scene, "--time 1h");
    let words: Vec<String> = std::iter::once(quagmire.get_program())
        .chain(quagmire.get_args())
        .map(|word| format!("'{}'", word.to_string_lossy()))
        .collect();
    let script = format!("set -m; {}; echo paused; stty -a; fg; echo over; stty -a; echo done", words.join(" "));
    let mut shell = Command::new("bash");
    with_signals(&mut shell, libc::SIG_DFL);
    let mut running = terminal.start(shell.args(["-c", &script]).current_dir(scene.path("")));
    terminal.expect("q end, h help");
    terminal.press("\x1a");
    terminal.expect("paused");
    terminal.expect(" icanon ");
    terminal.expect(" echo ");
    terminal.expect("q end, h help");
    terminal.press("q");
    terminal.expect("over");
    terminal.expect(" icanon ");
    terminal.expect("done");
    running.wait().expect("a child");
    assert_eq!(scene.summary()["stopped_by"], "signal");
}

use super::*;
use std::{ffi::CString, fs::write, os::unix::ffi::OsStrExt, os::unix::fs::symlink, path::PathBuf};

fn fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn pipes_links_folders_and_devices_are_refused_at_once() {
    let (_keep, path) = place();
    write(path.join("secret"), "secret").unwrap();
    symlink(path.join("secret"), path.join("link")).unwrap();
    fifo(&path.join("pipe"));
    std::fs::create_dir(path.join("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path.join("socket")).unwrap();
    for name in ["link", "pipe", "folder", "socket"] {
        let one = read(&path.join(name), 10).unwrap_err();
        let other = Folder::named(&path).read(name, 10).unwrap_err();
        assert!(is_refused(&one) && is_refused(&other), "{name}: {one}, {other}");
        assert!(is_refused(&open_to_append(&path.join(name)).unwrap_err()) || name == "folder", "{name}");
    }
    assert!(is_refused(&read(Path::new("/dev/zero"), 10).unwrap_err()));
    assert!(is_refused(&read_named(&path.join("pipe"), 10).unwrap_err()));
    assert_eq!(read_named(&path.join("link"), 10).unwrap(), b"secret");
    let gone = read(&path.join("gone"), 10).unwrap_err();
    assert!(!is_refused(&gone), "{gone}");
}

#[test]
fn no_more_is_read_than_the_limit() {
    let (_keep, path) = place();
    write(path.join("ten"), "0123456789").unwrap();
    assert_eq!(read(&path.join("ten"), 10).unwrap().len(), 10);
    assert!(is_refused(&read(&path.join("ten"), 9).unwrap_err()));
    // takes no room on the disk
    File::create(path.join("sparse")).unwrap().set_len(100 << 30).unwrap();
    assert!(is_refused(&Folder::named(&path).read("sparse", 1 << 20).unwrap_err()));
    let mut buffer = [1; 4];
    assert_eq!(Folder::named(&path).read_into("sparse", &mut buffer).unwrap(), 4);
    // files of the kernel say that they are empty
    assert!(is_refused(&read(Path::new("/proc/self/maps"), 5).unwrap_err()));
}

#[test]
fn links_are_followed_in_what_the_user_named_and_nowhere_below() {
    let (_keep, path) = place();
    std::fs::create_dir_all(path.join("real/queue")).unwrap();
    write(path.join("real/queue/a"), "a").unwrap();
    symlink(path.join("real"), path.join("named")).unwrap();
    let named = Folder::named(path.join("named"));
    assert_eq!(named.inside("queue").read("a", 9).unwrap(), b"a");
    assert_eq!(named.inside("queue").names(9).unwrap(), ["a"]);
    let error = Folder::named(&path).inside("named").inside("queue").read("a", 9).unwrap_err();
    assert!(is_refused(&error), "{error}");
    for name in ["../real/queue/a", "..", ".", "", "/etc/passwd", "queue/a", "a\0"] {
        assert!(named.inside("queue").read(name, 9).is_err(), "{name:?}");
        assert!(named.inside(name).read("a", 9).is_err(), "{name:?}");
    }
}

#[test]
fn nothing_is_written_through_links() {
    let (_keep, path) = place();
    write(path.join("victim"), "years of work").unwrap();
    for name in [".lock", ".hits", "log"] {
        symlink(path.join("victim"), path.join(name)).unwrap();
    }
    std::fs::hard_link(path.join("victim"), path.join("same")).unwrap();
    let folder = Folder::named(&path);
    assert!(open_lock(&folder, ".lock").is_err() && open_lock(&folder, "same").is_err());
    assert!(open_to_append(&path.join("log")).is_err() && open_to_append(&path.join("same")).is_err());
    folder.write_whole(".hits", b"new").unwrap();
    assert_eq!(std::fs::read_to_string(path.join("victim")).unwrap(), "years of work");
    assert_eq!(std::fs::read_to_string(path.join(".hits")).unwrap(), "new");
    assert!(is_file(&path.join(".hits")) && !is_file(&path.join("log")));
}

#[test]
fn a_lock_holds_a_number_or_nothing() {
    let (_keep, path) = place();
    let folder = Folder::named(&path);
    assert!(open_lock(&folder, "new").is_ok());
    for (text, is_lock) in
        [("", true), ("1234\n", true), ("12t4\n", true), ("#!/bin/sh\n", false), (&"1".repeat(99), false)]
    {
        write(path.join("lock"), text).unwrap();
        assert_eq!(open_lock(&folder, "lock").is_ok(), is_lock, "{text}");
        assert_eq!(std::fs::read_to_string(path.join("lock")).unwrap(), text);
    }
}

#[test]
fn a_guessed_name_of_an_unfinished_file_leads_nowhere() {
    let (_keep, path) = place();
    write(path.join("victim"), "years of work").unwrap();
    for number in 0..200 {
        symlink(path.join("victim"), path.join(folder::unfinished(number))).unwrap();
    }
    Folder::named(&path).write_whole("a", b"a").unwrap();
    assert_eq!(std::fs::read(path.join("a")).unwrap(), b"a");
    assert_eq!(std::fs::read_to_string(path.join("victim")).unwrap(), "years of work");
    Folder::named(&path).remove_beginning_with(folder::UNFINISHED);
    let mut names = Folder::named(&path).names(9).unwrap();
    names.sort();
    assert_eq!(names, ["a", "victim"]);
}

#[test]
fn too_many_files_and_names_that_are_no_text_do_no_harm() {
    let (_keep, path) = place();
    for number in 0..5 {
        write(path.join(number.to_string()), "").unwrap();
    }
    write(path.join(std::ffi::OsStr::from_bytes(b"\xff\xfe")), "").unwrap();
    let folder = Folder::named(&path);
    assert_eq!(folder.names(5).unwrap().len(), 5);
    assert!(is_refused(&folder.names(4).unwrap_err()));
}

#[test]
fn a_folder_is_created_unless_something_else_has_its_name() {
    let (_keep, path) = place();
    let folder = Folder::named(path.join("sync")).inside("me").inside("queue");
    folder.create().unwrap();
    folder.create().unwrap();
    assert!(path.join("sync/me/queue").is_dir() && folder.is_empty().unwrap());
    symlink(path.join("sync"), path.join("link")).unwrap();
    assert!(Folder::named(&path).inside("link").inside("me").create().is_err());
    assert!(create_folder(&path.join("link")).is_err());
    assert!(create_folder(&path.join("sync")).is_ok() && create_folder(&path.join("new")).is_ok());
}

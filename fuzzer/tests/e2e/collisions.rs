//! Tests of the search for keys that collide in the target's own hash.

use crate::common::*;

/// Inputs for the hash function of a seed that a campaign from it has made of colliding keys and kept: the names in them.
fn searched(seed: &[u8], rules: &str) -> Vec<Vec<Vec<u8>>> {
    let scene = Scene::new(&[("seed", seed)]);
    let options = format!("--execs 30000 --seed 3 --explain 0 --rules {rules}");
    scene.fuzz(&harness("hash_tables.c"), &options).ended();
    let files = fs::read_dir(scene.path("out/queue")).expect("a queue").map(|file| file.expect("a file").path());
    let made = files.filter(|path| path.to_string_lossy().contains("collisions"));
    let inputs = made.map(|path| fs::read(path).expect("an entry"));
    // mutants of the first letter have another function
    inputs.filter(|input| input.first() == seed.first()).map(|input| names(&input)).collect()
}

/// The different names of an input.
fn names(input: &[u8]) -> Vec<Vec<u8>> {
    let lines = input[1..].split(|&byte| byte == b'\n');
    let names: BTreeSet<Vec<u8>> =
        lines.filter_map(|line| Some(line[..line.iter().position(|&byte| byte == b'=')?].to_vec())).collect();
    names.into_iter().collect()
}

/// The largest number of names of an input that have the same of something.
fn most_alike(inputs: &[Vec<Vec<u8>>], of: impl Fn(&[u8]) -> u32) -> usize {
    let alike = |names: &Vec<Vec<u8>>| {
        let mut hashes: Vec<u32> = names.iter().map(|name| of(name)).collect();
        hashes.sort_unstable();
        hashes.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0)
    };
    inputs.iter().map(alike).max().unwrap_or(0)
}

fn times_33(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash, &byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

fn fnv(name: &[u8]) -> u32 {
    name.iter().fold(2_166_136_261, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619))
}

/// As `wide` of `hash_tables.c`.
fn wide(name: &[u8]) -> u32 {
    let (mut a, mut b, mut c) = (1_u32, 2_u32, name.len() as u32);
    for &byte in name {
        a = (a.wrapping_add(byte.into()).wrapping_sub(c)) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
    }
    c ^ b.rotate_left(14) ^ a.rotate_left(11)
}

#[test]
fn names_get_one_hash_where_equal_states_stay_equal() {
    let inputs = searched(b"d\nwidth=1\nheight=2\n", "havoc,collisions");
    assert!(most_alike(&inputs, times_33) >= 500, "{inputs:?}");
}

#[test]
fn the_shorter_names_are_taken_that_share_what_the_table_looks_at() {
    for (seed, hash) in [(b"f\nwidth=1\nheight=2\n", fnv as fn(&[u8]) -> u32), (b"w\nwidth=1\nheight=2\n", wide)] {
        let inputs = searched(seed, "havoc,collisions");
        assert!(most_alike(&inputs, |name| hash(name) % 1024) >= 500, "{}", inputs.len());
    }
}

/// Names of an input that is made of what a search found: those of the search itself have fewer.
const FOUND: usize = 1000;

#[test]
fn a_function_that_loops_for_long_names_only_is_searched_with_these() {
    let inputs = searched(b"l\nwidth=1\nheight=2\n", "havoc,collisions");
    let all_long = |names: &Vec<Vec<u8>>| names.iter().all(|name| name.len() > 12);
    assert!(inputs.iter().any(|names| names.len() >= FOUND && all_long(names)), "{}", inputs.len());
}

#[test]
fn nothing_collides_where_each_process_has_a_key() {
    let inputs = searched(b"k\nwidth=1\nheight=2\n", "havoc,collisions");
    assert!(inputs.iter().all(|names| names.len() < FOUND), "{}", inputs.len());
}

#[test]
fn a_selection_without_it_leaves_it_out() {
    assert!(searched(b"d\nwidth=1\nheight=2\n", "havoc").is_empty());
}

//! Performance mutants that are run: hashes that collide, and caches that are not used.

use crate::{
    common::*,
    mutants::built_as,
    mutants_performance::{GATES, build, by_hand, list, scored, scored_one, site_that},
};

const SOURCE: &str = "mutants_run.c";
const BUCKETS: usize = 16384;
const LEVELS: [&str; 2] = ["-O0", "-O2"];

/// Instructions that the mutants of a line add to the input of a score, with each gate.
fn added(score: &Value, word: &str, operator: &str, became: &str) -> [u64; 4] {
    site_that(score, SOURCE, word, operator, became).map(|one| {
        // one that is run need not cost more: the first degraded hash finds its chain empty
        assert!(one["is_run"] == true && (one["infected_by"] == 0 || number(&one["runs"]) > 0), "{one:#}");
        one["worst_added"].as_u64().unwrap_or(0)
    })
}

/// Links that are followed while `n` keys are put into the table of the program, with the hashes of a mutant.
fn links(n: u64, mask: u32, gate: u64) -> u64 {
    let mut chains = vec![0; BUCKETS];
    (1..=n).fold(0, |links, key| {
        let hash = (key as u32).wrapping_mul(2_654_435_761);
        let chain = &mut chains[if key > gate { hash & mask } else { hash } as usize % BUCKETS];
        *chain += 1;
        links + *chain - 1
    })
}

#[test]
fn elements_with_degraded_hashes_are_in_long_chains() {
    for llvm in llvms() {
        for level in LEVELS {
            let scene = Scene::new(&[]);
            build(&scene, SOURCE, &[level], Some(llvm));
            let of =
                |n: u64, became: &str| added(&scored_one(&scene, &format!("h {n}")), "hash", "hash-degraded", became);
            // the second key goes over one link
            let link = of(2, "returns 0")[0];
            assert!(link > 3, "{llvm} {level}: {link}");
            // in one chain, 5,000 keys take longer than a run always may on a busy machine
            for (mask, became, most) in [(0, "returns 0", 2000), (7, "3 bits", 5000)] {
                for n in [16, 17, 300, most] {
                    let expected = GATES.map(|gate| links(n, mask, gate) * link);
                    assert_eq!(of(n, became), expected, "{llvm} {level} {n} {became}");
                }
            }
        }
    }
}

#[test]
fn results_that_are_not_stored_are_computed_for_each_hit() {
    for llvm in llvms() {
        for level in LEVELS {
            let scene = Scene::new(&[]);
            build(&scene, SOURCE, &[level], Some(llvm));
            for (letter, word) in [("f", "flag"), ("k", "key")] {
                let of = |n: u64| added(&scored_one(&scene, &format!("{letter} {n}")), word, "cache-dropped", "");
                let once = of(2)[0];
                assert!(once > 100, "{llvm} {level} {word}: {once}");
                for n in [2_u64, 17, 18, 5000] {
                    let expected = GATES.map(|gate| (n - 1).saturating_sub(gate) * once);
                    assert_eq!(of(n), expected, "{llvm} {level} {word} {n}");
                }
            }
            let of = |n: u64| added(&scored_one(&scene, &format!("m {n}")), "memo", "cache-dropped", "");
            let [ten, twenty] = [of(10), of(20)];
            // 21,852 calls more, against 158
            assert!((130..150).contains(&(twenty[0] / ten[0])), "{llvm} {level}: {ten:?} {twenty:?}");
            assert_eq!([ten[1], twenty[2]], [0, 0], "{llvm} {level}: no more hits than that");
        }
    }
}

#[test]
fn loops_that_mix_are_hashes_and_numbers_and_marks_are_nothing() {
    let scene = Scene::new(&[]);
    for llvm in llvms() {
        build(&scene, SOURCE, &["-O1"], Some(llvm));
        let of = |list: &Value| {
            let all = array(&list["mutants"]).clone();
            let is_run = all.into_iter().filter(|one| one["is_run"] == true);
            let mut found: Vec<String> =
                is_run.map(|one| format!("{} {}", one["operator"], one["function"]).replace('"', "")).collect();
            found.sort();
            found.dedup();
            found
        };
        let expected = [
            "cache-dropped fibonacci",
            "cache-dropped same_as_before",
            "cache-dropped value_of",
            "hash-degraded hash_of",
            "hash-degraded mixed",
        ];
        assert_eq!(of(&list(&scene)), expected, "{llvm}");
        build(&scene, "mutants_performance.c", &["-O1"], Some(llvm));
        assert_eq!(of(&list(&scene)), [""; 0], "{llvm}");
    }
}

#[test]
fn a_chosen_mutant_answers_alike_and_the_program_without_one_does_what_it_would() {
    for llvm in llvms() {
        for level in LEVELS {
            let scene = Scene::new(&[]);
            let program = build(&scene, SOURCE, &[level], Some(llvm));
            let plain = built_as(&scene, SOURCE, &[level], Some(llvm), "plain", "0");
            let list = list(&scene);
            let run = |input: &str, id: Option<&str>| {
                let (code, output, _) = by_hand(&program, &scene.write("input", input.as_bytes()), id);
                (code, output)
            };
            for input in ["h 900", "l 900", "p 900", "f 900", "k 900", "m 20", "t text", "v 9", "x 1", ""] {
                let (code, output, _) = by_hand(&plain, &scene.write("input", input.as_bytes()), None);
                assert_eq!(run(input, None), (code, output), "{llvm} {level} {input}");
            }
            for (input, word, operator, became) in [
                ("h 900", "hash", "hash-degraded", "returns 0"),
                ("h 900", "hash", "hash-degraded", "3 bits"),
                ("f 900", "flag", "cache-dropped", ""),
                ("k 900", "key", "cache-dropped", ""),
                ("m 20", "memo", "cache-dropped", ""),
            ] {
                for mutant in site_that(&list, SOURCE, word, operator, became) {
                    assert_eq!(run(input, mutant["id"].as_str()), run(input, None), "{llvm} {level} {mutant}");
                }
            }
            // this one prints how many links it goes over
            let degraded = site_that(&list, SOURCE, "hash", "hash-degraded", "returns 0");
            for (mutant, gate) in degraded.iter().zip(GATES) {
                let expected = (Some(0), format!("l {}\n", links(900, 0, gate)));
                assert_eq!(run("l 900", mutant["id"].as_str()), expected, "{llvm} {level} {gate}");
            }
        }
    }
}

#[test]
fn runs_kill_by_their_cost_unless_they_do_something_else_and_are_stopped_where_they_do_not_end() {
    let scene = Scene::new(&[("small", b"h 2"), ("large", b"h 3000"), ("other", b"l 3000")]);
    build(&scene, SOURCE, &["-O1"], None);
    let of = |options: &[&str]| {
        let score = scored(&scene, options);
        let all = site_that(&score, SOURCE, "hash", "hash-degraded", "returns 0");
        (score.clone(), all.map(Value::clone))
    };
    let (score, [first, _, third, last]) = of(&["seeds"]);
    assert_eq!((&first["state"], &first["killed"]["by"]), (&"killed".into(), &"cost".into()), "{score:#}");
    assert_eq!((&first["killed"]["input"], number(&first["infected_by"])), (&"seeds/large".into(), 2));
    assert_eq!((number(&first["runs"]), number(&first["changed_runs"])), (3, 1), "one prints its links");
    // the small one does not get past the gate
    assert_eq!((&third["state"], number(&third["runs"])), (&"killed".into(), 2));
    assert_eq!((&last["state"], number(&last["runs"])), (&"not-infected".into(), 0));
    let runs: u64 = array(&score["mutants"]).iter().map(|one| number(&one["runs"])).sum();
    assert_eq!(number(&score["runs"]), 3 + runs);
    let rungs = array(&score["ladder"]);
    let rung = rungs.iter().find(|one| one["operator"] == "hash-degraded" && one["gate"] == 256).expect("a rung");
    assert_eq!((number(&rung["mutants"]), number(&rung["killed"])), (4, 2), "{rung:#}");

    let (_, [first, ..]) = of(&["seeds/large", "seeds/small", "--inputs-per-mutant", "1"]);
    assert_eq!((number(&first["runs"]), &first["worst_input"]), (1, &"seeds/large".into()));

    scene.write("endless/input", b"p 2");
    let (_, [first, second, ..]) = of(&["endless"]);
    assert_eq!((&first["state"], number(&first["runs"]), &first["changed_runs"]), (&"killed".into(), 1, &Value::Null));
    assert_eq!(&second["state"], "not-infected");
}

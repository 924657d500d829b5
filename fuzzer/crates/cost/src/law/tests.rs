//! Laws of synthetic series whose law is known.

use proptest::prelude::*;

use super::*;

/// Sizes with ratio 1.7, none of them a power of two.
fn sizes(from: u64, to: u64) -> Vec<u64> {
    let all = std::iter::successors(Some(from as f64), |n| Some(n * 1.7));
    let mut sizes: Vec<u64> = all.map(|n| n.round() as u64).take_while(|n| *n <= to).collect();
    sizes.iter_mut().filter(|n| n.is_power_of_two()).for_each(|n| *n += 1);
    sizes
}

/// The amount at a size.
type Amount = fn(u64) -> u64;

fn law_of(amount: impl Fn(u64) -> u64) -> Fit {
    law_between(17, 200_000, amount)
}

fn law_between(from: u64, to: u64, amount: impl Fn(u64) -> u64) -> Fit {
    fit(&series(sizes(from, to), amount), None).unwrap()
}

fn series(sizes: impl IntoIterator<Item = u64>, amount: impl Fn(u64) -> u64) -> Vec<Point> {
    sizes.into_iter().map(|size| Point { size, amount: amount(size) }).collect()
}

fn log2(n: u64) -> f64 {
    (n as f64).log2()
}

/// A number that looks random and depends on the size only, 0 to 1.
fn noise(n: u64) -> f64 {
    (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24)
}

#[test]
fn each_class_is_named_with_high_confidence() {
    let known: [(&str, Amount); 20] = [
        ("constant", |_| 4_711),
        ("constant", |_| 0),
        ("logarithmic", |n| (100.0 * log2(n)) as u64 + 40),
        ("linear", |n| 7 * n + 300),
        ("linear", |n| n + 1_000_000),
        ("linear", |n| n / 16 * 5 + n % 16 + 40),
        ("n log n", |n| (n as f64 * log2(n) * 3.0) as u64 + 20 * n),
        ("n log n", |n| (1..=n.min(300_000)).map(|i| (i as f64).log2()).sum::<f64>() as u64 + 10),
        ("quadratic", |n| n * n),
        ("quadratic", |n| n * (n - 1) / 2),
        ("quadratic", |n| n * n + 1_000_000),
        ("quadratic", |n| n * n / 5_000 + 300 * n),
        ("quadratic", |n| n * n / 512 + 9 * n),
        ("cubic", |n| n * (n - 1) * (n - 2) / 6),
        ("cubic", |n| n * n * n / 1_000 + n * n),
        ("n^1.5", |n| (n as f64).powf(1.5) as u64 * 4 + 90 * n),
        ("n^0.5", |n| ((n as f64).sqrt() * 50.0) as u64 + 1_000),
        ("n^1.58", |n| (8e6 * (n as f64).powf(3_f64.log2())) as u64),
        ("n^2.5", |n| (n as f64).powf(2.5) as u64 + n),
        ("n^4", |n| ((n as f64).powi(4) / 1e4) as u64),
    ];
    for (name, amount) in known {
        let fit = law_of(amount);
        assert_eq!((&*fit.name(), fit.confidence), (name, Confidence::High), "{fit:?}");
    }
}

#[test]
fn exponential_laws_are_found_from_few_sizes() {
    let at = |sizes: std::ops::Range<u64>, amount: Amount| fit(&series(sizes, amount), None).unwrap();
    assert_eq!(at(5..25, |n| (1 << n) * 3 + 20 * n + 100).name(), "exponential (2^n)");
    assert_eq!(at(5..25, |n| 1.618_f64.powi(n as i32) as u64 * 30 + 1_000).name(), "exponential (1.62^n)");
    assert_eq!(at(8..40, |n| n * n * 7 + n).name(), "quadratic");
    assert_eq!(at(8..40, |n| n * n * n + 40).name(), "cubic");
}

#[test]
fn n_times_the_whole_part_of_log_n_may_be_one_of_two() {
    let fit = law_of(|n| n * u64::from(n.ilog2()) * 10);
    assert!(fit.law.class() == Class::Linearithmic || fit.rival.is_some(), "{fit:?}");
    assert_ne!(fit.confidence, Confidence::High, "{fit:?}");
}

#[test]
fn memory_that_doubles_grows_in_steps() {
    let fit = law_of(|n| n.next_power_of_two());
    assert_eq!((&*fit.name(), fit.confidence), ("linear in steps", Confidence::Low), "{fit:?}");
    let copied = law_of(|n| n * 6 + n.next_power_of_two());
    assert_eq!(copied.law.class(), Class::Linear, "{copied:?}");
    assert_ne!(copied.confidence, Confidence::High, "{copied:?}");
}

#[test]
fn a_law_that_begins_late_has_an_onset() {
    let known: [(Amount, Class, std::ops::Range<u64>); 2] = [
        (|n| if n < 400 { 90_000 } else { 3 * n * n }, Class::Quadratic, 400..700),
        (|n| if n < 3_000 { n * n } else { 3_000 * n }, Class::Linear, 2_000..6_000),
    ];
    for (amount, class, onset) in known {
        let fit = law_of(amount);
        assert_eq!(fit.law.class(), class, "{fit:?}");
        assert!(fit.onset.is_some_and(|at| onset.contains(&at)), "{fit:?}");
    }
}

#[test]
fn a_plateau_is_a_cap_with_the_law_in_front_of_it() {
    let fit = law_of(|n| n.min(5_000).pow(2) * 2);
    assert_eq!((fit.law.class(), fit.final_law().class()), (Class::Quadratic, Class::Constant), "{fit:?}");
    assert!(fit.cap.as_ref().is_some_and(|cap| cap.size.abs_diff(5_000) < 100 && cap.amount == 50_000_000), "{fit:?}");
    assert_eq!(fit.amount_at(1_000_000), 50_000_000.0);
    // too few sizes in front of it have no law
    let fit = law_of(|n| n.min(40) * 100);
    assert_eq!((fit.law.class(), &fit.cap, fit.confidence), (Class::Constant, &None, Confidence::Medium));
    assert!(fit.onset.is_some_and(|onset| (40..100).contains(&onset)), "{fit:?}");
}

#[test]
fn what_grows_slowly_behind_a_steep_law_does_not_hide_it() {
    let fit = law_of(|n| n.min(5_000).pow(2) * 2 + 40 * n);
    assert_eq!((fit.law.class(), fit.final_law().class()), (Class::Quadratic, Class::Linear), "{fit:?}");
    assert!(fit.cap.as_ref().is_some_and(|cap| cap.size.abs_diff(5_000) < 3_500), "{fit:?}");
    assert!(fit.growth_at(200_000) > 49e6 && fit.growth_at(200_000) < 100e6, "{fit:?}");
}

#[test]
fn the_class_at_a_size_is_the_highest_that_carries_a_third() {
    let fit = law_between(5, 4_000, |n| 41 * n * n * n + 7_600_000 * n * n);
    assert_eq!(fit.law.class(), Class::Cubic, "{fit:?}");
    assert_eq!((fit.class_at(36), fit.class_at(1_000_000)), (Class::Quadratic, Class::Cubic));
    assert!((fit.exponent_at(36) - 2.0).abs() < 0.01, "{fit:?}");
    assert_eq!(law_of(|n| 25 * n + 784_000).growth_at(3), 75.0);
    // most is linear at this size, and little at twice the size
    let mixed = law_between(5, 1_214, |n| 9 * n * n * n / 2 + 3_253 * n * n + 1_229_040 * n + 224_475_043);
    assert_eq!((mixed.class_at(50), mixed.class_at(355)), (Class::Linear, Class::Quadratic), "{mixed:?}");
}

#[test]
fn noise_does_not_make_powers_of_whole_laws() {
    let noisy = |law: fn(f64) -> f64| {
        fit_noisy(&series(sizes(40, 2_000), |n| (law(n as f64) * (1.0 + 0.08 * (noise(n) - 0.5))) as u64)).unwrap()
    };
    for (name, law) in [
        ("linear", (|n| 900.0 * n + 2_000.0) as fn(f64) -> f64),
        ("quadratic", |n| 30.0 * n * n),
        ("cubic", |n| n * n * n),
    ] {
        let fit = noisy(law);
        assert_eq!((&*fit.law.class().to_string(), fit.error < 0.05), (name, true), "{fit:?}");
    }
}

/// Keys that collide in a table which doubles: each is held against all before it, and so are all of them whenever it doubles.
#[test]
fn a_table_that_doubles_does_not_make_logarithms_of_squares() {
    let doubled = |n: u64| (3..n.ilog2() + 1).map(|bits| 5 << (2 * bits)).sum::<u64>();
    let points = |from, factor: f64| {
        let sizes = std::iter::successors(Some(from), |n| Some(n * factor)).take(14).map(|n| n as u64);
        series(sizes, |n| 2_000 * n + 5 * n * n + doubled(n))
    };
    for from in [140.0, 145.0, 190.0] {
        let fit = fit_noisy(&points(from, 1.224)).unwrap();
        assert_eq!((fit.law.class(), &fit.rival), (Class::Quadratic, &None), "{fit:?}");
    }
}

#[test]
fn logarithms_are_no_plateaus() {
    for factor in [1, 10, 1_000] {
        let fit = law_of(|n| u64::from(n.ilog2()) * factor);
        assert_eq!(fit.cap, None, "{fit:?}");
        assert_ne!(fit.final_law().class(), Class::Constant, "{fit:?}");
    }
}

#[test]
fn noise_gives_a_law_no_higher_terms() {
    for (percent, seed) in [(0.5, 1), (0.5, 2), (1.0, 3), (1.0, 4), (1.5, 5)] {
        let noisy = |amount: f64, n: u64| (amount * (1.0 + (noise(n + seed) - 0.5) * percent / 50.0)) as u64;
        let linear = law_of(|n| noisy(40.0 * n as f64 + 500.0, n));
        assert_eq!(linear.law.class(), Class::Linear, "{linear:?}");
        let quadratic = law_of(|n| noisy((n * n) as f64 + 500.0, n));
        assert_eq!(quadratic.law.class(), Class::Quadratic, "{quadratic:?}");
    }
}

#[test]
fn equal_steps_make_a_polynomial_exact_unless_it_misses_the_large_sizes() {
    let stepped = |to, amount: Amount| {
        let far = Point { size: 64 * 100, amount: amount(64 * 100) };
        let steps = EqualSteps { start: 64, step: 64, amounts: (1..9).map(|i| amount(64 * i)).collect(), far };
        fit(&series(sizes(17, to), amount), Some(&steps)).unwrap()
    };
    let exact = stepped(60_000, |n| n * (n + 1) / 2 * 12 + 70);
    assert_eq!((&*exact.to_string(), &*exact.law.to_string()), ("exactly quadratic", "6 n^2 + 6 n + 70"));
    assert!(exact.exact && exact.confidence == Confidence::High);
    let other = stepped(900_000, |n| if n < 10_000 { 5 * n } else { n * n / 2_000 });
    assert!(!other.exact && other.law.class() == Class::Quadratic, "{other:?}");
}

#[test]
fn too_few_or_unordered_sizes_have_no_law() {
    let point = |size, amount| Point { size, amount };
    assert_eq!(fit(&[], None), None);
    assert_eq!(fit(&[point(1, 1), point(2, 2), point(3, 3)], None), None);
    assert_eq!(fit(&[point(1, 1), point(2, 2), point(2, 3), point(4, 4)], None), None);
    let few = fit(&[point(3, 3), point(5, 5), point(9, 9), point(15, 15)], None).unwrap();
    assert_eq!(few.confidence, Confidence::Low, "{few:?}");
}

#[test]
fn laws_are_ordered_by_what_outgrows_what() {
    let all = [
        Class::Constant,
        Class::Logarithmic,
        Class::Power(0.5),
        Class::Linear,
        Class::Linearithmic,
        Class::Power(1.5),
        Class::Quadratic,
        Class::Power(2.6),
        Class::Cubic,
        Class::Exponential(1.01),
        Class::Exponential(2.0),
    ];
    for pair in all.windows(2) {
        assert!(pair[1].is_worse_than(&pair[0]), "{pair:?}");
        assert!(!pair[0].is_worse_than(&pair[1]), "{pair:?}");
    }
    assert!(!Class::Power(1.51).is_worse_than(&Class::Power(1.5)));
    assert!(Class::Linearithmic.is_superlinear() && !Class::Linear.is_superlinear());
}

#[test]
fn the_sum_of_edges_finds_what_the_total_hides() {
    let linear = law_of(|n| 300 * n);
    let hidden = law_of(|n| n * n / 5_000);
    let start = law_of(|_| 900);
    let parts = [&linear, &hidden, &start].map(|fit| Part { fit, weight: 2 });
    let total = sum(parts, 200_000);
    assert_eq!(total.law.class(), Class::Quadratic);
    let crossover = total.law.crossover().unwrap();
    assert!((1_470_000.0..1_530_000.0).contains(&crossover), "{crossover}");
    assert!(total.sure > 0.99);
    let tiny = law_of(|n| n * n / 1_000_000_000);
    assert_eq!(sum([&linear, &tiny].map(|fit| Part { fit, weight: 1 }), 200_000).law.class(), Class::Linear);
}

#[test]
fn laws_are_read_as_they_were_written() {
    let fit = law_of(|n| n.min(5_000).pow(2) * 2);
    let text = serde_json::to_string(&fit).unwrap();
    assert_eq!(serde_json::from_str::<Fit>(&text).unwrap(), fit);
    assert_eq!(serde_json::to_string(&Class::Power(1.5)).unwrap(), r#"{"power":1.5}"#);
}

#[test]
fn a_law_gives_the_size_for_an_amount() {
    let law = Law::new([
        Term { class: Class::Quadratic, coefficient: 2.0 },
        Term { class: Class::Constant, coefficient: 7.0 },
        Term { class: Class::Linear, coefficient: 0.0 },
    ]);
    assert_eq!(law.terms.len(), 2);
    assert!((law.size_for(2_000_007.0, 1.0).unwrap() - 1_000.0).abs() < 1e-6);
    assert_eq!(Law::constant(5.0).size_for(6.0, 1.0), None);
    assert_eq!(law.to_string(), "2 n^2 + 7");
}

proptest! {
    #[test]
    fn any_series_has_a_law_without_panic(amounts in prop::collection::vec(0_u64..u64::MAX / 2, 4..20)) {
        let points: Vec<Point> = sizes(5, u64::MAX >> 20).iter().zip(&amounts).map(|(&size, &amount)| Point { size, amount }).collect();
        let fit = fit(&points, None).unwrap();
        prop_assert!(fit.amount_at(1_000_000).is_finite() || fit.law.class().is_worse_than(&Class::Cubic));
        prop_assert!(!fit.to_string().is_empty());
    }

    #[test]
    fn polynomials_are_named_by_their_degree(degree in 1_u32..=3, lead in 1_u64..50, linear in 0_u64..50, start in 0_u64..10_000) {
        let fit = law_of(|n| lead * n.pow(degree) + linear * n + start);
        let wanted = [Class::Linear, Class::Quadratic, Class::Cubic][degree as usize - 1];
        prop_assert_eq!(fit.law.class(), wanted);
        prop_assert_eq!(fit.confidence, Confidence::High);
    }

    #[test]
    fn predictions_at_ten_times_the_size_are_within_a_tenth(lead in 1_u64..50, linear in 0_u64..500) {
        let amount = |n: u64| (lead as f64 * n as f64 * log2(n)) as u64 + linear * n;
        let fit = law_of(amount);
        let far = 2_000_000;
        prop_assert!((fit.amount_at(far) / amount(far) as f64 - 1.0).abs() < 0.1);
    }
}

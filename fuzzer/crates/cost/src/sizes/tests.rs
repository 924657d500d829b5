//! Tests of the size model. A program is a function from the size of an input to its instructions.

use super::*;

const MAX: u64 = 100_000;

/// Simulated program: instructions for (size of the seed, size of the input); the input is the seed repeated, the last
/// copy possibly cut. `None` if the program rejects the input.
type Program = dyn Fn(u64, u64) -> Option<u64>;

fn cost(instructions: u64) -> Cost {
    Cost::from([(Resource::Instructions, instructions), (Resource::Time, instructions * 2)])
}

/// Measurements of `program` with a seed of `bytes`: 64 parts of it, and all doublings up to [`MAX`].
fn series(bytes: u64, program: &Program) -> Series {
    let run = |size: u64| program(bytes, size).map(|instructions| (size, cost(instructions)));
    let mut sizes: Vec<u64> = (0..64).map(|part| bytes * part / 64).collect();
    sizes.dedup();
    let doubled = std::iter::successors(Some(2 * bytes), |size| Some(2 * size)).take_while(|&size| size < MAX);
    Series {
        seed: run(bytes).expect("accepted"),
        parts: sizes.iter().copied().filter_map(run).collect(),
        joined: doubled.chain([MAX]).filter_map(run).collect(),
        cheapest: Some(cost(sizes.iter().filter_map(|&size| program(bytes, size)).min().unwrap_or(10))),
    }
}

fn model(sizes: &[u64], program: &Program) -> SizeModel {
    let mut series: Vec<Series> = sizes.iter().map(|&bytes| series(bytes, program)).collect();
    series.sort_by_key(|one| one.seed.0);
    let median = series[(series.len() - 1) / 2].seed.1;
    SizeModel::new(median, &series)
}

/// `instructions` of an input of `bytes` as a multiple of an ordinary input of its size.
fn ratio(model: &SizeModel, instructions: u64, bytes: u64) -> f64 {
    model.ratio(Resource::Instructions, instructions, bytes)
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.02, "{value} is not {expected}");
}

#[test]
fn a_large_input_of_a_linear_program_is_ordinary_and_three_times_its_cost_is_not() {
    for sizes in [&[40][..], &[40, 4_000, 300], &[700, 700, 700]] {
        let model = model(sizes, &|_, size| Some(5_000 + 7 * size));
        for bytes in [700, 5_000, MAX] {
            assert_near(ratio(&model, 5_000 + 7 * bytes, bytes), 1.0);
            assert_near(ratio(&model, 3 * (5_000 + 7 * bytes), bytes), 3.0);
        }
        assert_near(model.line(Resource::Instructions).unwrap().fixed, 5_000.0);
    }
}

#[test]
fn an_input_that_is_smaller_than_the_median_seed_is_compared_with_that() {
    let model = model(&[1_000], &|_, size| Some(7 * size));
    assert_near(ratio(&model, 14_000, 10), 2.0);
}

#[test]
fn a_fixed_cost_is_expected_of_every_size() {
    let model = model(&[16, 64], &|_, _| Some(900));
    assert_near(ratio(&model, 9_000, MAX), 10.0);
    let line = model.line(Resource::Instructions).unwrap();
    assert_eq!((line.per_byte, line.per_byte_high), (0.0, 0.0));
}

#[test]
fn a_quadratic_program_stays_slow_even_on_ordinary_inputs() {
    let model = model(&[100], &|_, size| Some(size * size));
    assert!(ratio(&model, MAX * MAX, MAX) > 10.0, "{}", ratio(&model, MAX * MAX, MAX));
    let twice = SizeModel::new(
        cost(10_000),
        &[Series { joined: vec![(200, cost(40_000))], ..series(100, &|_, size| Some(size * size)) }],
    );
    assert!(ratio(&twice, 2 * 40_000, 200) > 1.9, "{}", ratio(&twice, 80_000, 200));
}

#[test]
fn a_program_that_takes_n_log_n_is_ordinary_up_to_thousands_of_seeds() {
    let sorts = |_, size: u64| Some((size as f64 * (size as f64).log2().max(1.0)) as u64);
    let model = model(&[100], &sorts);
    assert!(ratio(&model, sorts(0, MAX).unwrap(), MAX) < 2.0);
}

#[test]
fn a_byte_costs_what_accepted_inputs_say_however_the_others_are_refused() {
    let known: [(&[u64], &Program); 6] = [
        // stops after the first document
        (&[200], &|seed, size| Some(300 + 50 * size.min(seed) + 2 * size.saturating_sub(seed))),
        // joined seeds are refused
        (&[200], &|seed, size| (size <= seed).then_some(300 + 50 * size)),
        (&[200], &|seed, size| Some(if size > seed { 90 } else { 300 + 50 * size })),
        // only whole seeds are accepted, others refused by a return like any other, or what follows is ignored
        (&[200, 300], &|seed, size| (size == seed).then_some(10 + 50 * size)),
        (&[200, 300], &|seed, size| Some(if size == seed { 10 + 50 * size } else { 10 })),
        (&[200], &|seed, size| Some(if size >= seed { 10 + 50 * seed } else { 10 })),
    ];
    for (number, (sizes, program)) in known.into_iter().enumerate() {
        let fixed = if number < 3 { 300 } else { 10 };
        assert_near(ratio(&model(sizes, program), fixed + 50 * MAX, MAX), 1.0);
    }
    // a header does not make dear bytes ordinary
    let header = model(&[64], &|_, size| Some(7 * size + if size >= 10 { 100_000 } else { 0 }));
    assert_near(header.margin(Resource::Instructions, MAX), 1.0);
}

#[test]
fn work_that_begins_with_a_whole_seed_is_not_the_price_of_its_bytes() {
    let setup = |seed: u64, size: u64| Some(if size < seed { 10 + size } else { 100_000 + 50 * size });
    let model = model(&[10], &setup);
    assert!(ratio(&model, 3 * (100_000 + 50 * MAX), MAX) > 2.0);
    assert!(ratio(&model, 100_000 + 50 * MAX, MAX) < 1.1);
}

#[test]
fn as_much_as_the_dear_pieces_of_the_seeds_is_still_ordinary() {
    let noisy = |factor: u64| series(1_000, &move |_, size| Some(500 + factor * size));
    let seeds: Vec<Series> = [10, 20, 30, 12, 25, 30, 15].map(noisy).into();
    let whole = SizeModel::new(cost(500 + 20_000), &seeds);
    let line = whole.line(Resource::Instructions).unwrap();
    assert_near(line.per_byte, 20.0);
    assert_near(line.per_byte_high, 30.0);
    for resource in [Resource::Instructions, Resource::Time] {
        assert_near(whole.margin(resource, MAX), 1.5);
    }
    // every fourth byte is three times as much work as the others
    let mixed = model(&[64 * 4], &|_, size| Some(10 * size + 20 * (size / 4)));
    assert_near(mixed.line(Resource::Instructions).unwrap().per_byte, 15.0);
    let mixed = model(&[64], &|_, size| Some(10 * size + 20 * (size / 4)));
    assert_near(mixed.line(Resource::Instructions).unwrap().per_byte_high, 30.0);
}

#[test]
fn time_is_expected_to_grow_as_instructions_do() {
    let model = model(&[100], &|_, size| Some(7 * size));
    assert_near(model.ordinary(Resource::Time, MAX), 14.0 * MAX as f64);
}

#[test]
fn without_bytes_or_seeds_the_baseline_is_expected() {
    for series in [&[][..], &[Series::default()]] {
        let model = SizeModel::new(cost(70), series);
        assert_near(model.ordinary(Resource::Instructions, MAX), 70.0);
        assert_near(model.margin(Resource::Instructions, MAX), 1.0);
    }
}

//! Property tests: parsing arbitrary bytes terminates in memory proportional to their number, and the result can be
//! queried.

use proptest::prelude::*;

use super::{LineTable, Numbers, SourceFunction, Sums};

const SOURCES: [SourceFunction; 2] = [
    SourceFunction { file: c"/src/a.c", function: c"a" },
    SourceFunction { file: c"/usr/include/b.h", function: c"b" },
];

/// Generates bytes; many small ones, which are more often valid tables.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let small = prop_oneof![8 => 0u8..4, 1 => any::<u8>()];
    prop_oneof![prop::collection::vec(any::<u8>(), 0..200), prop::collection::vec(small, 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_make_a_table_that_panics(
        bytes in bytes(),
        sources in 0usize..3,
        edges: Vec<u64>,
        sums in prop::collection::vec(0u16..4, 0..20),
        charges in 0usize..3,
    ) {
        let sources = SOURCES[..sources.min(2)].to_vec();
        if let Some(table) = LineTable::parse(sources, Sums::new(&sums), charges, Numbers { bytes: &bytes }) {
            prop_assert!(table.groups.len() + table.instances.len() <= bytes.len());
            let executed = table.executed(&edges, &edges);
            prop_assert!(executed.len() <= bytes.len());
            let _ = table.edges_of(|_, line| line == 1);
            prop_assert!(table.lines().count() <= bytes.len() && table.functions().count() <= bytes.len());
        }
    }

    #[test]
    fn a_length_that_is_not_there_takes_no_memory(length: u64, rest in bytes()) {
        let mut bytes = Vec::new();
        let mut left = length;
        while left > 0x7f {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes.extend(rest);
        let _ = LineTable::parse(SOURCES.to_vec(), Sums::default(), 0, Numbers { bytes: &bytes });
    }
}

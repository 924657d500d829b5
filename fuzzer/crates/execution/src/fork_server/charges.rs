//! Notes of a charging run of a program with performance mutants (`compiler-wrapper/runtime/performance.h`).

/// Mutants of a site, which differ by their gate (`QGM_GATES`).
const GATES: usize = 4;
/// Words of a site (`QGM_SITE_WORDS`).
const SITE_WORDS: usize = 5;
/// Bytes in front of those of the sites (`QGM_INSTRUCTIONS_BYTES`).
const INSTRUCTIONS_BYTES: usize = 4096;

/// Costs of one run, and what each mutant would add to them. The unit is an instruction of the IR before it is optimised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charges {
    /// Instructions of the run itself.
    pub instructions: u64,
    /// The words of all sites.
    words: Vec<u64>,
}

impl Charges {
    /// Number of bytes that a run of a program with so many mutants notes.
    pub(super) fn bytes(mutants: u64) -> usize {
        INSTRUCTIONS_BYTES + mutants as usize / GATES * SITE_WORDS * size_of::<u64>()
    }

    /// Reads what a run has noted.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let words = |bytes: &[u8]| -> Vec<u64> {
            let (words, _) = bytes.as_chunks();
            words.iter().map(|word| u64::from_ne_bytes(*word)).collect()
        };
        let (first, sites) = bytes.split_at(bytes.len().min(INSTRUCTIONS_BYTES));
        Self { instructions: words(first).first().copied().unwrap_or(0), words: words(sites) }
    }

    /// How often the run has come to the place of a mutant, by its place in the table.
    pub fn reached(&self, mutant: u32) -> u64 {
        self.site(mutant).first().copied().unwrap_or(0)
    }

    /// Instructions that a mutant would add to the run, by its place in the table: what is charged past its gate.
    pub fn added(&self, mutant: u32) -> u64 {
        let past = self.site(mutant).get(1 + mutant as usize % GATES..).unwrap_or_default();
        past.iter().fold(0, |sum: u64, more| sum.saturating_add(*more))
    }

    fn site(&self, mutant: u32) -> &[u64] {
        let start = mutant as usize / GATES * SITE_WORDS;
        self.words.get(start..start + SITE_WORDS).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_runtime() {
        let header = crate::testing::runtime("performance.h");
        for (name, number) in
            [("QGM_GATES", GATES), ("QGM_SITE_WORDS", SITE_WORDS), ("QGM_INSTRUCTIONS_BYTES", INSTRUCTIONS_BYTES)]
        {
            assert!(header.contains(&format!("#define {name} {number}\n")), "{name}");
        }
    }

    #[test]
    fn a_mutant_costs_what_is_charged_at_its_gate_and_at_later_ones() {
        let mut bytes = vec![0; Charges::bytes(8)];
        bytes[..8].copy_from_slice(&7_u64.to_ne_bytes());
        for (place, number) in [2_u64, 1, 10, 100, u64::MAX].into_iter().enumerate() {
            let at = INSTRUCTIONS_BYTES + (SITE_WORDS + place) * 8;
            bytes[at..at + 8].copy_from_slice(&number.to_ne_bytes());
        }
        let mut charges = Charges::read(&bytes);
        assert_eq!(charges.instructions, 7);
        assert_eq!([0, 4, 7, 8].map(|mutant| charges.reached(mutant)), [0, 2, 2, 0]);
        assert_eq!([4, 7].map(|mutant| charges.added(mutant)), [u64::MAX, u64::MAX]);
        charges.words[9] = 1000;
        assert_eq!([3, 4, 5, 6, 7, 8].map(|mutant| charges.added(mutant)), [0, 1111, 1110, 1100, 1000, 0]);
    }
}

//! Sources of the counts of a harness: quagmire's pass, SanitizerCoverage, or both.

use std::sync::atomic::Ordering::SeqCst;

use super::{
    abi::{RawFunction, RawModules, source},
    info::Instrumentation,
};

/// Number of functions, or of edges without a table of functions, by the source of their counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Functions that quagmire's pass counts.
    pub pass: usize,
    /// Those that SanitizerCoverage's guards count.
    pub guards: usize,
    /// Those that its 8-bit counters count.
    pub counters: usize,
    /// Those whose 8-bit counters count in 32 bits.
    pub widened: usize,
    /// Those of which its flags say whether they ran, not how often.
    pub flags: usize,
    /// Number of slots for return addresses; 0 if nothing counts by them.
    pub pcs: usize,
    /// Some object has a table of addresses for another number of edges.
    pub has_wrong_table: bool,
}

impl Sources {
    /// Reads the sources of the objects that are registered now.
    pub(crate) fn of(modules: &RawModules) -> Self {
        let mut sources = Self::default();
        for module in &modules.module[..modules.count.load(SeqCst) as usize] {
            let module = module.get();
            let bytes = (module.functions_stop as usize).saturating_sub(module.functions_start as usize);
            let functions = bytes / size_of::<RawFunction>();
            match module.source {
                source::GUARDS => sources.guards += functions,
                source::COUNTERS => sources.counters += functions,
                source::WIDENED => sources.widened += functions,
                source::FLAGS => sources.flags += functions,
                source::PCS => sources.pcs += functions,
                source::EXTRA => {}
                _ => sources.pass += functions,
            }
            sources.has_wrong_table |= module.has_wrong_table != 0;
        }
        sources
    }

    /// The instrumentation that these sources make together: of several kinds of SanitizerCoverage the least exact one.
    pub fn instrumentation(&self) -> Instrumentation {
        let by_exactness = [
            (self.flags, Instrumentation::SancovFlags),
            (self.pcs, Instrumentation::SancovPcs),
            (self.counters, Instrumentation::SancovCounters),
            (self.widened, Instrumentation::SancovWidened),
            (self.guards, Instrumentation::SancovGuards),
        ];
        match by_exactness.into_iter().find(|(functions, _)| *functions > 0) {
            None => Instrumentation::Counts,
            Some(_) if self.pass > 0 => Instrumentation::Mixed,
            Some((_, least_exact)) => least_exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_as_exact_as_the_least_exact_of_its_objects() {
        let of = |[pass, guards, widened, counters, pcs, flags]: [usize; 6]| {
            Sources { pass, guards, widened, counters, flags, pcs, has_wrong_table: false }.instrumentation()
        };
        assert_eq!(of([0, 0, 0, 0, 0, 0]), Instrumentation::Counts);
        assert_eq!(of([7, 0, 0, 0, 0, 0]), Instrumentation::Counts);
        assert_eq!(of([0, 7, 0, 0, 0, 0]), Instrumentation::SancovGuards);
        assert_eq!(of([0, 7, 1, 0, 0, 0]), Instrumentation::SancovWidened);
        assert_eq!(of([0, 7, 1, 1, 0, 0]), Instrumentation::SancovCounters);
        assert_eq!(of([0, 7, 1, 1, 1, 0]), Instrumentation::SancovPcs);
        assert_eq!(of([0, 7, 1, 1, 1, 1]), Instrumentation::SancovFlags);
        assert_eq!(of([1, 7, 0, 0, 0, 0]), Instrumentation::Mixed);
        assert_eq!(of([1, 0, 0, 0, 0, 2]), Instrumentation::Mixed);
    }
}

//! Validity of runs: which inputs the target has accepted.

use crate::{
    abi::{Event, Status},
    program::Program,
};

/// Condition under which a run is valid: it returned without rejecting its input (-1), a process that ended did so with
/// exit status 0, and one of certain edges was executed, if that is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validity {
    /// Edges of which a valid run executes at least one, as (function, edge of the function); empty if that is not
    /// asked for.
    required: Vec<(usize, usize)>,
}

impl Validity {
    /// Makes only those runs valid that execute at least one of these edges of the program.
    pub(crate) fn require(&mut self, program: &Program, edges: &[u32]) {
        let place = |&edge: &u32| {
            let function = program.function_of_edge(edge as usize);
            (function, edge as usize - program.functions()[function].first_edge as usize)
        };
        self.required = edges.iter().map(place).collect();
    }

    /// Whether the run that has just ended, whose counts are still there, is valid.
    #[inline]
    pub(crate) fn holds(&self, status: Status, event: &Event, program: &Program) -> bool {
        let is_executed = |&(function, edge): &(usize, usize)| {
            let function = &program.functions()[function];
            let entered = function.entered();
            // counts of functions that were not entered are of an earlier run
            entered != 0 && (edge == 0 || function.others()[edge - 1] != 0)
        };
        status == Status::Returned
            && event.exit_code == 0
            && (self.required.is_empty() || self.required.iter().any(is_executed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::made_up;

    #[test]
    fn a_run_is_valid_if_it_ended_well_and_got_where_it_should() {
        let (program, counts) = made_up(&[2, 3]);
        counts.set(0, &[1, 0]);
        counts.set(1, &[1, 0, 2]);
        let ended = |exit_code| Event { exit_code, ..Event::default() };
        let mut validity = Validity::default();
        assert!(validity.holds(Status::Returned, &ended(0), &program));
        assert!(!validity.holds(Status::Returned, &ended(1), &program));
        for status in [Status::Rejected, Status::Crashed, Status::Hung, Status::Memory, Status::Exited] {
            assert!(!validity.holds(status, &ended(0), &program), "{status:?}");
        }
        for (edges, is_valid) in [(&[1][..], false), (&[3], false), (&[1, 4], true), (&[0], true), (&[2], true)] {
            validity.require(&program, edges);
            assert_eq!(validity.holds(Status::Returned, &ended(0), &program), is_valid, "{edges:?}");
        }
    }
}

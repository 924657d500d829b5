//! The program that accepts or rejects inputs, with a budget and a memory.

use std::collections::HashMap;

/// Number of answers that are remembered.
const REMEMBERED: usize = 1 << 20;

/// Counts the questions to a program, remembers its answers, and stops asking when the budget is used up.
pub(crate) struct Oracle<'a> {
    /// Whether the program accepts an input; `None` if the budget is used up.
    ask: &'a mut dyn FnMut(&[u8]) -> Option<bool>,
    answers: HashMap<Vec<u8>, bool>,
    is_exhausted: bool,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(ask: &'a mut dyn FnMut(&[u8]) -> Option<bool>) -> Self {
        Self { ask, answers: HashMap::new(), is_exhausted: false }
    }

    /// Whether the program accepts an input. Once the budget is used up, it accepts nothing more that is not known.
    pub(crate) fn accepts(&mut self, input: &[u8]) -> bool {
        if let Some(&answer) = self.answers.get(input) {
            return answer;
        }
        if self.is_exhausted {
            return false;
        }
        let Some(answer) = (self.ask)(input) else {
            self.is_exhausted = true;
            return false;
        };
        if self.answers.len() == REMEMBERED {
            self.answers.clear();
        }
        self.answers.insert(input.to_vec(), answer);
        answer
    }

    /// Whether the budget is used up.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Inputs that were accepted so far, in the order of their bytes.
    pub(crate) fn accepted(&self) -> Vec<Vec<u8>> {
        let mut accepted: Vec<Vec<u8>> =
            self.answers.iter().filter(|answer| *answer.1).map(|answer| answer.0.clone()).collect();
        accepted.sort();
        accepted
    }
}

//! Mutation of an input by its draws.

use libafl_bolts::rands::StdRand;

use super::bank::Bank;
use super::edit::Edit;
use super::log::Log;
use super::moves;
use super::overlay::Overlay;
use super::sites::Sites;
use super::values;
use crate::operator::Operator;

/// Number of attempts to change something.
const ATTEMPTS: usize = 4;

/// An input made from another by its draws.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its bytes, before the overlay.
    pub bytes: Vec<u8>,
    /// Values of draws that the input does not have in their places.
    pub overlay: Overlay,
    /// Draws of the parent that got new bytes, by their numbers; empty if parts were moved. For
    /// [`Sites::observe`] if they are all of one site.
    pub changed: Vec<u32>,
}

/// Mutates inputs by their draws.
pub struct Mutator<'a> {
    /// Learned kinds of sites.
    pub sites: &'a Sites,
    /// Parts of other entries.
    pub bank: &'a Bank,
    /// Maximum size of a mutant, in bytes.
    pub limit: usize,
    /// Whether mutants may have an overlay.
    pub has_overlay: bool,
    /// Changes the contents of texts and bytes.
    pub text: &'a mut dyn FnMut(&mut Vec<u8>, &mut StdRand),
}

impl<'a> Mutator<'a> {
    /// Makes a mutant; `None` if the operator finds nothing to change in this input.
    pub fn mutate(&mut self, log: &Log, operator: Operator, rand: &mut StdRand) -> Option<Mutant> {
        (0..ATTEMPTS).find_map(|_| {
            let edit = self.edit(log, operator, rand)?;
            let bytes = edit.render(log, self.limit, rand)?;
            if bytes == log.bytes() {
                return None;
            }
            let overlay = if self.has_overlay { edit.overlay(log) } else { Overlay::default() };
            let changed =
                if edit.pieces.len() == 1 { edit.changed.keys().map(|&at| at as u32).collect() } else { vec![] };
            Some(Mutant { bytes, overlay, changed })
        })
    }

    /// The change that an operator makes.
    pub(super) fn edit(&mut self, log: &Log, operator: Operator, rand: &mut StdRand) -> Option<Edit<'a>> {
        match operator {
            Operator::Regenerate => values::regenerate(log, self.sites, rand),
            Operator::SplicePart => moves::splice(log, self.bank, rand),
            Operator::DeletePart => moves::delete(log, self.sites, rand),
            Operator::RepeatPart => moves::repeat(log, self.sites, self.limit, rand),
            Operator::NestPart => moves::nest(log, self.limit, rand),
            Operator::ShuffleParts => moves::shuffle(log, rand),
            Operator::ChangeValues => values::change(log, self.sites, self.text, rand),
            Operator::EqualValues => values::equalise(log, self.sites, rand),
            Operator::DifferentValues => values::differentiate(log, self.sites, rand),
        }
    }
}

//! Inputs of one form at all sizes: instances of a template, or parts of a finding.

use quagmire_choices::{
    template::Template,
    units::{Taken, Units},
};

/// Inputs by their number of repetitions or units.
pub(super) enum Family<'a> {
    /// Instances of a template.
    Template(Template),
    /// The finding with some of its units.
    Parts(Units<'a>, Taken),
}

impl Family<'_> {
    /// The bytes at `n`.
    ///
    /// # Errors
    /// The size if it is more than `most` bytes; that of the finding if it has not so many units.
    pub(super) fn render(&self, n: u64, most: u64) -> Result<Vec<u8>, u64> {
        match self {
            Self::Template(template) => template.render(n, most),
            Self::Parts(units, taken) if n <= units.count() as u64 => Ok(units.take(n as usize, *taken)),
            Self::Parts(..) => Err(self.size(n)),
        }
    }

    /// Number of bytes at `n`: expected ones for more units than the finding has.
    pub(super) fn size(&self, n: u64) -> u64 {
        match self {
            Self::Template(template) => template.size(n),
            Self::Parts(units, taken) => {
                let (count, whole) = (units.count() as u64, units.take(units.count(), *taken).len() as u64);
                (u128::from(whole) * u128::from(n) / u128::from(count.max(1))) as u64
            }
        }
    }

    /// The largest `n` of at most so many bytes.
    pub(super) fn n_for_size(&self, bytes: u64) -> u64 {
        match self {
            Self::Template(template) => template.n_for_size(bytes),
            Self::Parts(units, _) => bytes * units.count() as u64 / self.size(units.count() as u64).max(1),
        }
    }

    /// The largest `n` that the numbers in it have digits for, if there is one.
    pub(super) fn largest_n(&self) -> Option<u64> {
        self.template().and_then(Template::largest_n)
    }

    /// The template, unless it is parts.
    pub(super) fn template(&self) -> Option<&Template> {
        match self {
            Self::Template(template) => Some(template),
            Self::Parts(..) => None,
        }
    }

    /// Name of what is repeated or counted, for sentences: `" "`, `words`.
    pub(super) fn unit(&self) -> String {
        match self {
            Self::Template(template) => template.pump(),
            Self::Parts(units, _) => units.kind.to_string(),
        }
    }
}

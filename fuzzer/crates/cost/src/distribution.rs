//! Distribution of each resource's use over all executions, kept in HDR histograms.

use std::collections::BTreeMap;

use hdrhistogram::{
    Histogram,
    serialization::{Deserializer as HdrDeserializer, Serializer as _, V2Serializer},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};

use super::resource::{Cost, Resource};

/// Significant decimal digits of the histograms: percentiles are exact to 1 %, and a histogram stays at a few
/// kilobytes, which fit into the processor's cache.
const DIGITS: u8 = 2;

/// Distribution of one resource.
#[derive(Clone, Debug, PartialEq)]
struct Amounts {
    histogram: Histogram<u64>,
    /// Exact minimum; the histogram rounds. `u64::MAX` without runs.
    smallest: u64,
    /// Exact maximum; the histogram rounds.
    largest: u64,
}

impl Default for Amounts {
    fn default() -> Self {
        // 2 is a valid number of digits
        Self { histogram: Histogram::new(DIGITS).expect("2 digits"), smallest: u64::MAX, largest: 0 }
    }
}

impl Serialize for Amounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.histogram, &mut bytes).map_err(S::Error::custom)?;
        (bytes, self.smallest, self.largest).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Amounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (bytes, smallest, largest) = <(Vec<u8>, u64, u64)>::deserialize(deserializer)?;
        let mut histogram: Histogram<u64> =
            HdrDeserializer::new().deserialize(&mut bytes.as_slice()).map_err(D::Error::custom)?;
        if histogram.sigfig() != DIGITS {
            return Err(D::Error::custom("a histogram of other percentiles"));
        }
        // the serialised form loses the setting that the histogram may grow, and without it larger amounts would be
        // refused
        histogram.auto(true);
        Ok(Self { histogram, smallest, largest })
    }
}

/// Distributions of all resources, one histogram each; part of the checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distributions {
    amounts: [Amounts; Resource::ALL.len()],
}

/// Summary statistics of one resource. Percentiles are exact to 1 %; minimum and maximum are exact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Percentiles {
    /// Number of runs.
    pub count: u64,
    /// The smallest amount; 0 without runs.
    pub min: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// Amounts that 50, 90, 99 and 99.9 % of the runs do not exceed.
    pub percentiles: [u64; 4],
    /// The largest amount.
    pub max: u64,
    /// Histogram as (upper bound, number of runs), four bins for each doubling; empty bins are left out.
    pub bins: Vec<(u64, u64)>,
}

impl Distributions {
    /// Adds the cost of one run.
    #[inline]
    pub fn record(&mut self, cost: &Cost) {
        for (resource, amounts) in Resource::ALL.into_iter().zip(&mut self.amounts) {
            let amount = cost[resource];
            // cannot fail: the histogram grows as needed, up to u64::MAX
            let _ = amounts.histogram.record(amount);
            amounts.smallest = amounts.smallest.min(amount);
            amounts.largest = amounts.largest.max(amount);
        }
    }

    /// Adds all runs of `other`, such as those of another client.
    pub fn add(&mut self, other: &Self) {
        for (amounts, others) in self.amounts.iter_mut().zip(&other.amounts) {
            // cannot fail: the histogram grows as needed
            let _ = amounts.histogram.add(&others.histogram);
            amounts.smallest = amounts.smallest.min(others.smallest);
            amounts.largest = amounts.largest.max(others.largest);
        }
    }

    /// Statistics of one resource; all zero without runs.
    pub fn of(&self, resource: Resource) -> Percentiles {
        let Amounts { histogram, smallest, largest } = &self.amounts[resource as usize];
        if histogram.is_empty() {
            return Percentiles::default();
        }
        let mut bins = BTreeMap::new();
        for value in histogram.iter_recorded() {
            let bin: &mut u64 = bins.entry(upper_bound(value.value_iterated_to())).or_default();
            *bin = bin.saturating_add(value.count_at_value());
        }
        Percentiles {
            count: histogram.len(),
            min: *smallest,
            mean: histogram.mean(),
            percentiles: [0.5, 0.9, 0.99, 0.999].map(|share| histogram.value_at_quantile(share).min(*largest)),
            max: *largest,
            bins: bins.into_iter().collect(),
        }
    }
}

/// Upper bound of the bin of `amount`: the largest amount in the same quarter of a doubling.
fn upper_bound(amount: u64) -> u64 {
    let shift = (u64::BITS - amount.leading_zeros()).saturating_sub(3);
    amount | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instructions(amounts: impl IntoIterator<Item = u64>) -> Distributions {
        let mut distributions = Distributions::default();
        for instructions in amounts {
            distributions.record(&Cost::from([(Resource::Instructions, instructions)]));
        }
        distributions
    }

    #[test]
    fn percentiles_are_exact_to_one_percent_and_the_ends_exactly() {
        let known = instructions(1..=100_000).of(Resource::Instructions);
        assert_eq!((known.count, known.min, known.max), (100_000, 1, 100_000));
        for (percentile, exact) in known.percentiles.into_iter().zip([50_000.0, 90_000.0, 99_000.0, 99_900.0]) {
            assert!((percentile as f64 / exact - 1.0).abs() < 0.01, "{percentile} for {exact}");
        }
        assert_eq!(known.bins.iter().map(|bin| bin.1).sum::<u64>(), 100_000);
        assert!(known.bins.is_sorted());
    }

    #[test]
    fn distributions_survive_a_checkpoint() {
        let before = instructions([0, 1, 1, u64::MAX / 2, 12_345]);
        let after: Distributions = postcard::from_bytes(&postcard::to_stdvec(&before).unwrap()).unwrap();
        assert_eq!(after, before);
        assert_eq!(after.of(Resource::Instructions).max, u64::MAX / 2);
    }

    #[test]
    fn what_exceeds_everything_before_a_checkpoint_is_counted_after_it() {
        let before = instructions([1, 2]);
        let mut after: Distributions = postcard::from_bytes(&postcard::to_stdvec(&before).unwrap()).unwrap();
        after.record(&Cost::from([(Resource::Instructions, 1 << 40)]));
        let known = after.of(Resource::Instructions);
        assert_eq!((known.count, known.max, known.bins.len()), (3, 1 << 40, 3));
    }

    #[test]
    fn runs_of_several_clients_add_up() {
        let mut sum = instructions([3, 5]);
        sum.add(&instructions([1 << 40, 1]));
        sum.add(&Distributions::default());
        assert_eq!(sum, instructions([1, 3, 5, 1 << 40]));
    }

    #[test]
    fn nothing_recorded_is_nothing_known() {
        assert_eq!(Distributions::default().of(Resource::Heap), Percentiles::default());
    }

    #[test]
    fn bins_are_quarters_of_doublings() {
        assert_eq!([0, 1, 3, 4, 7, 8, 9, 10, 16, 19, 20].map(upper_bound), [0, 1, 3, 4, 7, 9, 9, 11, 19, 19, 23]);
        assert_eq!(upper_bound(u64::MAX), u64::MAX);
    }

    proptest::proptest! {
        #[test]
        fn changed_bytes_of_a_client_s_file_never_panic(
            amounts: Vec<u64>, changes: Vec<(usize, u8)>, bytes: Vec<u8>,
        ) {
            let mut file = postcard::to_stdvec(&instructions(amounts)).unwrap();
            for (at, to) in changes {
                let at = at % file.len();
                file[at] = to;
            }
            for bytes in [file, bytes] {
                if let Ok(read) = postcard::from_bytes::<Distributions>(&bytes) {
                    let mut sum = instructions([1, u64::MAX]);
                    sum.add(&read);
                    Resource::ALL.iter().for_each(|&resource| drop((read.of(resource), sum.of(resource))));
                }
            }
        }
    }
}

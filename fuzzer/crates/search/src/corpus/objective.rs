//! Objective: the costs that the search tries to raise. These are the costs of `--cost`, as far as they are
//! deterministic.

use quagmire_cost::resource::{Cost, Resource};

/// Deterministic resources that the search follows. Time and cycles are noisy: instructions replace them.
#[derive(Clone, Debug)]
pub struct Objective {
    resources: Vec<Resource>,
}

impl Default for Objective {
    fn default() -> Self {
        Self { resources: vec![Resource::Instructions] }
    }
}

impl Objective {
    /// Creates the objective for the resources that the user chose.
    pub fn new(chosen: &[Resource]) -> Self {
        let mut resources: Vec<Resource> = Vec::new();
        for &resource in chosen {
            let followed = if resource.is_deterministic() { resource } else { Resource::Instructions };
            if !resources.contains(&followed) {
                resources.push(followed);
            }
        }
        if resources.is_empty() { Self::default() } else { Self { resources } }
    }

    /// Resources that the search follows, at least one.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Sort key of a run: the amount itself for one resource; for several, the logarithm of the product of the
    /// amounts, scaled to an integer.
    pub fn key(&self, cost: &Cost) -> u64 {
        match self.resources.as_slice() {
            [only] => cost[*only],
            several => {
                let bits: f64 = several.iter().map(|&resource| (cost[resource] as f64 + 1.0).log2()).sum();
                (bits * f64::from(1 << 20)) as u64
            }
        }
    }

    /// Cost as a multiple of the baseline: that of the resource with the largest ratio.
    pub fn ratio(&self, cost: &Cost, baseline: &Cost) -> f64 {
        let ratios = self.resources.iter().map(|&resource| resource.ratio(cost[resource], baseline[resource]));
        ratios.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(instructions: u64, heap: u64) -> Cost {
        Cost::from([(Resource::Instructions, instructions), (Resource::Heap, heap)])
    }

    fn low() -> Cost {
        cost(100, 1 << 20)
    }

    fn high() -> Cost {
        cost(300, 2 << 20)
    }

    #[test]
    fn noisy_costs_are_followed_by_instructions() {
        let objective = Objective::new(&[Resource::Time, Resource::Cycles, Resource::Instructions]);
        assert_eq!(objective.resources(), [Resource::Instructions]);
        assert_eq!(objective.key(&high()), 300);
        assert_eq!(objective.ratio(&high(), &low()), 3.0);
    }

    #[test]
    fn several_costs_are_followed_together() {
        let objective = Objective::new(&[Resource::Heap, Resource::Instructions]);
        assert!(objective.key(&low()) < objective.key(&cost(100, 2 << 20)));
        assert!(objective.key(&low()) < objective.key(&cost(200, 1 << 20)));
        assert_eq!(objective.ratio(&high(), &low()), 3.0);
        assert_eq!(Objective::new(&[Resource::Heap]).ratio(&high(), &low()), 2.0);
    }
}

//! What the search tries to raise: the costs that make a degradation, as far as they are the same in every run.

use quagmire_cost::resource::{Cost, Resource};

/// The resources that the search follows. Time and cycles are noisy: for them it follows instructions.
#[derive(Clone, Debug)]
pub struct Steering {
    resources: Vec<Resource>,
}

impl Default for Steering {
    fn default() -> Self {
        Self { resources: vec![Resource::Instructions] }
    }
}

impl Steering {
    /// Towards the costs that the user chose.
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

    /// The resources, at least one.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Orders runs by what they use: the amount itself for one resource, the product of the amounts, as a logarithm,
    /// for several.
    pub fn key(&self, cost: &Cost) -> u64 {
        match self.resources.as_slice() {
            [only] => cost[*only],
            several => {
                let bits: f64 = several.iter().map(|&resource| (cost[resource] as f64 + 1.0).log2()).sum();
                (bits * f64::from(1 << 20)) as u64
            }
        }
    }

    /// Cost as a multiple of the baseline: that of the resource in which it grew most.
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
        let steering = Steering::new(&[Resource::Time, Resource::Cycles, Resource::Instructions]);
        assert_eq!(steering.resources(), [Resource::Instructions]);
        assert_eq!(steering.key(&high()), 300);
        assert_eq!(steering.ratio(&high(), &low()), 3.0);
    }

    #[test]
    fn several_costs_are_followed_together() {
        let steering = Steering::new(&[Resource::Heap, Resource::Instructions]);
        assert!(steering.key(&low()) < steering.key(&cost(100, 2 << 20)));
        assert!(steering.key(&low()) < steering.key(&cost(200, 1 << 20)));
        assert_eq!(steering.ratio(&high(), &low()), 3.0);
        assert_eq!(Steering::new(&[Resource::Heap]).ratio(&high(), &low()), 2.0);
    }
}

//! Objective: the costs that the search tries to raise. These are the costs of `--cost`, as far as they are
//! deterministic, or the noisy resource of `--steer`.

use quagmire_cost::{
    noise::NoiseFloor,
    resource::{Cost, Resource},
};

/// Resources that the search follows: deterministic ones, or one that is noisy. In `--cost`, time and cycles are replaced
/// by instructions.
#[derive(Clone, Debug)]
pub struct Objective {
    resources: Vec<Resource>,
    /// Noise of the resource, if it is a noisy one.
    noise: Option<NoiseFloor>,
    /// Instructions that a count stands for.
    per_count: u64,
}

/// Instructions that an edge stands for where only edges are counted: those of a block and its guard, about 3 ns.
const PER_EDGE: u64 = 10;

impl Default for Objective {
    fn default() -> Self {
        Self { resources: vec![Resource::Instructions], noise: None, per_count: 1 }
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
        if resources.is_empty() { Self::default() } else { Self { resources, ..Self::default() } }
    }

    /// Creates the objective for a measured resource, whose amounts differ from run to run by this noise.
    pub fn steered(resource: Resource, noise: NoiseFloor) -> Self {
        Self { resources: vec![resource], noise: Some(noise), ..Self::default() }
    }

    /// The same in a program whose edges alone are counted.
    #[must_use]
    pub fn of_edges(self) -> Self {
        Self { per_count: PER_EDGE, ..self }
    }

    /// The noisy resource that the search follows; `None` if it follows deterministic ones.
    #[inline]
    pub fn noisy(&self) -> Option<Resource> {
        self.noise.map(|_| self.resources[0])
    }

    /// Sets the noise of the resource; does nothing if the objective is deterministic.
    pub fn set_noise(&mut self, noise: NoiseFloor) {
        self.noise.iter_mut().for_each(|known| *known = noise);
    }

    /// Whether a sort key is larger than the largest one so far; of a noisy resource, by more than the noise.
    #[inline]
    pub fn is_larger(&self, key: u64, largest: u64) -> bool {
        match self.noise {
            None => key > largest,
            Some(noise) => noise.is_above(key, largest),
        }
    }

    /// Work of the target in a run, by which effort is divided: that of its cost, or the amount of the noisy resource if it is
    /// larger. A nanosecond or a cycle stands for an instruction then.
    #[inline]
    pub fn work(&self, cost: &Cost) -> u64 {
        let counted = cost.work() + (self.per_count - 1) * cost[Resource::Instructions];
        counted.max(self.noisy().map_or(0, |resource| cost[resource]))
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
    fn a_noisy_resource_is_followed_beyond_its_noise() {
        let objective = Objective::steered(Resource::Time, NoiseFloor::of(&[vec![10_000, 11_200]]));
        assert_eq!((objective.resources(), objective.noisy()), (&[Resource::Time] as &[_], Some(Resource::Time)));
        assert!(!objective.is_larger(11_200, 10_000) && objective.is_larger(11_201, 10_000));
        let run = |time| Cost::from([(Resource::Instructions, 500), (Resource::Time, time)]);
        assert_eq!((objective.key(&run(900)), objective.work(&run(900)), objective.work(&run(3))), (900, 900, 500));
        let counted = Objective::default();
        assert_eq!((counted.noisy(), counted.work(&run(900))), (None, 500));
        assert!(counted.is_larger(10_001, 10_000));
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

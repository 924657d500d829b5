//! Resolution of the options of `growth`.

use super::flag;
use crate::options::args::GrowthArgs;
use quagmire_analysis::growth::{GrowthOptions, Verify};
use quagmire_base::{
    error::{Error, Result},
    units,
};
use quagmire_cost::resource::Resource;

/// Resources whose growth can be asked for.
const RESOURCES: [Resource; 6] =
    [Resource::Instructions, Resource::Edges, Resource::Time, Resource::Heap, Resource::HeapTotal, Resource::Stack];

impl GrowthArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<GrowthOptions> {
        if self.input.is_none() && self.template.is_none() {
            return Err(Error::usage("no input whose growth to look at: name a file, or give a --template"));
        }
        let budget = flag("--budget", units::duration(&self.budget))?;
        if budget.is_zero() {
            return Err(Error::usage("--budget 0 leaves no time for runs: give more, or leave it out for 30s"));
        }
        let max_bytes = flag("--max-size", units::size(&self.max_size))?;
        if max_bytes == 0 {
            return Err(Error::usage("--max-size 0 leaves no input to run: give more, or leave it out for 1MiB"));
        }
        Ok(GrowthOptions {
            input: self.input,
            template: self.template,
            resource: resource(&self.cost)?,
            budget,
            max_bytes,
            verify: self.verify.as_deref().map(verify).transpose()?,
            json: self.json,
            runs: self.target.runner()?,
        })
    }
}

fn resource(name: &str) -> Result<Resource> {
    let known = name.parse().ok().filter(|resource| RESOURCES.contains(resource));
    known.ok_or_else(|| {
        let names = RESOURCES.map(Resource::name).join(", ");
        Error::usage(format!("--cost: growth of `{name}` cannot be measured: name one of {names}"))
    })
}

fn verify(text: &str) -> Result<Verify> {
    let (number, kind): (_, fn(u64) -> Verify) = match text.strip_suffix('x') {
        Some(number) => (number, Verify::Times),
        None => (text, Verify::Repetitions),
    };
    match number.parse() {
        _ if text.is_empty() => Ok(Verify::Second),
        Ok(number) if number > 0 => Ok(kind(number)),
        _ => Err(Error::usage(format!(
            "--verify: `{text}` is no number of repetitions: write one, a multiple of the largest size such as 10x, or \
             --verify alone"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_are_tested_at_a_second_a_number_or_a_multiple() {
        let accepted = ["", "20000", "10x"].map(|text| verify(text).unwrap());
        assert_eq!(accepted, [Verify::Second, Verify::Repetitions(20_000), Verify::Times(10)]);
        for refused in ["0", "0x", "x", "ten", "-3", "1.5x"] {
            assert!(verify(refused).unwrap_err().to_string().contains("such as 10x"), "{refused}");
        }
    }

    #[test]
    fn growth_is_that_of_a_resource_which_one_run_measures() {
        assert_eq!(resource("heap").unwrap(), Resource::Heap);
        for refused in ["lines", "hottest-edge", "memory", ""] {
            assert!(resource(refused).unwrap_err().to_string().contains("name one of instructions"), "{refused}");
        }
    }
}

//! Machine and system that a campaign runs on, for its report.

use quagmire_results::summary::Environment;

/// Reads what the system tells about itself; values that it does not tell are empty or 0.
pub(super) fn environment() -> Environment {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str, separator: char| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(separator)?;
            (key.trim() == name).then(|| value.trim().trim_matches('"').to_owned())
        })
    };
    let kilobytes = |text: String| text.trim_end_matches("kB").trim().parse::<u64>().ok();
    let distribution = field(&read("/etc/os-release"), "PRETTY_NAME", '=');
    let kernel = read("/proc/sys/kernel/osrelease");
    let names = distribution.into_iter().chain([format!("Linux {}", kernel.trim())]);
    Environment {
        system: names.collect::<Vec<_>>().join(", "),
        processor: field(&read("/proc/cpuinfo"), "model name", ':').unwrap_or_default(),
        processors: std::thread::available_parallelism().map_or(0, |count| count.get() as u64),
        memory: field(&read("/proc/meminfo"), "MemTotal", ':').and_then(kilobytes).unwrap_or(0) * 1024,
        load: read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_machine_has_memory_and_processors() {
        let here = super::environment();
        assert!(here.memory > 1 << 20 && here.processors > 0 && here.system.contains("Linux"), "{here:?}");
    }
}

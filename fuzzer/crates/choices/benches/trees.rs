//! Benchmark of parsing, generation and operators: `cargo bench -p quagmire-choices`.

use std::path::Path;
use std::time::{Duration, Instant};

use libafl_bolts::rands::StdRand;
use quagmire_choices::grammar::{Grammar, Limits};
use quagmire_choices::operator::Operator;
use quagmire_choices::tree_mutation::{Bank, Context, mutate};

/// CPU time of this process in seconds, which other processes change less than the time on the clock.
fn cpu_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a file of the kernel");
    text.split(' ').next().and_then(|time| time.parse::<f64>().ok()).expect("nanoseconds") / 1e9
}

/// Calls per second of CPU time, measured for a quarter of a second on the clock.
fn rate(mut call: impl FnMut()) -> f64 {
    let (start, before, mut calls) = (Instant::now(), cpu_time(), 0);
    while start.elapsed() < Duration::from_millis(250) {
        call();
        calls += 1;
    }
    f64::from(calls) / (cpu_time() - before)
}

/// Texts of a format, by their shapes.
fn texts(grammar: &Grammar, is_json: bool) -> Vec<(&'static str, String)> {
    let mut rand = StdRand::with_seed(1);
    let mut sized = |size: usize| loop {
        let tree = grammar.generate(&mut rand, &Limits { size, depth: 20 });
        if tree.bytes.len() > size / 2 {
            return String::from_utf8_lossy(&tree.bytes).into_owned();
        }
    };
    let mut texts = vec![("generated, 1 kB", sized(1000)), ("generated, 10 kB", sized(10_000))];
    if is_json {
        let objects = "{\"id\": 1234, \"name\": \"some name\", \"tags\": [\"a\", \"bc\"], \"valid\": true},\n";
        texts.push(("objects, 64 kB", format!("[{}1]", objects.repeat(64_000 / objects.len()))));
        texts.push(("string, 16 kB", format!("\"{}\"", "a".repeat(16_000))));
        texts.push(("list, 100 kB", format!("[{}1]", "1,".repeat(50_000))));
        texts.push(("nest, 10 kB", format!("{}{}", "[".repeat(5000), "]".repeat(5000))));
    } else {
        let book = "<item x1=\"12\"><a>some text</a>\n<b>12 &amp; 9</b></item>\n";
        texts.push(("elements, 64 kB", format!("<a>{}</a>", book.repeat(64_000 / book.len()))));
        texts.push(("text, 16 kB", format!("<a>{}</a>", "a".repeat(16_000))));
        texts.push(("nest, 10 kB", format!("{}{}", "<a>".repeat(1400), "</a>".repeat(1400))));
    }
    texts
}

fn main() {
    for name in ["json", "xml"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/{name}.json"));
        let grammar = Grammar::load(&path).expect("a grammar");
        println!("{name}: megabytes parsed per second");
        for (shape, text) in texts(&grammar, name == "json") {
            let parses = rate(|| drop(std::hint::black_box(grammar.parse(text.as_bytes()).expect("a tree"))));
            println!("    {shape:26} {:8.2}", parses * text.len() as f64 / 1e6);
        }
        let mut rand = StdRand::with_seed(1);
        let mut bank = Bank::default();
        let limits = Limits { size: 4096, depth: 20 };
        let generated = std::iter::repeat_with(|| grammar.generate(&mut rand, &limits));
        let trees: Vec<_> = generated.filter(|tree| tree.bytes.len() > 500).take(100).collect();
        trees.iter().for_each(|tree| bank.add(tree, &mut rand));
        let bytes: usize = trees.iter().map(|tree| tree.bytes.len()).sum();
        println!("{name}: calls per second on trees of {} bytes", bytes / trees.len());
        let generated = rate(|| drop(std::hint::black_box(grammar.generate(&mut rand, &limits))));
        println!("    {:26} {generated:8.0}", "generate");
        let context = Context { grammar: Some(&grammar), bank: &bank };
        for operator in Operator::ALL {
            let mut at = 0;
            let calls = rate(|| {
                at = (at + 1) % trees.len();
                let mut text = |bytes: &mut Vec<u8>, _: &mut StdRand| bytes.push(b'1');
                drop(std::hint::black_box(mutate(&trees[at], operator, &context, 8192, &mut text, &mut rand)));
            });
            println!("    {:26} {calls:8.0}", operator.name());
        }
    }
}

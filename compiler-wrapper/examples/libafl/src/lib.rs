//! A fuzzer on LibAFL for what is slow: it keeps an input that costs more instructions than all before it. In harnesses that
//! `example-cc` links, it stands in the place of quagmire's engine.
//!
//! The runtime in these harnesses calls [`quagmire_engine_main`] from its `main`, and hands over the target. `quagmire-execution`
//! makes an executor of that, with an observer of exact counts and costs. The rest is LibAFL's.

use std::{
    borrow::Cow,
    ffi::{CStr, c_char, c_int},
    path::PathBuf,
    time::Duration,
};

use libafl::{
    Fuzzer, StdFuzzer,
    corpus::InMemoryCorpus,
    events::SimpleEventManager,
    executors::ExitKind,
    feedbacks::{Feedback, StateInitializer},
    monitors::NopMonitor,
    mutators::{HavocScheduledMutator, havoc_mutations},
    schedulers::RandScheduler,
    stages::StdMutationalStage,
    state::{HasExecutions, StdState},
};
use libafl_bolts::{Named, rands::StdRand, tuples::tuple_list};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    abi,
    executor::Observers,
    harness::Harness,
    input_page::InputPage,
    prepare,
    timer::{HangClock, RunLimits},
};

/// Heap of the fuzzer: that of the target may be locked or broken after a crash.
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Fuzzes the harness: `./harness SEEDS EXECUTIONS`. Prints the instructions of each input that it keeps.
///
/// # Safety
/// It is called once, by the runtime's `main`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quagmire_engine_main(
    argc: c_int,
    argv: *const *const c_char,
    harness: *const abi::RawHarness,
) -> c_int {
    // SAFETY: the runtime's harness is a static, and `argv` holds `argc` C strings.
    let (harness, arguments) = unsafe {
        let argument = |at: usize| CStr::from_ptr(*argv.add(at)).to_string_lossy().into_owned();
        (Harness::in_process(&*harness), (1..argc as usize).map(argument).collect::<Vec<_>>())
    };
    match fuzz(harness, &arguments) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("example: {error}");
            1
        }
    }
}

/// Changes nothing: a mutator that a harness brings is not called by this fuzzer, nor what it calls in turn.
#[unsafe(no_mangle)]
pub extern "C" fn quagmire_engine_mutate(_data: *mut u8, size: usize, _max_size: usize) -> usize {
    size
}

fn fuzz(harness: &'static Harness, arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [seeds, executions] = arguments else { return Err("usage: SEEDS EXECUTIONS".into()) };
    let executions: u64 = executions.parse()?;
    let mut executor = prepare::prepare_target(harness, InputPage::new(4096)?, true)?;
    harness.start_timer(RunLimits {
        hang: Duration::from_secs(1),
        clock: HangClock::Wall,
        memory: 0,
        deadline: u64::MAX,
    });

    let mut feedback = MostInstructions(0);
    let rand = StdRand::with_seed(1);
    let mut state = StdState::new(rand, InMemoryCorpus::new(), InMemoryCorpus::new(), &mut feedback, &mut ())?;
    let mut fuzzer = StdFuzzer::new(RandScheduler::new(), feedback, ());
    let mut manager = SimpleEventManager::new(NopMonitor::new());
    let mut stages = tuple_list!(StdMutationalStage::new(HavocScheduledMutator::new(havoc_mutations())));
    state.load_initial_inputs(&mut fuzzer, &mut executor, &mut manager, &[PathBuf::from(seeds)])?;
    while *state.executions() < executions {
        fuzzer.fuzz_one(&mut stages, &mut executor, &mut state, &mut manager)?;
    }
    Ok(())
}

/// Keeps an input that costs more instructions than all before it.
struct MostInstructions(u64);

impl<EM, I, S> Feedback<EM, I, Observers, S> for MostInstructions {
    fn is_interesting(
        &mut self,
        _: &mut S,
        _: &mut EM,
        _: &I,
        (counts, _): &Observers,
        _: &ExitKind,
    ) -> Result<bool, libafl::Error> {
        let instructions = counts.cost()[Resource::Instructions];
        let is_most = instructions > self.0;
        if is_most {
            self.0 = instructions;
            println!("{instructions} instructions");
        }
        Ok(is_most)
    }
}

impl<S> StateInitializer<S> for MostInstructions {}

impl Named for MostInstructions {
    fn name(&self) -> &Cow<'static, str> {
        &Cow::Borrowed("most-instructions")
    }
}

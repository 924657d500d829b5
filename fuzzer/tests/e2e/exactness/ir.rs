//! Generator of random control flow, in LLVM's intermediate representation.
//!
//! A function is a random graph of blocks: loops with several exits or none, irreducible ones, early continues, dead
//! ends, switches, computed gotos, calls that return, throw, jump away or exit, second returns of setjmp, accesses to
//! invalid memory. All branch conditions depend on global variables, so that blocks without calls are common. Each
//! block has a line of its own, and increments a variable of its own, which counts its executions independently of the
//! pass. The `main` is in `testdata/exactness.cc`.

use std::fmt::Write;
use std::num::NonZeroUsize;

use libafl_bolts::rands::{Rand, StdRand};

/// A module of random functions. Its line numbers are those of the blocks.
pub(crate) struct Module {
    /// Text of the module for clang.
    pub(crate) text: String,
    /// Number of functions; the first byte of an input selects the one that runs.
    pub(crate) functions: usize,
}

/// Generator of modules.
pub(crate) struct Generator {
    rand: StdRand,
    /// Whether pointers have types, as in LLVM 14.
    typed: bool,
    text: String,
    line: usize,
}

/// Debug information at the end of a module, collected on the way.
#[derive(Default)]
struct Metadata {
    text: String,
    /// Next free metadata number.
    next: usize,
}

/// First metadata number of functions and blocks; lower numbers are those of the module.
const FIRST_METADATA: usize = 10;

/// Declarations for all functions; P stands for the type of a pointer to a byte, W to a 64-bit number.
const DECLARATIONS: &str = "
@state = global i64 0
@fuel = global i64 0
@cell = global i64 7
@where = global W @cell
declare i32 @step()
declare void @sub(i32)
declare void @die() noreturn
declare i32 @_setjmp(P) returns_twice
declare void @set_jump(P)
declare i32 @__gxx_personality_v0(...)
declare P @__cxa_begin_catch(P)
declare void @__cxa_end_catch()
";

impl Generator {
    /// Creates a generator with this seed, for this major version of LLVM.
    pub(crate) fn new(seed: u64, llvm: u32) -> Self {
        Self { rand: StdRand::with_seed(seed), typed: llvm < 15, text: String::new(), line: 0 }
    }

    /// Generates a module with this many functions; its debug information names `folder` and `file` as the source.
    pub(crate) fn module(mut self, functions: usize, folder: &str, file: &str) -> Module {
        self.text = DECLARATIONS.replace("(P)", &format!("({})", self.pointer("i8")));
        self.text = self.text.replace(" P @", &format!(" {} @", self.pointer("i8")));
        self.text = self.text.replace(" W @", &format!(" {} @", self.pointer("i64")));
        let mut metadata = Metadata { text: String::new(), next: FIRST_METADATA };
        for function in 0..functions {
            self.function(function, functions, &mut metadata);
        }
        self.tables(functions);
        let _ = write!(
            self.text,
            "!llvm.dbg.cu = !{{!0}}\n!llvm.module.flags = !{{!2, !3}}\n\
             !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)\n\
             !1 = !DIFile(filename: \"{file}\", directory: \"{folder}\")\n\
             !2 = !{{i32 2, !\"Debug Info Version\", i32 3}}\n!3 = !{{i32 2, !\"Dwarf Version\", i32 4}}\n\
             !4 = !DISubroutineType(types: !5)\n!5 = !{{null}}\n{}",
            metadata.text
        );
        Module { text: self.text, functions }
    }

    fn pointer(&self, to: &str) -> String {
        if self.typed { format!("{to}*") } else { "ptr".to_owned() }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.rand.below(NonZeroUsize::new(limit).expect("something to choose from"))
    }

    fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }

    /// Writes the tables that the `main` reads: all functions, and the counts of all blocks.
    fn tables(&mut self, functions: usize) {
        let (function, number) = (self.pointer("void ()"), self.pointer("i64"));
        let list = |ty: &str, names: Vec<String>| -> String {
            names.iter().map(|name| format!("{ty} {name}")).collect::<Vec<_>>().join(", ")
        };
        let all = list(&function, (0..functions).map(|f| format!("@f{f}")).collect());
        let lines = self.line;
        let truth = list(&number, (1..=lines).map(|line| format!("@t{line}")).collect());
        for line in 1..=lines {
            let _ = writeln!(self.text, "@t{line} = global i64 0");
        }
        let _ = write!(
            self.text,
            "@functions = constant [{functions} x {function}] [{all}]\n@function_count = constant i64 {functions}\n\
             @truth = constant [{lines} x {number}] [{truth}]\n@truth_count = constant i64 {lines}\n"
        );
    }

    fn function(&mut self, number: usize, functions: usize, metadata: &mut Metadata) {
        // those that are called directly call no others
        let leaf = number.is_multiple_of(4);
        let blocks = 2 + self.below(14);
        let subprogram = metadata.next;
        metadata.next += 1;
        let _ = writeln!(
            metadata.text,
            "!{subprogram} = distinct !DISubprogram(name: \"f{number}\", scope: !1, file: !1, line: {}, type: !4, \
             unit: !0, spFlags: DISPFlagDefinition)",
            self.line + 1
        );
        let (byte, buffer) = (self.pointer("i8"), self.pointer("[256 x i8]"));
        let personality = if self.typed {
            "i8* bitcast (i32 (...)* @__gxx_personality_v0 to i8*)".to_owned()
        } else {
            "ptr @__gxx_personality_v0".to_owned()
        };
        let jump = format!("{byte} getelementptr inbounds ([256 x i8], {buffer} @j{number}, i64 0, i64 0)");
        let _ = write!(
            self.text,
            "@j{number} = global [256 x i8] zeroinitializer\n\
             define void @f{number}() uwtable personality {personality} !dbg !{subprogram} {{\n"
        );
        for block in 0..blocks {
            self.line += 1;
            let dbg = metadata.next;
            metadata.next += 1;
            let _ = writeln!(metadata.text, "!{dbg} = !DILocation(line: {}, scope: !{subprogram})", self.line);
            self.block(&Block { function: number, functions, leaf, block, blocks, dbg, jump: &jump });
        }
        self.text.push_str("}\n");
    }

    /// Writes an instruction on a line of its own.
    fn emit(&mut self, dbg: usize, instruction: &str) {
        let _ = writeln!(self.text, "  {instruction}, !dbg !{dbg}");
    }

    fn block(&mut self, b: &Block<'_>) {
        let (at, dbg, line) = (b.block, b.dbg, self.line);
        let number = self.pointer("i64");
        let _ = writeln!(self.text, "b{at}:");
        self.emit(dbg, &format!("%t{at} = load i64, {number} @t{line}"));
        self.emit(dbg, &format!("%u{at} = add i64 %t{at}, 1"));
        self.emit(dbg, &format!("store i64 %u{at}, {number} @t{line}"));
        if b.is_last() {
            // whoever jumps from now on goes to the main
            self.emit(dbg, &format!("call void @set_jump({} null)", self.pointer("i8")));
            self.emit(dbg, "ret void");
            return;
        }
        if at == 0 && self.one_in(6) {
            // nothing but that: what its second return executes is entered without the start of this block
            self.emit(dbg, &format!("call void @set_jump({})", b.jump));
            self.emit(dbg, &format!("%j{at} = call i32 @_setjmp({}) returns_twice", b.jump));
            let forward = self.forward(b);
            self.emit(dbg, &format!("br label %b{forward}"));
            return;
        }
        let calls = self.body(b);
        self.decide(b);
        self.terminator(b, calls);
    }

    /// Writes the body of a block, without its end. Returns whether it calls `step`, which ends the run once the fuel
    /// is used up.
    fn body(&mut self, b: &Block<'_>) -> bool {
        let (at, dbg) = (b.block, b.dbg);
        let number = self.pointer("i64");
        for filler in 0..self.below(4) {
            self.emit(dbg, &format!("%x{at}_{filler} = mul i64 %u{at}, {}", 3 + filler));
            self.emit(dbg, &format!("store i64 %x{at}_{filler}, {number} @cell"));
        }
        if self.one_in(5) {
            // memory that may not be there
            let to = self.pointer(&number);
            self.emit(dbg, &format!("%p{at} = load {number}, {to} @where"));
            self.emit(dbg, &format!("%q{at} = load i64, {number} %p{at}"));
            self.emit(dbg, &format!("store i64 %q{at}, {number} %p{at}"));
        }
        if !b.leaf && self.one_in(6) {
            let callee = self.below(b.functions);
            self.emit(dbg, &format!("call void @sub(i32 {callee})"));
        }
        if !b.leaf && self.one_in(6) {
            let callee = self.below(b.functions.div_ceil(4)) * 4;
            self.emit(dbg, &format!("call void @f{callee}()"));
        }
        let calls = self.one_in(4);
        if calls {
            self.emit(dbg, &format!("%c{at} = call i32 @step()"));
        }
        calls
    }

    /// Writes the computation of the number that decides the end of a block, %d, and of whether it may still go back,
    /// %go.
    fn decide(&mut self, b: &Block<'_>) {
        let (at, dbg) = (b.block, b.dbg);
        let number = self.pointer("i64");
        self.emit(dbg, &format!("%s{at} = load i64, {number} @state"));
        self.emit(dbg, &format!("%m{at} = mul i64 %s{at}, 6364136223846793005"));
        self.emit(dbg, &format!("%n{at} = add i64 %m{at}, 1442695040888963407"));
        self.emit(dbg, &format!("store i64 %n{at}, {number} @state"));
        self.emit(dbg, &format!("%d{at} = lshr i64 %n{at}, 60"));
        self.emit(dbg, &format!("%f{at} = load i64, {number} @fuel"));
        self.emit(dbg, &format!("%g{at} = sub i64 %f{at}, 1"));
        self.emit(dbg, &format!("store i64 %g{at}, {number} @fuel"));
        self.emit(dbg, &format!("%go{at} = icmp sgt i64 %g{at}, 0"));
    }

    fn terminator(&mut self, b: &Block<'_>, calls: bool) {
        let (at, dbg) = (b.block, b.dbg);
        let (forward, anywhere) = (self.forward(b), self.anywhere(b));
        match self.below(12) {
            // a loop without an exit, unless what is called ends it
            0 if calls => self.emit(dbg, &format!("br label %b{anywhere}")),
            0 | 1 => self.emit(dbg, &format!("br label %b{forward}")),
            2 | 3 => self.switch(b, forward),
            4 => self.computed(b, forward, anywhere),
            5 | 6 => self.invoke(b, forward),
            7 if self.one_in(4) => {
                self.emit(dbg, "call void @die()");
                self.emit(dbg, "unreachable");
            }
            _ => {
                let limit = 1 + self.below(15);
                self.emit(dbg, &format!("%l{at} = icmp ult i64 %d{at}, {limit}"));
                self.emit(dbg, &format!("%b{at}c = and i1 %l{at}, %go{at}"));
                self.emit(dbg, &format!("br i1 %b{at}c, label %b{anywhere}, label %b{forward}"));
            }
        }
    }

    fn forward(&mut self, b: &Block<'_>) -> usize {
        b.block + 1 + self.below(b.blocks - b.block - 1)
    }

    /// Draws any block but the entry.
    fn anywhere(&mut self, b: &Block<'_>) -> usize {
        1 + self.below(b.blocks - 1)
    }

    fn switch(&mut self, b: &Block<'_>, forward: usize) {
        let (at, dbg) = (b.block, b.dbg);
        self.emit(dbg, &format!("%v{at} = select i1 %go{at}, i64 %d{at}, i64 99"));
        let mut cases = String::new();
        for case in 0..1 + self.below(6) {
            let _ = write!(cases, " i64 {}, label %b{}", case * 2, self.anywhere(b));
        }
        self.emit(dbg, &format!("switch i64 %v{at}, label %b{forward} [{cases} ]"));
    }

    fn computed(&mut self, b: &Block<'_>, forward: usize, anywhere: usize) {
        let (at, dbg, f, byte) = (b.block, b.dbg, b.function, self.pointer("i8"));
        self.emit(dbg, &format!("%l{at} = icmp ult i64 %d{at}, 8"));
        self.emit(dbg, &format!("%b{at}c = and i1 %l{at}, %go{at}"));
        let place = |block: usize| format!("{byte} blockaddress(@f{f}, %b{block})");
        self.emit(dbg, &format!("%a{at} = select i1 %b{at}c, {}, {}", place(anywhere), place(forward)));
        self.emit(dbg, &format!("indirectbr {byte} %a{at}, [label %b{anywhere}, label %b{forward}]"));
    }

    /// Writes a call that may throw, and its handlers: some continue, some only clean up.
    fn invoke(&mut self, b: &Block<'_>, forward: usize) {
        let (at, dbg, byte) = (b.block, b.dbg, self.pointer("i8"));
        let caught = self.forward(b);
        self.emit(dbg, &format!("%i{at} = invoke i32 @step() to label %b{forward} unwind label %pad{at}"));
        // without a line: a second return of setjmp comes here again and not to the start of the block
        let _ = writeln!(self.text, "pad{at}:");
        if self.one_in(3) {
            let _ = writeln!(self.text, "  %k{at} = landingpad {{ {byte}, i32 }} cleanup");
            let _ = writeln!(self.text, "  resume {{ {byte}, i32 }} %k{at}");
        } else {
            let _ = writeln!(self.text, "  %k{at} = landingpad {{ {byte}, i32 }} catch {byte} null");
            let _ = writeln!(self.text, "  %e{at} = extractvalue {{ {byte}, i32 }} %k{at}, 0");
            let _ = writeln!(self.text, "  %z{at} = call {byte} @__cxa_begin_catch({byte} %e{at})");
            let _ = writeln!(self.text, "  call void @__cxa_end_catch()");
            let _ = writeln!(self.text, "  br label %b{caught}");
        }
    }
}

struct Block<'a> {
    function: usize,
    functions: usize,
    leaf: bool,
    block: usize,
    blocks: usize,
    dbg: usize,
    /// Argument of setjmp.
    jump: &'a str,
}

impl Block<'_> {
    fn is_last(&self) -> bool {
        self.block + 1 == self.blocks
    }
}

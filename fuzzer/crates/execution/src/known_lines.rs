//! Source lines of functions, whoever counts them: of the pass's tables, or of the addresses of a PC table.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashSet,
    ffi::{CStr, CString},
};

use super::{
    line_table::{LineTable, SourceFunction},
    program::Function,
    symbols::{Frame, Symbols},
};

/// Debug information for addresses, and names out of it.
#[derive(Default)]
struct Reader {
    symbols: Symbols,
    names: HashSet<&'static CStr>,
}

thread_local! {
    /// Debug information that this thread has read: those who ask for lines share nothing else.
    static READER: RefCell<Reader> = RefCell::default();
}

impl Reader {
    /// The text as line tables of the pass have it: for as long as this process, each once.
    fn name(&mut self, text: String) -> &'static CStr {
        let text = CString::new(text).unwrap_or_default();
        if let Some(known) = self.names.get(text.as_c_str()) {
            return known;
        }
        let kept: &'static CStr = Box::leak(text.into_boxed_c_str());
        self.names.insert(kept);
        kept
    }

    fn places(&mut self, pc: usize) -> Vec<(SourceFunction, u32)> {
        let frames = self.symbols.frames(pc);
        let place = |Frame { function, file, line }| {
            (SourceFunction { file: self.name(file), function: self.name(function) }, line)
        };
        frames.into_iter().map(place).collect()
    }
}

/// The source line table of a function; `None` without debug information, or if nothing says where its edges are.
pub(crate) fn line_table(function: &Function) -> Option<LineTable> {
    if function.lines().is_some() {
        return LineTable::read(function);
    }
    function.pc(0)?;
    READER.with_borrow_mut(|reader| {
        let pcs = (0..function.branches as usize).map(|edge| function.pc(edge));
        let edges: Vec<_> = pcs.map(|pc| pc.map_or(Vec::new(), |pc| reader.places(pc))).collect();
        LineTable::of_places(&edges)
    })
}

/// Whether the source lines of a function are known.
pub fn has_lines(function: &Function) -> bool {
    let of_address = |pc| READER.with_borrow_mut(|reader| !reader.symbols.frames(pc).is_empty());
    function.lines().is_some() || function.pc(0).is_some_and(of_address)
}

/// Counts executed source lines in every run, for campaigns with `--cost lines`.
#[derive(Debug, Default)]
pub(crate) struct LineCounter {
    /// Tables by index of the function in the program, each read when its function first runs; `None` without debug information.
    tables: Vec<OnceCell<Option<LineTable>>>,
}

impl LineCounter {
    /// Number of executed source lines of a function, each counted as often as it was executed; 0 without debug
    /// information. `counts` are those of its branches, entry first; further items are ignored.
    pub(crate) fn executed(&mut self, index: u32, function: &Function, counts: &[u64]) -> u64 {
        let index = index as usize;
        if self.tables.len() <= index {
            self.tables.resize_with(index + 1, OnceCell::new);
        }
        let table = self.tables[index].get_or_init(|| line_table(function));
        table.as_ref().map_or(0, |table| table.executed_lines(counts))
    }
}

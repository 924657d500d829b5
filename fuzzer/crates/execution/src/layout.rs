//! Checks that C and Rust agree on sizes, offsets and numbers: what the Rust side has becomes static assertions about
//! `compiler-wrapper/runtime/quagmire.h`, which a C compiler checks.

use std::{
    fmt::Write as _,
    io::Write as _,
    mem::offset_of,
    path::Path,
    process::{Command, Stdio},
};

use quagmire_choices::draws::{Draw, Item, Kind};

use super::abi::{
    ABI, ANSWERS, BYTES, CHOICES, Event, FINAL_HASH, GENERATED_BYTES, HASHED_BYTES, Heap, INPUT, INPUT_BYTES,
    LIBRARIES_BYTES, MAX_COMPARISONS, MAX_DRAWS, MAX_HASHES, MAX_MODULES, MAX_OVERLAY_ITEMS, NO_CHILD, NO_GENERATOR,
    NOT_SHARED, OPERAND_BYTES, OVERLAY_BYTES, PAGE, PATH_BYTES, READY, REDUCED, REQUESTS, RawComparison,
    RawComparisons, RawDraws, RawFunction, RawHarness, RawHash, RawModule, RawModules, RawMutation, Region, Resources,
    SIZE, STARTED, Served, ServerTables, Status, UNCOUNTED, WENT_REJECT, WENT_ROUND, WITH_SIZES, source,
};

/// Writes assertions for a structure and all of its fields; does not compile if a field is missing here.
macro_rules! structure {
    ($text:ident, $rust:ident, $c:literal, $($field:ident),+) => {
        fn has_no_other_fields(value: &$rust) {
            let $rust { $($field: _),+ } = value;
        }
        let _ = has_no_other_fields;
        let (c, size) = ($c, size_of::<$rust>());
        // with padding, C could have a field more
        assert_eq!(size, 0 $(+ size_of_field(|value: &$rust| &value.$field))+, "{c} has padding");
        let _ = writeln!($text, "_Static_assert(sizeof(struct {c}) == {size}, \"{c}\");");
        $(let _ = writeln!(
            $text,
            "_Static_assert(offsetof(struct {c}, {field}) == {offset} && sizeof(((struct {c} *)0)->{field}) == {size}, \"{c}.{field}\");",
            field = stringify!($field),
            offset = offset_of!($rust, $field),
            size = size_of_field(|value: &$rust| &value.$field),
        );)+
    };
}

/// Size in bytes of the field that a function returns.
fn size_of_field<S, F>(_: impl Fn(&S) -> &F) -> usize {
    size_of::<F>()
}

fn structures() -> String {
    let mut text = String::new();
    macro_rules! one {
        ($rust:ident, $c:literal, $($field:ident),+) => {{ structure!(text, $rust, $c, $($field),+); }};
    }
    one!(RawFunction, "qgm_function", entry, counts, weights, address, edges, lines, progress, sums, charges, memory);
    one!(
        RawModule,
        "qgm_module",
        functions_start,
        functions_stop,
        entries_start,
        entries_stop,
        pcs,
        source,
        has_wrong_table
    );
    one!(RawModules, "qgm_modules", generation, count, refused, reading, module);
    one!(Event, "qgm_event", signal, exit_code, pc, address);
    one!(Resources, "qgm_resources", cycles, heap_peak, heap_total, stack, time_ns, threads);
    one!(Heap, "qgm_heap", counting, current, peak, total);
    one!(Region, "qgm_region", address, length, offset);
    one!(ServerTables, "qgm_server", modules, bytes, region_count, region);
    one!(
        Served,
        "qgm_served",
        abi,
        ready,
        server,
        lowest_stack,
        takes_memory,
        input_size,
        wanted,
        answered,
        child,
        looped,
        status,
        began,
        cpu_began,
        measured,
        pc,
        address,
        top,
        stack,
        cycles,
        time_ns,
        heap,
        opening,
        libraries_locked,
        libraries_end,
        library_opens,
        generating,
        generator,
        libraries
    );
    text
}

/// The structures of harnesses in this process, and of draws.
fn structures_of_harnesses() -> String {
    let mut text = String::new();
    macro_rules! one {
        ($rust:ident, $c:literal, $($field:ident),+) => {{ structure!(text, $rust, $c, $($field),+); }};
    }
    one!(RawMutation, "qgm_mutation", data, other, out, size, other_size, max_size, seed);
    one!(RawComparison, "qgm_comparison", kind, is_constant, size, place, operand);
    one!(RawHash, "qgm_hash", value, place, kind, size, bytes);
    one!(
        RawComparisons,
        "qgm_comparisons",
        are_called,
        are_hashed,
        is_recording,
        count,
        comparison,
        hash_count,
        hash_place,
        hash
    );
    one!(
        RawHarness,
        "qgm_harness",
        abi,
        modules,
        initialize,
        run,
        event,
        guard,
        ticks_in_run,
        resources,
        mutate,
        cross_over,
        end_process,
        limit_allocations,
        comparisons,
        is_sanitized,
        draws
    );
    text.push_str(&structures_of_draws());
    text
}

fn structures_of_draws() -> String {
    let mut text = String::new();
    macro_rules! one {
        ($rust:ident, $c:literal, $($field:ident),+) => {{ structure!(text, $rust, $c, $($field),+); }};
    }
    one!(Draw, "qgm_draw", site, key, range, value, offset, length, part, depth, kind, is_overlaid);
    one!(Item, "qgm_overlay_item", key, start, length);
    one!(
        RawDraws,
        "qgm_draws",
        are_used,
        is_recording,
        count,
        items,
        generated,
        generator_cycles,
        draw,
        item,
        overlay,
        made
    );
    text
}

fn numbers() -> String {
    let numbers: [(&str, u64); 57] = [
        ("QGM_ABI", ABI),
        ("QGM_MAX_MODULES", MAX_MODULES as u64),
        ("QGM_PASS", source::PASS.into()),
        ("QGM_GUARDS", source::GUARDS.into()),
        ("QGM_COUNTERS", source::COUNTERS.into()),
        ("QGM_PCS", source::PCS.into()),
        ("QGM_EXTRA", source::EXTRA.into()),
        ("QGM_WIDENED", source::WIDENED.into()),
        ("QGM_FLAGS", source::FLAGS.into()),
        ("QGM_RETURNED", Status::Returned as u64),
        ("QGM_REJECTED", Status::Rejected as u64),
        ("QGM_CRASHED", Status::Crashed as u64),
        ("QGM_HUNG", Status::Hung as u64),
        ("QGM_MEMORY", Status::Memory as u64),
        ("QGM_EXITED", Status::Exited as u64),
        ("sizeof(enum qgm_status)", size_of::<Status>() as u64),
        ("QGM_OPERAND_BYTES", OPERAND_BYTES as u64),
        ("QGM_MAX_COMPARISONS", MAX_COMPARISONS as u64),
        ("QGM_BYTES", BYTES.into()),
        ("QGM_HASHED_BYTES", HASHED_BYTES as u64),
        ("QGM_MAX_HASHES", MAX_HASHES as u64),
        ("QGM_FINAL", FINAL_HASH.into()),
        ("QGM_REDUCED", REDUCED.into()),
        ("QGM_SIZE", SIZE.into()),
        ("QGM_WITH_SIZES", WITH_SIZES),
        ("QGM_CHOICES", CHOICES as u64),
        ("QGM_INPUT", INPUT as u64),
        ("QGM_REQUESTS", REQUESTS as u64),
        ("QGM_ANSWERS", ANSWERS as u64),
        ("QGM_PAGE", PAGE as u64),
        ("QGM_INPUT_BYTES", INPUT_BYTES as u64),
        ("QGM_READY", READY),
        ("QGM_NOT_SHARED", NOT_SHARED),
        ("QGM_UNCOUNTED", UNCOUNTED),
        ("QGM_NO_GENERATOR", NO_GENERATOR),
        ("QGM_ENDED", 0),
        ("QGM_WENT_ROUND", WENT_ROUND),
        ("QGM_WENT_REJECT", WENT_REJECT),
        ("QGM_STARTED", STARTED),
        ("QGM_NO_CHILD", NO_CHILD),
        ("QGM_LIBRARIES_BYTES", LIBRARIES_BYTES as u64),
        ("QGM_PATH_BYTES", PATH_BYTES as u64),
        ("QGM_MAX_DRAWS", MAX_DRAWS as u64),
        ("QGM_MAX_OVERLAY_ITEMS", MAX_OVERLAY_ITEMS as u64),
        ("QGM_OVERLAY_BYTES", OVERLAY_BYTES as u64),
        ("QGM_GENERATED_BYTES", GENERATED_BYTES as u64),
        ("QGM_ELSEWHERE", Draw::ELSEWHERE.into()),
        ("QGM_DRAW_INTEGER", Kind::Integer as u64),
        ("QGM_DRAW_FLIP", Kind::Flip as u64),
        ("QGM_DRAW_PICK", Kind::Pick as u64),
        ("QGM_DRAW_REAL", Kind::Real as u64),
        ("QGM_DRAW_TEXT", Kind::Text as u64),
        ("QGM_DRAW_BYTES", Kind::Bytes as u64),
        ("QGM_DRAW_REST", Kind::Rest as u64),
        ("QGM_DRAW_SIZE", Kind::Size as u64),
        ("QGM_DRAW_OPEN", Kind::Open as u64),
        ("QGM_DRAW_CLOSE", Kind::Close as u64),
    ];
    numbers.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "_Static_assert({name} == {value}u, \"{name}\");");
        text
    })
}

#[test]
fn the_runtime_has_what_the_engine_has() {
    let wrapper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../compiler-wrapper");
    let assertions = [structures(), structures_of_harnesses(), numbers()].concat();
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(["-std=gnu11", "-fsyntax-only", "-I"]).arg(wrapper.join("include/quagmire"));
    command.arg("-I").arg(wrapper.join("runtime")).args(["-x", "c", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a C compiler");
    let mut text = child.stdin.take().expect("piped");
    write!(text, "#include \"draw_hooks.h\"\n#include \"quagmire.h\"\n{assertions}").expect("written");
    drop(text);
    let checked = child.wait_with_output().expect("an end");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

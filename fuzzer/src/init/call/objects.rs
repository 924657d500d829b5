//! Objects that a call needs beside the input, and how they end.

use super::Planner;
use crate::init::{
    declarations::{Declarations, Function, Parameter, Record},
    input,
    types::{Base, Type, kind, resolve},
    words,
};

/// Objects that are made for objects.
const DEEPEST: usize = 2;

/// The type of a parameter as it is written, for a variable.
pub(super) fn written(ty: &str) -> &str {
    ty.trim().trim_start_matches("const ").trim_end_matches(['&', '*', ' ']).trim_end_matches(" const")
}

/// Name of a class for a variable: `struct` in front of it in C, `<>` behind a template, if it has defaults for all.
pub(super) fn spelled(base: &str, known: &Declarations, is_cxx: bool) -> Option<String> {
    if let Some(record) = known.records.get(base)
        && !record.template.is_empty()
    {
        if record.template.iter().all(|one| one.has_default) {
            return Some(format!("{base}<>"));
        }
        let short = base.rsplit("::").next().unwrap_or(base);
        let is_of = |ty: &str| ty.starts_with(&format!("{base}<")) || ty.starts_with(&format!("{short}<"));
        return known.names.iter().find(|(_, ty)| is_of(ty) && !ty.contains("wchar_t")).map(|(name, _)| name.clone());
    }
    if is_cxx || known.names.contains_key(base) {
        return Some(base.to_owned());
    }
    let with = |word: &str| format!("{word} {base}");
    let named = known.names.iter().find(|(_, ty)| **ty == with("struct") || **ty == with("union"));
    Some(named.map_or_else(|| with("struct"), |(name, _)| name.clone()))
}

/// Whether a variable of this type can be made.
fn is_complete(base: &str, known: &Declarations) -> bool {
    // a struct without a name of its own
    known.records.get(base).map_or_else(|| known.names.contains_key(base), |record| record.is_complete)
}

/// The object that a method is called on, with `.` or `->`.
pub(super) fn receiver(planner: &mut Planner, class: &str, has_input: bool) -> Result<String, String> {
    let record = planner.known.records.get(class).ok_or("is a method of an unknown class")?;
    let is_usable = |record: &Record| record.has_default_constructor && !record.is_abstract;
    let name = spelled(class, planner.known, planner.is_cxx);
    if record.is_abstract || name.is_none() || !is_usable(record) && record.constructors.is_empty() {
        let derived = planner
            .known
            .records
            .iter()
            .find(|(name, one)| *name != class && is_usable(one) && planner.known.is_a(name, class));
        if let Some(name) = derived.and_then(|(name, _)| spelled(name, planner.known, planner.is_cxx)) {
            return Ok(planner.local(&name, "") + ".");
        }
    }
    let name =
        name.ok_or_else(|| format!("is a method of the template {class}, whose parameters have to be chosen"))?;
    if record.is_abstract {
        return Err(format!("is a method of {class}, which is abstract"));
    }
    if has_input && let Some((index, _)) = input::best_constructor(record, planner.known) {
        let ty = Type { base: class.into(), ..Type::default() };
        return constructed(planner, &ty, index).map(|name| name + ".");
    }
    if record.has_default_constructor {
        let object = planner.local(&name, "");
        return Ok(object + ".");
    }
    for index in 0..record.constructors.len() {
        if let Ok(object) = without_input(planner, class, index) {
            return Ok(object + ".");
        }
    }
    let factory = maker(planner, class, false);
    factory.map(|object| object + "->").ok_or_else(|| {
        format!("is a method of {class}, which has no public constructor that can be called without knowing more")
    })
}

/// An object made by a constructor that takes the input.
pub(super) fn constructed(planner: &mut Planner, ty: &Type, index: usize) -> Result<String, String> {
    let (known, class) = (planner.known, &ty.base);
    let constructor = &known.records[class].constructors[index];
    let arguments = planner.arguments_of_object(constructor, true);
    let class = spelled(class, known, planner.is_cxx).unwrap_or_else(|| class.to_owned());
    Ok(ty.passed(planner.local(&class, &format!("({})", arguments?.join(", ")))))
}

/// An object made by a constructor whose arguments are all made up.
fn without_input(planner: &mut Planner, class: &str, index: usize) -> Result<String, String> {
    if planner.depth >= DEEPEST {
        return Err("is made of objects that are made of objects".into());
    }
    let known = planner.known;
    let arguments = planner.arguments_of_object(&known.records[class].constructors[index], false);
    let class = spelled(class, known, planner.is_cxx).unwrap_or_else(|| class.to_owned());
    let value = match arguments? {
        none if none.is_empty() => String::new(),
        arguments => format!("({})", arguments.join(", ")),
    };
    Ok(planner.local(&class, &value))
}

/// An argument for a class or struct of the user, by value, reference or address.
pub(super) fn argument(
    planner: &mut Planner,
    ty: &Type,
    parameter: &Parameter,
    may_be_null: bool,
) -> Result<String, String> {
    let known = planner.known;
    let class = spelled(&ty.base, known, planner.is_cxx);
    if planner.depth < DEEPEST {
        if let Some(record) = known.records.get(&ty.base).filter(|_| planner.is_cxx)
            && !record.is_abstract
            && record.is_complete
            && (!record.constructors.is_empty() || initializer(planner, &ty.base, words::INIT).is_none())
        {
            if record.has_default_constructor
                && let Some(class) = &class
            {
                // without constructors, members would stay without a value
                return Ok(ty.passed(planner.local(class, if record.constructors.is_empty() { "{}" } else { "" })));
            }
            for index in 0..record.constructors.len() {
                if let Ok(name) = without_input(planner, &ty.base, index) {
                    return Ok(ty.passed(name));
                }
            }
        }
        let is_complete = is_complete(&ty.base, known);
        for names in [words::INIT, words::MAYBE_INIT] {
            if is_complete && let (Some(class), Some(function)) = (&class, initializer(planner, &ty.base, names)) {
                return initialized(planner, &ty.base, class, function).map(|name| ty.passed(name));
            }
            if ty.pointers == 1
                && let Some(object) = maker(planner, &ty.base, ty.is_const)
            {
                return Ok(object);
            }
        }
        if is_complete
            && !planner.is_cxx
            && let Some(class) = class
        {
            let name = planner.name("object");
            planner.call.before.push(format!("{class} {name};"));
            planner.call.before.push(format!("memset(&{name}, 0, sizeof {name});"));
            if let Some(line) = end(planner, &ty.base, &name, false) {
                planner.free(line);
            }
            return Ok(ty.passed(name));
        }
    }
    let is_extra = may_be_null && ty.pointers == 1 && (ty.is_const || words::any(&parameter.name, words::BESIDE));
    match is_extra {
        true => Ok(planner.null().into()),
        false => Err(format!("takes a `{}`, and nothing that is declared here makes one", parameter.ty)),
    }
}

/// Functions beside classes, which may make and end objects.
fn functions<'a>(planner: &Planner<'a>) -> impl Iterator<Item = &'a Function> + use<'a> {
    planner
        .known
        .functions
        .iter()
        .filter(|one| !one.is_variadic && one.template.is_empty() && (!one.is_member || one.is_static))
}

/// A function that makes a variable of this type ready: `init(T *)`.
fn initializer<'a>(planner: &Planner<'a>, base: &str, names: &str) -> Option<&'a Function> {
    let known = planner.known;
    let fits = |one: &&Function| {
        words::any(&one.name, names)
            && !words::any(&one.name, words::END_OF_LIFE)
            && one.parameters.first().is_some_and(|first| {
                let ty = resolve(&first.ty, &one.scope, known);
                ty.base == base && ty.pointers == 1 && !ty.is_const && ty.function.is_none()
            })
    };
    functions(planner).filter(fits).min_by_key(|one| one.parameters.len())
}

fn initialized(planner: &mut Planner, base: &str, class: &str, function: &Function) -> Result<String, String> {
    let name = planner.name("object");
    let arguments = planner.arguments_of_object(&function.without(0), false);
    let all = [vec![format!("&{name}")], arguments?].concat().join(", ");
    planner.call.before.push(format!("{class} {name};"));
    planner.call.before.push(format!("memset((void *)&{name}, 0, sizeof {name});"));
    planner.call.before.push(format!("{}({all});", function.full_name()));
    if let Some(line) = end(planner, base, &name, false) {
        planner.free(line);
    }
    Ok(name)
}

/// The parameter through which a function gives a pointer to an object: `open(options, &object)`.
fn set_by(function: &Function, base: &str, known: &Declarations) -> Option<usize> {
    function.parameters.iter().position(|one| {
        let ty = resolve(&one.ty, &function.scope, known);
        ty.base == base && ty.pointers == 2 && !ty.is_const
    })
}

/// How good the input is of a function that makes an object, or of one that makes an object for it.
fn input_of_maker(function: &Function, known: &Declarations, depth: usize) -> Option<i32> {
    let own = input::choose(function, known, 1).map(|(_, _, worth)| worth).filter(|worth| *worth > 0);
    own.or_else(|| input_of_object(function, known, depth + 1))
}

/// How good the input is of the functions that make the objects which a function works on.
pub(in crate::init) fn input_of_object(function: &Function, known: &Declarations, depth: usize) -> Option<i32> {
    if depth >= DEEPEST {
        return None;
    }
    let of = |base: &str| {
        let makes = |one: &&Function| {
            let result = resolve(&one.result, &one.scope, known);
            words::inside(&one.name, words::MAKE)
                && (result.base == base && result.pointers == 1 || set_by(one, base, known).is_some())
        };
        let makers = known.functions.iter().filter(|one| !one.is_member || one.is_static).filter(makes);
        makers.filter_map(|one| input_of_maker(one, known, depth)).max()
    };
    let of_handle = |at: usize| {
        let makers = handle_makers(function, at, known);
        makers.iter().filter_map(|(one, _)| input_of_maker(one, known, depth)).max()
    };
    let of_parameter = |(at, parameter): (usize, &Parameter)| {
        let ty = resolve(&parameter.ty, &function.scope, known);
        match kind(&ty.base) {
            Base::Other if ty.pointers == 1 && ty.function.is_none() => of(&ty.base),
            Base::Void if ty.pointers == 1 => of_handle(at),
            _ => None,
        }
    };
    function.parameters.iter().enumerate().filter_map(of_parameter).max().map(|worth| worth - 1)
}

/// A function that makes an object: it returns a pointer, or sets what this parameter points at.
type Maker<'a> = (&'a Function, Option<usize>);

/// Declares a pointer of a type, and has an object made for it.
fn make(planner: &mut Planner, maker: Maker, ty: &str, name: &str, mut arguments: Vec<String>) {
    let full = maker.0.full_name();
    if let Some(at) = maker.1 {
        arguments.insert(at.min(arguments.len()), format!("&{name}"));
        planner.call.before.push(format!("{ty}{name} = {};", planner.null()));
        planner.call.before.push(format!("{full}({});", arguments.join(", ")));
    } else {
        planner.call.before.push(format!("{ty}{name} = {full}({});", arguments.join(", ")));
    }
    planner.call.before.push(format!("if (!{name})\n    return 0;"));
}

/// Makes an object by a function that returns or sets a pointer to it. Returns the pointer.
fn maker(planner: &mut Planner, base: &str, may_be_const: bool) -> Option<String> {
    let known = planner.known;
    let mut makers: Vec<Maker> = functions(planner)
        .filter_map(|one| {
            let result = resolve(&one.result, &one.scope, known);
            let is_named = words::inside(&one.name, words::MAKE) || result.is_const && words::any(&one.name, "get");
            if result.base == base
                && result.pointers == 1
                && (may_be_const || !result.is_const)
                && (is_named || one.parameters.is_empty())
            {
                return Some((one, None));
            }
            let set = set_by(one, base, known).filter(|_| is_named)?;
            Some((one, Some(set)))
        })
        .collect();
    // one that takes the object itself makes another
    makers.retain(|(one, set)| {
        let takes = |parameter: &Parameter| resolve(&parameter.ty, &one.scope, known).base == base;
        set.is_some() || !one.parameters.iter().any(takes)
    });
    let wants_input = |planner: &Planner| planner.seeks_input && !planner.has_input;
    let takes_input = |one: &Function| wants_input(planner) && input_of_maker(one, known, planner.depth).is_some();
    makers.sort_by_key(|(one, _)| (!takes_input(one), one.parameters.len(), words::of(&one.name).len()));
    let class = spelled(base, known, planner.is_cxx)?;
    for (function, set) in makers {
        let (name, mut rest) = (planner.name("object"), function.clone());
        if let Some(at) = set {
            rest.parameters.remove(at);
            // what is behind it has to be there
            rest.parameters[..at].iter_mut().for_each(|one| one.is_optional = false);
        }
        let kept = planner.call.before.len();
        let Ok(arguments) = planner.arguments_of_object(&rest, wants_input(planner)) else {
            planner.call.before.truncate(kept);
            continue;
        };
        make(planner, (function, set), &format!("{class} *"), &name, arguments);
        let is_shared = words::any(&function.name, "instance default get shared global");
        if let Some(line) = end_of_pointer(planner, base, &name).filter(|_| !is_shared) {
            planner.free(line);
        }
        return Some(name);
    }
    None
}

/// Functions that make what a parameter wants whose type says little, the likeliest first. Where the type is `void *`, names
/// tell.
fn handle_makers<'a>(function: &Function, at: usize, known: &'a Declarations) -> Vec<Maker<'a>> {
    let parameter = &function.parameters[at];
    let (is_plain, of_name) = (parameter.ty.contains("void"), words::of(&parameter.name));
    let sets = |one: &'a Function| {
        let at = one.parameters.iter().position(|other| {
            let ty = resolve(&other.ty, &one.scope, known);
            let is_alike = match is_plain {
                true => words::of(&other.name).iter().any(|word| of_name.contains(word)),
                false => other.ty.strip_suffix('*').is_some_and(|of| of.trim_end() == parameter.ty),
            };
            ty.base == "void" && ty.pointers == 2 && is_alike
        });
        Some((one, Some(at?)))
    };
    let may_be_returned = !is_plain || words::any(&parameter.name, words::HANDLE);
    let makes = |one: &'a Function| match may_be_returned && one.result == parameter.ty {
        true => (!words::inside(&one.name, "alloc")).then_some((one, None)),
        false => sets(one),
    };
    let free = known.functions.iter().filter(|one| !one.is_member && one.scope == function.scope && !one.is_variadic);
    let mut found: Vec<_> = free.filter(|one| words::inside(&one.name, words::MAKE)).filter_map(makes).collect();
    found.sort_by_key(|(one, _)| (std::cmp::Reverse(in_common(&one.name, &function.name)), one.parameters.len()));
    found
}

/// Number of letters with which two names begin alike.
fn in_common(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

/// An object whose type is `void *` or a name for it, made and ended by functions with that name in their declarations.
pub(super) fn handle(planner: &mut Planner, function: &Function, at: usize) -> Option<String> {
    let parameter = &function.parameters[at];
    if planner.depth >= DEEPEST {
        return None;
    }
    let known = planner.known;
    let maker = handle_makers(function, at, known).into_iter().next()?;
    let (function, set) = maker;
    let rest = set.map_or_else(|| function.clone(), |at| function.without(at));
    let arguments = planner.arguments_of_object(&rest, planner.seeks_input && !planner.has_input).ok()?;
    let (ty, name) = (&parameter.ty, planner.name("object"));
    let given = set.map_or(ty.as_str(), |at| {
        function.parameters[at].ty.trim_end_matches(' ').strip_suffix('*').unwrap_or(ty).trim_end()
    });
    make(planner, maker, &format!("{given} "), &name, arguments);
    let ends = |one: &&Function| {
        matches!(&*one.parameters, [only] if only.ty == *ty) && words::inside(&one.name, words::END_OF_LIFE)
    };
    let end = functions(planner).filter(ends).max_by_key(|one| in_common(&one.name, &function.name));
    if let Some(end) = end {
        planner.free(format!("{}({name});", end.full_name()));
    }
    Some(name)
}

/// The statement that ends what a pointer points at, if there is something.
pub(super) fn end_of_pointer(planner: &mut Planner, base: &str, name: &str) -> Option<String> {
    end(planner, base, name, true).map(|line| format!("if ({name})\n    {line}"))
}

/// The statement that ends an object, by a function that is declared for that.
pub(super) fn end(planner: &mut Planner, base: &str, name: &str, is_pointer: bool) -> Option<String> {
    let known = planner.known;
    let level = |one: &Function| {
        let ty = resolve(&one.parameters.first()?.ty, &one.scope, known);
        (ty.base == base && ty.function.is_none()).then_some(ty.pointers)
    };
    // a variable is cleared, and what was allocated is freed
    let worth = |one: &Function| match is_pointer {
        true => words::inside(&one.name, "free destroy delete release unref put decref close dispose"),
        false => words::inside(&one.name, "fini clear cleanup deinit uninit finish free destroy release"),
    };
    let mut ends: Vec<(&Function, usize)> = functions(planner)
        .filter(|one| {
            words::any(&one.name, words::END_OF_LIFE) || words::inside(&one.name, "free destroy delete release")
        })
        .filter(|one| !words::any(&one.name, words::INIT))
        .filter_map(|one| Some((one, level(one).filter(|&level| level > 0 || !is_pointer)?)))
        .collect();
    ends.sort_by_key(|(one, level)| (one.parameters.len(), *level, !worth(one), words::of(&one.name).len()));
    for (function, level) in ends {
        // one that takes a text ends something in the object
        let is_text = |one: &Parameter| kind(&resolve(&one.ty, &function.scope, known).base) == Base::Byte;
        if function.parameters[1..].iter().any(is_text) {
            continue;
        }
        // of what is made up for it, nothing may be left over
        let kept = planner.call.before.len();
        let Some(arguments) =
            planner.arguments(&function.without(0), false).ok().filter(|_| planner.call.before.len() == kept)
        else {
            planner.call.before.truncate(kept);
            continue;
        };
        let address = match (is_pointer, level) {
            (true, 1) | (false, 0) => name.to_owned(),
            (true, 2) | (false, 1) => format!("&{name}"),
            _ => continue,
        };
        let all = [vec![address], arguments].concat().join(", ");
        return Some(format!("{}({all});", function.full_name()));
    }
    None
}

/// Whether a function takes or makes a class that is no part of the standard library.
pub(in crate::init) fn needs_object(function: &Function, known: &Declarations) -> bool {
    let is_object = |one: &Parameter| {
        let ty = resolve(&one.ty, &function.scope, known);
        kind(&ty.base) == Base::Other && !known.enums.contains(&ty.base) && ty.function.is_none()
    };
    function.is_member && !function.is_static || function.parameters.iter().any(is_object)
}

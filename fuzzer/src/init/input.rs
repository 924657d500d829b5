//! The parameter through which a function takes its input.

use super::{
    declarations::{Declarations, Function, Parameter, Record},
    types::{Base, Type, kind, resolve},
    words,
};

/// A way to hand over the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A pointer, and the number of bytes in the parameter behind it.
    PointerAndLength,
    /// Pointers to the first byte and behind the last.
    PointerAndEnd,
    /// A text that a zero byte ends.
    Text,
    /// A class that is made of a text: `std::string`, a view, a vector of bytes.
    Class(Base),
    File,
    FileName,
    Descriptor,
    /// A pointer to a pointer that is moved through the text.
    Cursor,
    /// Two iterators of the same type.
    Iterators,
    /// A value whose type is the parameter of a template.
    Any,
    /// A class of the user with this constructor that takes the input.
    Constructor(usize),
}

impl Form {
    /// Number of parameters that it takes.
    pub(super) fn parameters(self) -> usize {
        match self {
            Self::PointerAndLength | Self::PointerAndEnd | Self::Iterators => 2,
            _ => 1,
        }
    }

    fn worth(self) -> i32 {
        match self {
            Self::PointerAndLength | Self::PointerAndEnd => 8,
            Self::Iterators => 7,
            Self::Class(_) => 6,
            Self::Text | Self::File => 5,
            Self::Any | Self::Constructor(_) => 4,
            Self::FileName => 3,
            Self::Cursor | Self::Descriptor => 2,
        }
    }
}

/// Types of a function's parameters.
pub(super) fn types(function: &Function, known: &Declarations) -> Vec<Type> {
    function.parameters.iter().map(|one| resolve(&one.ty, &function.scope, known)).collect()
}

/// Parameters of templates that a function may use as types.
pub(super) fn template_types(function: &Function, known: &Declarations) -> Vec<String> {
    let of_class = known.records.get(&function.scope).map(|record| record.template.as_slice()).unwrap_or_default();
    let all = function.template.iter().chain(of_class);
    all.filter(|one| one.is_type && !one.name.is_empty()).map(|one| one.name.clone()).collect()
}

/// The best parameter for the input: its index and the way, and how good that is. `depth` is that of classes which are made
/// of classes.
pub(super) fn choose(function: &Function, known: &Declarations, depth: usize) -> Option<(usize, Form, i32)> {
    let types = types(function, known);
    let generic = template_types(function, known);
    let mut best: Option<(usize, Form, i32)> = None;
    for (at, parameter) in function.parameters.iter().enumerate() {
        let found = form(function, &types, at, &generic).or_else(|| of_class(&types[at], known, depth));
        let Some(form) = found else { continue };
        let worth = form.worth() + name_worth(parameter, form);
        if best.is_none_or(|(_, _, least)| worth > least) {
            best = Some((at, form, worth));
        }
    }
    best
}

/// The function that hands the input to the object that another function then works on: `set_input(object, text)`.
pub(super) fn feeder<'a>(function: &Function, known: &'a Declarations) -> Option<&'a Function> {
    const VERBS: &str = "set push add open load attach use from";
    let is_method = |one: &Function| one.is_member && !one.is_static && !one.is_constructor;
    let receiver = is_method(function);
    let fits = |one: &&Function| {
        let hands = words::any(&one.name, VERBS) && words::any(&one.name, words::INPUT);
        let last = words::of(&one.name).pop().unwrap_or_default();
        let is_buffer = words::has(words::INPUT, &last)
            && matches!(choose(one, known, 1), Some((_, Form::PointerAndLength | Form::PointerAndEnd, _)));
        (hands || is_buffer || words::any(&one.name, "feed input from"))
            && !words::any(&one.name, words::END_OF_LIFE)
            && !words::any(&one.name, "write get output encode")
            && match (receiver, is_method(one)) {
                (true, true) => known.is_a(&function.scope, &one.scope) || known.is_a(&one.scope, &function.scope),
                (false, false) => fed(function, one, known).is_some(),
                _ => false,
            }
    };
    let all = known.functions.iter().filter(fits).filter_map(|one| Some((choose(one, known, 1)?, one)));
    // what sets an option has less of a text than what sets the input
    let named = |one: &Function| i32::from(words::any(&one.name, words::INPUT)) * 3;
    // what is changed may be memory to write to
    let is_read = |at: usize, one: &Function| i32::from(one.parameters[at].ty.contains("const")) * 2;
    all.map(|((at, _, worth), one)| (worth + named(one) + is_read(at, one), one))
        .filter(|(worth, _)| *worth > 6)
        .max_by_key(|(worth, one)| (*worth, std::cmp::Reverse(one.parameters.len())))
        .map(|(_, one)| one)
}

/// The parameter of a function that is the object which `feeder` hands the input to.
pub(super) fn fed(function: &Function, feeder: &Function, known: &Declarations) -> Option<usize> {
    let object = |one: &Function, at: usize| {
        let ty = resolve(&one.parameters.get(at)?.ty, &one.scope, known);
        (ty.pointers == 1 && kind(&ty.base) == Base::Other && ty.function.is_none()).then_some(ty.base)
    };
    let its = object(feeder, 0)?;
    (0..function.parameters.len()).find(|&at| object(function, at).as_ref() == Some(&its))
}

fn name_worth(parameter: &Parameter, form: Form) -> i32 {
    let is_file = form == Form::FileName;
    match () {
        () if words::any(&parameter.name, words::BESIDE) => -4,
        () if !is_file && words::any(&parameter.name, words::INPUT) => 3,
        () => 0,
    }
}

fn form(function: &Function, types: &[Type], at: usize, generic: &[String]) -> Option<Form> {
    let (ty, parameter) = (&types[at], &function.parameters[at]);
    let next = types.get(at + 1).zip(function.parameters.get(at + 1));
    if ty.function.is_some() {
        return None;
    }
    if generic.contains(&ty.base) {
        return match ty.pointers {
            0 if next.is_some_and(|(next, _)| next.base == ty.base && next.pointers == 0) => Some(Form::Iterators),
            0 | 1 if words::any(&parameter.name, words::INPUT) || ty.pointers == 1 => Some(Form::Any),
            _ => None,
        };
    }
    // the character of a class template
    let is_generic_text =
        ["Ch", "CharT", "charT", "CharType", "char_type", "Char"].contains(&&*ty.base) && ty.pointers == 1;
    if is_generic_text && !words::any(&parameter.name, words::BESIDE) {
        return Some(Form::Any);
    }
    let is_output = !ty.is_const && words::any(&parameter.name, "out output dst dest result err error errbuf");
    match (kind(&ty.base), ty.pointers) {
        (Base::Byte, 1) if is_output => None,
        (Base::Byte | Base::Void, 1) if is_filled(function, types, at) => None,
        (base @ (Base::Byte | Base::Void), 1) => {
            if next.is_some_and(|(next, named)| is_length(ty, base, next, named)) {
                return Some(Form::PointerAndLength);
            }
            if next.is_some_and(|(next, named)| {
                next.base == ty.base && next.pointers == 1 && words::any(&named.name, words::END)
            }) {
                return Some(Form::PointerAndEnd);
            }
            let names_file = words::any(&parameter.name, words::FILE)
                || words::any(&function.name, "file filename path") && !words::any(&parameter.name, words::INPUT);
            (base == Base::Byte).then_some(if names_file { Form::FileName } else { Form::Text })
        }
        (Base::Byte, 2) if words::any(&parameter.name, "p s str cursor in ptr text src pos cur input") => {
            Some(Form::Cursor)
        }
        (base @ (Base::String | Base::View), 0) if words::any(&parameter.name, words::FILE) => {
            let changes = ty.is_reference && !ty.is_const;
            Some(if changes { Form::Class(base) } else { Form::FileName })
        }
        (base @ (Base::String | Base::View | Base::Bytes), 0) if !is_output => Some(Form::Class(base)),
        (Base::InputStream, 0 | 1) => Some(Form::Class(Base::InputStream)),
        (Base::File, 1) if !is_output => Some(Form::File),
        (Base::Integer, 0) if ty.base == "int" && words::any(&parameter.name, "fd fildes descriptor") => {
            Some(Form::Descriptor)
        }
        _ => None,
    }
}

/// Whether a function fills the memory of a parameter: `read(object, buffer, size)`.
fn is_filled(function: &Function, types: &[Type], at: usize) -> bool {
    let is_source = |(index, ty): (usize, &Type)| {
        index != at
            && (matches!(kind(&ty.base), Base::Other | Base::File) || kind(&ty.base) == Base::Byte && ty.is_const)
    };
    let has_source = function.is_member && !function.is_static || types.iter().enumerate().any(is_source);
    has_source
        && !types[at].is_const
        && types.get(at + 1).is_some_and(|next| kind(&next.base) == Base::Integer && next.pointers == 0)
        && words::any(&function.name, words::FILLS)
}

/// Whether a parameter is the number of bytes behind the pointer before it.
fn is_length(pointer: &Type, base: Base, ty: &Type, named: &Parameter) -> bool {
    if kind(&ty.base) != Base::Integer || ty.pointers > 0 || ty.base == "bool" {
        return false;
    }
    let is_size = ["size_t", "std::size_t", "ssize_t", "gsize", "gssize", "unsigned long"].contains(&&*ty.base);
    match named.name.is_empty() {
        // an int behind a text may be anything
        true => is_size || base == Base::Void || pointer.base != "char",
        false => {
            words::any(&named.name, words::LENGTH)
                || (is_size || base == Base::Void) && !words::any(&named.name, words::SWITCH)
        }
    }
}

/// A class of the user that is made of the input.
fn of_class(ty: &Type, known: &Declarations, depth: usize) -> Option<Form> {
    if depth > 0 || ty.pointers > 1 || ty.is_reference && !ty.is_const && ty.pointers == 0 {
        return None;
    }
    let record = known.records.get(&ty.base).filter(|record| !record.is_abstract && record.template.is_empty())?;
    best_constructor(record, known).filter(|(_, (_, _, worth))| *worth > 0).map(|(at, _)| Form::Constructor(at))
}

/// The constructor that takes the input best, and how, as [`choose`] says.
pub(super) fn best_constructor(record: &Record, known: &Declarations) -> Option<(usize, (usize, Form, i32))> {
    let inputs = record.constructors.iter().enumerate();
    inputs.filter_map(|(at, one)| Some((at, choose(one, known, 1)?))).max_by_key(|(_, (_, _, worth))| *worth)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way that a function is given its input, and the parameter, of types and names such as `const char *text`.
    fn chosen(name: &str, parameters: &[(&str, &str)]) -> Option<(usize, Form)> {
        let parameters = parameters
            .iter()
            .map(|(ty, name)| Parameter { name: (*name).into(), ty: (*ty).into(), is_optional: false })
            .collect();
        let function = Function { name: name.into(), parameters, ..Function::default() };
        choose(&function, &Declarations::default(), 0).map(|(at, form, _)| (at, form))
    }

    #[test]
    fn the_input_is_found_by_types_and_names() {
        for (name, parameters, expected) in [
            ("parse", &[("const char *", "buffer"), ("size_t", "n")][..], Some((0, Form::PointerAndLength))),
            ("parse", &[("const char *", ""), ("int", "")], Some((0, Form::Text))),
            ("compile", &[("regex *", "r"), ("const char *", "pattern"), ("int", "flags")], Some((1, Form::Text))),
            ("parse", &[("const char *", "name"), ("const char *", "text")], Some((1, Form::Text))),
            ("parse", &[("const char *", "begin"), ("const char *", "end")], Some((0, Form::PointerAndEnd))),
            ("parse", &[("const void *", ""), ("unsigned int", "")], Some((0, Form::PointerAndLength))),
            ("f", &[("const std::string &", "s")], Some((0, Form::Class(Base::String)))),
            ("f", &[("std::string_view", "s")], Some((0, Form::Class(Base::View)))),
            ("f", &[("const std::vector<uint8_t> &", "s")], Some((0, Form::Class(Base::Bytes)))),
            ("f", &[("FILE *", "f")], Some((0, Form::File))),
            ("load_file", &[("const char *", "")], Some((0, Form::FileName))),
            ("f", &[("int", "fd")], Some((0, Form::Descriptor))),
            ("read", &[("stream *", "s"), ("char *", "buf"), ("size_t", "n")], None),
            (
                "ini_gets",
                &[("char *", "buffer"), ("int", "size"), ("const char *", "filename")],
                Some((2, Form::FileName)),
            ),
            ("read", &[("char *", "buf"), ("size_t", "n")], Some((0, Form::PointerAndLength))),
            (
                "encode",
                &[("char *", "out"), ("size_t", "n"), ("const uint8_t *", "in"), ("size_t", "m")],
                Some((2, Form::PointerAndLength)),
            ),
            ("f", &[("int", "n"), ("double", "x")], None),
        ] {
            assert_eq!(chosen(name, parameters), expected, "{name}{parameters:?}");
        }
    }
}

//! A call of a function with one input: its arguments, the objects that it needs, and what is freed.

pub(super) mod objects;

use std::collections::BTreeSet;

use super::{
    declarations::{Declarations, Function, mentions, within},
    input::{self, Form},
    types::{Base, Type, kind, resolve},
    words,
};

/// Items of memory for results, beside four for each byte of the input: a frame of sound has 11,520 at most.
const SPACE: usize = 16_384;

/// Calls that are tried if the first one does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    /// Texts beside the input are null instead of empty.
    pub(super) null_texts: bool,
    /// Results and objects are freed.
    pub(super) frees: bool,
    /// Objects of the type that is returned, which the result would become a part of, are made instead of null.
    pub(super) makes_parents: bool,
}

impl Variant {
    pub(super) const ALL: [Self; 6] = [
        Self { null_texts: false, frees: true, makes_parents: false },
        Self { null_texts: false, frees: true, makes_parents: true },
        Self { null_texts: true, frees: true, makes_parents: true },
        Self { null_texts: false, frees: false, makes_parents: false },
        Self { null_texts: false, frees: false, makes_parents: true },
        Self { null_texts: true, frees: false, makes_parents: true },
    ];
}

/// Text around the input before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// A copy that a zero byte ends, named `text`.
    Text,
    /// A stream of the C library, named `file`.
    File,
    /// `path_of(data, size)` gives the name of a file.
    Path,
    /// A stream of C++, named `stream`.
    Stream,
}

/// Statements of a call.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) parts: BTreeSet<Part>,
    /// Functions in front of the harness.
    pub(super) functions: Vec<String>,
    pub(super) before: Vec<String>,
    pub(super) call: String,
    /// In the order in which they are written.
    pub(super) after: Vec<String>,
}

/// Plans a call.
///
/// # Errors
/// The reason why the function cannot be called, as the end of a sentence: `takes a ...`.
pub(super) fn plan(function: &Function, known: &Declarations, is_cxx: bool, variant: Variant) -> Result<Call, String> {
    if function.is_variadic {
        return Err("takes a variable number of arguments".into());
    }
    let takes_input = input::choose(function, known, 0).is_some();
    let mut planner = Planner {
        known,
        is_cxx,
        variant,
        call: Call::default(),
        count: 0,
        depth: 0,
        has_input: false,
        seeks_input: !takes_input,
    };
    let called = if function.is_constructor {
        let class = objects::spelled(&function.scope, known, is_cxx).ok_or("belongs to a template without defaults")?;
        let name = planner.name("object");
        let arguments = planner.arguments(function, true)?;
        let parameters = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
        format!("{class} {name}{parameters}")
    } else if function.is_member && !function.is_static {
        let object = objects::receiver(&mut planner, &function.scope, !takes_input)?;
        if !takes_input
            && !planner.has_input
            && let Some(feeder) = input::feeder(function, known)
        {
            let arguments = planner.arguments(feeder, true)?.join(", ");
            planner.call.before.push(format!("{object}{}({arguments});", feeder.name));
        }
        let arguments = planner.arguments(function, takes_input)?;
        let template = explicit(function)?;
        format!("{object}{}{template}({})", function.name, arguments.join(", "))
    } else {
        let arguments = planner.arguments(function, true)?;
        if !planner.has_input
            && let Some(feeder) = input::feeder(function, known)
            && let Some(object) = input::fed(function, feeder, known).and_then(|at| arguments.get(at))
        {
            let all = [vec![object.clone()], planner.arguments(&feeder.without(0), true)?].concat().join(", ");
            planner.call.before.push(format!("{}({all});", feeder.full_name()));
        }
        let scope = match function.is_member {
            true => objects::spelled(&function.scope, known, is_cxx).ok_or("belongs to a template without defaults")?,
            false => function.scope.clone(),
        };
        format!("{}{}({})", within(&scope, &function.name), explicit(function)?, arguments.join(", "))
    };
    if !planner.has_input {
        return Err("has no parameter for the input (a text, bytes with their number, a file)".into());
    }
    planner.finish(function, called);
    Ok(planner.call)
}

/// An ordinary value for a number of this name.
fn ordinary(name: &str) -> Option<&'static str> {
    words::ORDINARY.iter().find(|(names, _)| words::any(name, names)).map(|(_, value)| *value)
}

/// Values for the first parameters of a template that cannot be told from the arguments.
fn explicit(function: &Function) -> Result<String, String> {
    let values: Vec<&str> =
        function.template.iter().take_while(|one| !one.is_type && !one.has_default).map(|_| "0").collect();
    let used = |name: &str| function.parameters.iter().any(|one| mentions(&one.ty, name));
    let open = function.template.iter().find(|one| one.is_type && !one.has_default && !used(&one.name));
    match open {
        Some(one) => Err(format!("is a template whose parameter {} has to be chosen", one.name)),
        None if values.is_empty() => Ok(String::new()),
        None => Ok(format!("<{}>", values.join(", "))),
    }
}

/// State of a call that is being planned.
pub(super) struct Planner<'a> {
    pub(super) known: &'a Declarations,
    pub(super) is_cxx: bool,
    pub(super) variant: Variant,
    pub(super) call: Call,
    count: usize,
    /// Number of objects that are being made for each other.
    pub(super) depth: usize,
    pub(super) has_input: bool,
    /// Whether an object that the call needs has to take the input, since the function does not.
    pub(super) seeks_input: bool,
}

impl Planner<'_> {
    /// A name that is not taken yet.
    pub(super) fn name(&mut self, word: &str) -> String {
        self.count += 1;
        if self.count == 1 { word.to_owned() } else { format!("{word}{}", self.count) }
    }

    pub(super) fn null(&self) -> &'static str {
        if self.is_cxx { "nullptr" } else { "NULL" }
    }

    /// Arguments for all parameters that need one, with the input among them if `wants_input` and there is none yet.
    pub(super) fn arguments(&mut self, function: &Function, wants_input: bool) -> Result<Vec<String>, String> {
        let chosen =
            if wants_input && !self.has_input { input::choose(function, self.known, self.depth) } else { None };
        let types = input::types(function, self.known);
        let needed = function.parameters.iter().rposition(|one| !one.is_optional).map_or(0, |at| at + 1);
        let needed = needed.max(chosen.map_or(0, |(at, form, _)| at + form.parameters()));
        let (mut arguments, mut at) = (Vec::new(), 0);
        let mut capacity = None;
        while at < needed {
            if let Some((index, form, _)) = chosen
                && index == at
            {
                self.has_input = true;
                arguments.extend(self.input(form, &types[at], &function.parameters[at].ty)?);
                at += form.parameters();
                continue;
            }
            let ty = &types[at];
            let is_number = kind(&ty.base) == Base::Integer && words::any(&function.parameters[at].name, words::LENGTH)
                || function.parameters[at].name.is_empty() && kind(&ty.base) == Base::Integer;
            if let Some(capacity) = capacity.take().filter(|_| is_number) {
                arguments.push(match ty.pointers {
                    0 => capacity,
                    _ => self.variable(&ty.base, &capacity),
                });
            } else {
                let is_output = ty.pointers == 1
                    && !ty.is_const
                    && (kind(&ty.base) == Base::Byte || self.is_filled(function, at, ty));
                arguments.push(self.filler(function, at, ty)?);
                capacity = is_output.then(|| format!("size * 4 + {SPACE}"));
            }
            at += 1;
        }
        Ok(arguments)
    }

    /// Arguments for a function that makes or ends an object for the call.
    pub(super) fn arguments_of_object(
        &mut self,
        function: &Function,
        wants_input: bool,
    ) -> Result<Vec<String>, String> {
        self.depth += 1;
        let arguments = self.arguments(function, wants_input);
        self.depth -= 1;
        arguments
    }

    /// The input as arguments.
    fn input(&mut self, form: Form, ty: &Type, written: &str) -> Result<Vec<String>, String> {
        self.call.parts.extend(match form {
            Form::PointerAndLength | Form::PointerAndEnd => (!ty.is_const).then_some(Part::Text),
            Form::Text | Form::Cursor | Form::Iterators | Form::Any => Some(Part::Text),
            Form::File => Some(Part::File),
            Form::FileName | Form::Descriptor => Some(Part::Path),
            Form::Class(_) | Form::Constructor(_) => None,
        });
        let constant = if ty.is_const { "const " } else { "" };
        let (pointer, text) = (format!("({constant}{} *)", ty.base), self.text_pointer());
        Ok(match form {
            Form::PointerAndLength if ty.is_const => vec![format!("{pointer}data"), "size".into()],
            Form::PointerAndLength => vec![format!("{pointer}{text}"), "size".into()],
            Form::PointerAndEnd if ty.is_const => vec![format!("{pointer}data"), format!("{pointer}data + size")],
            Form::PointerAndEnd => vec![format!("{pointer}{text}"), format!("{pointer}({text} + size)")],
            Form::Text => vec![match (&*ty.base, ty.is_const && self.is_cxx) {
                ("char", true) => "text.c_str()".into(),
                ("char", false) => text.into(),
                _ => format!("{pointer}{text}"),
            }],
            Form::Class(base) => vec![self.class(base, ty, written)],
            Form::File => vec!["file".into()],
            Form::FileName if ty.is_const || ty.pointers == 0 => vec!["path_of(data, size)".into()],
            Form::FileName => vec!["(char *)path_of(data, size)".into()],
            Form::Descriptor => {
                let name = self.name("descriptor");
                self.call.before.push(format!("int {name} = open(path_of(data, size), O_RDONLY);"));
                self.free(format!("close({name});"));
                vec![name]
            }
            Form::Cursor => {
                let name = self.name("cursor");
                self.call.before.push(format!("{constant}{} *{name} = {pointer}{text};", ty.base));
                vec![format!("&{name}")]
            }
            Form::Iterators => {
                self.call.before.extend(["auto first = text.begin();".into(), "auto last = text.end();".into()]);
                vec!["first".into(), "last".into()]
            }
            Form::Any => vec![if ty.pointers == 1 { "&text[0]".into() } else { "text".into() }],
            Form::Constructor(index) => vec![objects::constructed(self, ty, index)?],
        })
    }

    /// Address of the copy of the input, as bytes that may be changed.
    fn text_pointer(&self) -> &'static str {
        if self.is_cxx { "&text[0]" } else { "text" }
    }

    /// A class of the standard library that is made of the input.
    fn class(&mut self, base: Base, ty: &Type, written: &str) -> String {
        match base {
            Base::InputStream => {
                self.call.parts.insert(Part::Stream);
                ty.passed("stream".into())
            }
            Base::Bytes => {
                let item =
                    ty.base.split_once('<').map_or("", |(_, item)| item).split(['>', ',']).next().unwrap_or_default();
                let item = item.trim_start_matches("const ").trim_end_matches(" const");
                let class = written.trim_end_matches(['&', ' ']).trim_start_matches("const ");
                let name = self.name("bytes");
                let value = match ty.base.contains("span<") {
                    true if item.len() < ty.base.len() && ty.base.contains("const") => {
                        format!("((const {item} *)data, size)")
                    }
                    true => {
                        self.call.parts.insert(Part::Text);
                        format!("(({item} *)&text[0], size)")
                    }
                    false => format!("((const {item} *)data, (const {item} *)data + size)"),
                };
                self.call.before.push(format!("{class} {name}{value};"));
                name
            }
            _ => {
                self.call.parts.insert(Part::Text);
                "text".into()
            }
        }
    }

    /// A value for a parameter that does not take the input.
    fn filler(&mut self, function: &Function, at: usize, ty: &Type) -> Result<String, String> {
        let parameter = &function.parameters[at];
        let refused = || Err(format!("takes a `{}`, which cannot be made", parameter.ty));
        if let Some((result, parameters)) = &ty.function {
            return Ok(self.callback(result, parameters, &function.scope));
        }
        if input::template_types(function, self.known).contains(&ty.base) {
            return refused();
        }
        let is_changed = ty.is_reference && !ty.is_const;
        let base = kind(&ty.base);
        Ok(match (base, ty.pointers) {
            (Base::Wide | Base::Void, 0) | (Base::Wide, _) => return refused(),
            (Base::Integer | Base::Float | Base::Byte, 0) if is_changed => self.local(&ty.base, "{}"),
            (Base::Integer, 0) if words::any(&parameter.name, words::LIMIT) => "1000".into(),
            (Base::Integer, 0) if ty.base.contains("bool") && self.is_cxx => "false".into(),
            (Base::Integer, 0) if let Some(value) = ordinary(&parameter.name) => value.into(),
            (Base::Integer | Base::Float | Base::Byte, 0) => "0".into(),
            (Base::Byte, 1) if ty.is_const && self.variant.null_texts => self.null().into(),
            (Base::Byte, 1) if ty.is_const && ty.base == "char" => "\"\"".into(),
            (Base::Byte, 1) if ty.is_const => format!("(const {} *)\"\"", ty.base),
            (Base::Byte, 1) => self.scratch(&ty.base),
            (Base::Void, 1) => objects::handle(self, function, at).unwrap_or_else(|| self.null().into()),
            (Base::Integer | Base::Float, 1) if self.is_filled(function, at, ty) => self.scratch(&ty.base),
            (Base::Integer | Base::Float, 1) => self.variable(&ty.base, "0"),
            (Base::File, 1) => {
                let nowhere = "/* A stream that keeps nothing. */\nstatic FILE *nowhere(void) {\n  static FILE *file;\n  \
                               if (!file)\n    file = fopen(\"/dev/null\", \"r+\");\n  return file;\n}";
                if !self.call.functions.iter().any(|one| one == nowhere) {
                    self.call.functions.push(nowhere.into());
                }
                "nowhere()".into()
            }
            (Base::Byte | Base::Void | Base::Integer | Base::Float | Base::Other, 2) => self.out_pointer(ty),
            (Base::String | Base::View, 0) if !is_changed => "\"\"".into(),
            (Base::OutputStream, 0 | 1) => ty.passed(self.local("std::ostringstream", "")),
            (Base::Standard, 0) if ty.base.starts_with("std::function<") => {
                let result = ty.base.trim_start_matches("std::function<").split('(').next().unwrap_or_default().trim();
                lambda(result, "auto &&...")
            }
            (Base::String | Base::View | Base::Bytes | Base::InputStream | Base::Standard, 0 | 1) => {
                let class = match base {
                    Base::String => "std::string",
                    Base::InputStream => "std::istringstream",
                    _ => objects::written(&parameter.ty),
                };
                ty.passed(self.local(class, ""))
            }
            _ if self.known.enums.contains(&ty.base) && ty.pointers == 0 && !is_changed => match self.is_cxx {
                true => format!("static_cast<{}>(0)", ty.base),
                false => "0".into(),
            },
            (Base::Other, 1) if !self.variant.makes_parents && self.depth == 0 && self.is_parent(function, ty) => {
                self.null().into()
            }
            (Base::Other, 0 | 1) => objects::argument(self, ty, parameter, at > 0)?,
            (Base::Byte | Base::Other, 3) if !self.is_cxx || base == Base::Byte => self.out_pointer(ty),
            _ => return refused(),
        })
    }

    /// Whether a pointer to numbers is one to many of them, which the function writes.
    fn is_filled(&self, function: &Function, at: usize, ty: &Type) -> bool {
        matches!(kind(&ty.base), Base::Integer | Base::Float)
            && ty.pointers == 1
            && !ty.is_const
            && !ty.is_reference
            && words::any(&function.parameters[at].name, words::FILLED)
    }

    /// Whether an argument has the type of the result, as the node that a tree is added to has.
    fn is_parent(&self, function: &Function, ty: &Type) -> bool {
        let result = resolve(&function.result, &function.scope, self.known);
        result.pointers == 1 && result.base == ty.base && !function.is_constructor
    }

    /// A function that does nothing and returns zero.
    fn callback(&mut self, result: &str, parameters: &str, scope: &str) -> String {
        if self.is_cxx {
            let ty = resolve(result, scope, self.known);
            let result = if kind(&ty.base) == Base::Other && ty.pointers == 0 { &*ty.base } else { result };
            return lambda(result, "auto...");
        }
        let name = self.name("nothing");
        let value = if result == "void" { "" } else { " return 0; " };
        self.call
            .functions
            .push(format!("static {result} {name}({parameters}) {{{value}}}").replace("* nothing", "*nothing"));
        name
    }

    /// A variable of a class; returns its name.
    pub(super) fn local(&mut self, class: &str, value: &str) -> String {
        let name = self.name("object");
        self.call.before.push(format!("{class} {name}{value};"));
        name
    }

    /// A variable that the function may write to; returns its address.
    fn variable(&mut self, ty: &str, value: &str) -> String {
        let name = self.name("value");
        self.call.before.push(format!("{ty} {name} = {value};"));
        format!("&{name}")
    }

    /// Memory that the function may write to.
    fn scratch(&mut self, base: &str) -> String {
        let name = self.name("output");
        self.call.before.push(format!("{base} *{name} = ({base} *)calloc(size * 4 + {SPACE}, sizeof *{name});"));
        self.call.after.insert(0, format!("free({name});"));
        name
    }

    /// A pointer that the function sets; what it points at then is freed if it is known how.
    fn out_pointer(&mut self, ty: &Type) -> String {
        let (name, base) = (self.name("result"), kind(&ty.base));
        let class = objects::spelled(&ty.base, self.known, self.is_cxx).filter(|_| base == Base::Other);
        let class = class.unwrap_or_else(|| ty.base.clone());
        let (constant, stars) = (if ty.is_const { "const " } else { "" }, "*".repeat(ty.pointers - 1));
        self.call.before.push(format!("{constant}{class} {stars}{name} = {};", self.null()));
        if ty.pointers == 3 || !ty.is_const && matches!(base, Base::Byte | Base::Void) {
            self.free(format!("free({name});"));
        } else if let Some(line) = objects::end_of_pointer(self, &ty.base, &name) {
            self.free(line);
        }
        format!("&{name}")
    }

    /// Adds a statement behind the call that frees something, the last made first.
    pub(super) fn free(&mut self, line: String) {
        if self.variant.frees {
            self.call.after.insert(0, line);
        }
    }

    /// The statement of the call, and what becomes of the result.
    fn finish(&mut self, function: &Function, called: String) {
        let ty = resolve(&function.result, &function.scope, self.known);
        let keeps = |planner: &mut Self, called: String| planner.call.call = format!("{called};");
        if function.is_constructor || ty.function.is_some() {
            return keeps(self, called);
        }
        match (kind(&ty.base), ty.pointers) {
            (Base::Byte, 1) if !ty.is_const && !self.is_cxx && self.variant.frees => {
                self.call.call = format!("{} *made = {called};", ty.base);
                self.call.after.insert(0, "free(made);".into());
            }
            (Base::Integer | Base::Float, 0) if !ty.is_reference => {
                // so that the compiler cannot leave the call out
                self.call.call = format!("volatile {} value_of_call = {called};", ty.base);
                self.call.after.push("(void)value_of_call;".into());
            }
            (Base::Other, 0 | 1) if !ty.is_const && !ty.is_reference && self.variant.frees => {
                let end = match ty.pointers {
                    1 => objects::end_of_pointer(self, &ty.base, "made").or_else(|| {
                        // a pointer that a function of a library returns is the caller's, more often than not
                        let is_ours = self.is_cxx && (!function.is_member || function.is_static);
                        is_ours.then(|| "delete made;".into())
                    }),
                    _ => objects::end(self, &ty.base, "made", false),
                };
                match (end, objects::spelled(&ty.base, self.known, self.is_cxx)) {
                    (Some(end), Some(class)) => {
                        let star = if ty.pointers == 1 { " *" } else { " " };
                        self.call.call = format!("{class}{star}made = {called};");
                        self.call.after.insert(0, end);
                    }
                    _ => keeps(self, called),
                }
            }
            _ => keeps(self, called),
        }
    }
}

/// A function of C++ that does nothing.
fn lambda(result: &str, parameters: &str) -> String {
    match result {
        "void" => format!("[]({parameters}) {{}}"),
        _ => format!("[]({parameters}) -> {result} {{ return {{}}; }}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::declarations::{Parameter, Record, TemplateParameter};

    /// A function from its parts: result, name with what is around it, and parameters as `type name`.
    fn function(result: &str, name: &str, parameters: &[(&str, &str)]) -> Function {
        let (scope, name) = name.rsplit_once("::").unwrap_or(("", name));
        let parameters = parameters
            .iter()
            .map(|(ty, name)| Parameter { name: (*name).into(), ty: (*ty).into(), is_optional: false })
            .collect();
        Function { scope: scope.into(), name: name.into(), result: result.into(), parameters, ..Function::default() }
    }

    /// All statements of a call, joined by blanks.
    fn planned(one: &Function, known: &Declarations, is_cxx: bool) -> String {
        match plan(one, known, is_cxx, Variant::ALL[0]) {
            Ok(call) => [call.before, vec![call.call], call.after].concat().join(" "),
            Err(why) => format!("refused: {why}"),
        }
    }

    #[test]
    fn texts_and_bytes_are_passed_in_c() {
        let none = Declarations::default();
        let of = |parameters: &[(&str, &str)]| planned(&function("void", "f", parameters), &none, false);
        assert_eq!(of(&[("const char *", "text")]), "f(text);");
        assert_eq!(of(&[("const unsigned char *", "text"), ("int", "flags")]), "f((const unsigned char *)text, 0);");
        assert_eq!(of(&[("const char *", "buf"), ("size_t", "n")]), "f((const char *)data, size);");
        assert_eq!(of(&[("char *", "buf"), ("size_t", "n")]), "f((char *)text, size);");
        assert_eq!(
            of(&[("const char *", "name"), ("const char *", "text"), ("int", "max_depth")]),
            "f(\"\", text, 1000);"
        );
        assert_eq!(
            of(&[("const char *", "in"), ("char *", "out"), ("size_t", "out_size")]),
            "char *output = (char *)calloc(size * 4 + 16384, sizeof *output); f(text, output, size * 4 + 16384); free(output);"
        );
        assert_eq!(
            of(&[("int", "n")]),
            "refused: has no parameter for the input (a text, bytes with their number, a file)"
        );
        assert!(
            of(&[("const wchar_t *", "w"), ("const char *", "text")]).starts_with("refused: takes a `const wchar_t *`")
        );
    }

    #[test]
    fn objects_of_c_come_in_pairs() {
        let mut known = Declarations::default();
        known.records.insert("state".into(), Record::default());
        let parse = function("int", "state_parse", &[("struct state *", "s"), ("const char *", "text")]);
        assert!(planned(&parse, &known, false).starts_with("refused: takes a `struct state *`, and nothing"));
        known.functions.push(function("struct state *", "newstate", &[("void *", "user")]));
        known.functions.push(function("void", "state_unref", &[("struct state *", "s"), ("const char *", "name")]));
        known.functions.push(function("void", "freestate", &[("struct state *", "s")]));
        assert_eq!(
            planned(&parse, &known, false),
            "struct state *object = newstate(NULL); if (!object)\n    return 0; \
             volatile int value_of_call = state_parse(object, text); if (object)\n    freestate(object); (void)value_of_call;"
        );
        let made = function("struct state *", "read_state", &[("const char *", "text")]);
        assert_eq!(
            planned(&made, &known, false),
            "struct state *made = read_state(text); if (made)\n    freestate(made);"
        );
        let set =
            function("void", "state_set_input", &[("struct state *", "s"), ("const char *", "input"), ("size_t", "n")]);
        known.functions.push(set);
        let scan = function("void", "state_scan", &[("struct state *", "s")]);
        assert!(
            planned(&scan, &known, false)
                .contains("state_set_input(object, (const char *)data, size); state_scan(object);")
        );
    }

    #[test]
    fn classes_are_made_by_constructors_that_need_nothing_or_the_input() {
        let mut known = Declarations::default();
        let mut record = Record { is_complete: true, has_default_constructor: true, ..Record::default() };
        known.records.insert("a::Parser".into(), record.clone());
        let mut method = function("void", "a::Parser::parse", &[("const std::string &", "s")]);
        method.is_member = true;
        assert_eq!(planned(&method, &known, true), "a::Parser object; object.parse(text);");
        record.has_default_constructor = false;
        record.constructors.push(function("void", "a::Reader::Reader", &[("std::string_view", "text")]));
        known.records.insert("a::Reader".into(), record);
        let mut run = function("void", "a::Reader::run", &[]);
        run.is_member = true;
        assert_eq!(planned(&run, &known, true), "a::Reader object(text); object.run();");
        known.records.insert("a::Base".into(), Record { is_complete: true, is_abstract: true, ..Record::default() });
        let takes = function("void", "a::f", &[("a::Base &", "b"), ("const char *", "text")]);
        assert!(planned(&takes, &known, true).starts_with("refused: takes a `a::Base &`"));
    }

    #[test]
    fn templates_are_called_with_what_can_be_told() {
        let known = Declarations::default();
        let mut range = function("void", "n::parse", &[("It", "first"), ("It", "last")]);
        range.template.push(TemplateParameter { name: "It".into(), is_type: true, has_default: false });
        assert!(planned(&range, &known, true).ends_with("n::parse(first, last);"));
        let mut open = function("void", "n::parse", &[("const char *", "text")]);
        open.template.push(TemplateParameter { name: "T".into(), is_type: true, has_default: false });
        assert_eq!(planned(&open, &known, true), "refused: is a template whose parameter T has to be chosen");
        open.template[0].is_type = false;
        assert_eq!(planned(&open, &known, true), "n::parse<0>(text.c_str());");
    }

    #[test]
    fn callbacks_do_nothing() {
        let known = Declarations::default();
        let one = function("void", "f", &[("const char *", "text"), ("int (*)(void *, int)", "seen")]);
        assert_eq!(planned(&one, &known, true), "f(text.c_str(), [](auto...) -> int { return {}; });");
        let call = plan(&one, &known, false, Variant::ALL[0]).expect("a call");
        assert_eq!(
            (&*call.functions[0], &*call.call),
            ("static int nothing(void *, int) { return 0; }", "f(text, nothing);")
        );
    }
}

//! Types as a call sees them: what is behind the names, the pointers and the references.

use super::declarations::{Declarations, within};

/// A type without its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Type {
    /// Name of what is pointed at or referred to, or of the value, without `const`: its full name if it is the user's.
    pub(super) base: String,
    /// Whether that may not be changed.
    pub(super) is_const: bool,
    pub(super) pointers: usize,
    /// `&` or `&&`.
    pub(super) is_reference: bool,
    /// Result and parameters, of a pointer to a function.
    pub(super) function: Option<(String, String)>,
}

impl Type {
    /// A variable as an argument: its address for a pointer.
    pub(super) fn passed(&self, name: String) -> String {
        if self.pointers == 1 { format!("&{name}") } else { name }
    }
}

/// Kind of a type's base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Byte,
    Void,
    Integer,
    Float,
    String,
    View,
    /// A vector or span of bytes.
    Bytes,
    InputStream,
    OutputStream,
    File,
    Wide,
    /// A container or another class of the standard library.
    Standard,
    Other,
}

/// The type behind a text; `scope` is where it was written.
pub(super) fn resolve(text: &str, scope: &str, known: &Declarations) -> Type {
    let mut found = parse(text);
    // names for names for types; a circle cannot be written
    for _ in 0..16 {
        if found.function.is_some() || is_builtin(&found.base) {
            break;
        }
        let Some((full, behind)) = lookup(&found.base, scope, |name| known.names.get(name)) else { break };
        let inner = parse(behind);
        if inner.base == found.base || inner.base == full {
            break;
        }
        if inner.function.is_some() && found.pointers + inner.pointers == 0 {
            return Type { function: inner.function, ..found };
        }
        found = Type {
            is_const: inner.is_const || found.is_const && inner.pointers == 0,
            pointers: found.pointers + inner.pointers,
            is_reference: found.is_reference || inner.is_reference,
            ..inner
        };
    }
    let user = lookup(&found.base, scope, |name| {
        (known.records.contains_key(name) || known.enums.contains(name)).then_some(())
    });
    if let Some((full, _)) = user {
        found.base = full;
    }
    found
}

/// Looks a name up from the inside to the outside, as a compiler does.
fn lookup<'a, T>(name: &'a str, scope: &str, find: impl Fn(&str) -> Option<T> + 'a) -> Option<(String, T)> {
    let mut scope = scope;
    loop {
        let full = within(scope, name);
        if let Some(found) = find(&full) {
            return Some((full, found));
        }
        if scope.is_empty() {
            return None;
        }
        scope = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
    }
}

/// Takes a type apart as it is written.
fn parse(text: &str) -> Type {
    let text = text.trim();
    if let Some((result, rest)) = text.split_once("(*").or_else(|| text.split_once("(&"))
        && let Some((_, parameters)) = rest.split_once(")(")
        && !result.contains('<')
    {
        let parameters = parameters.rsplit_once(')').map_or(parameters, |(inside, _)| inside);
        return Type { function: Some((result.trim().into(), parameters.trim().into())), ..Type::default() };
    }
    if text.ends_with(')') && !text.contains('<') {
        // the name of a function's type: `int (void *)`
        if let Some((result, parameters)) = text.strip_suffix(')').and_then(|text| text.split_once(" (")) {
            return Type { function: Some((result.into(), parameters.into())), ..Type::default() };
        }
    }
    let mut found = Type::default();
    let mut rest = text;
    loop {
        rest = rest.trim_end();
        if let Some(less) = rest.strip_suffix('*') {
            found.pointers += 1;
            rest = less;
        } else if let Some(less) = rest.strip_suffix('&') {
            found.is_reference = true;
            rest = less;
        } else if let Some(less) = rest.strip_suffix(']') {
            found.pointers += 1;
            rest = less.rsplit_once('[').map_or("", |(before, _)| before);
        } else if let Some(less) =
            [" const", "*const", "*restrict", "*__restrict", " restrict", "__restrict", " volatile"]
                .iter()
                .find_map(|end| rest.strip_suffix(end.trim_start_matches('*')).filter(|_| rest.ends_with(end)))
        {
            // of the base, or of a pointer to it, which a callee may not change: no matter
            found.is_const |= !less.trim_end().ends_with('*');
            rest = less;
        } else {
            break;
        }
    }
    for word in ["const ", "volatile ", "struct ", "class ", "enum ", "union ", "typename ", "const "] {
        if let Some(less) = rest.trim_start().strip_prefix(word) {
            found.is_const |= word == "const ";
            rest = less;
        }
    }
    rest.trim().clone_into(&mut found.base);
    found
}

/// Names whose meaning is known, and that are not looked behind.
fn is_builtin(base: &str) -> bool {
    kind(base) != Base::Other
}

fn is_byte(word: &str) -> bool {
    matches!(word, "char" | "signed char" | "unsigned char" | "char8_t" | "gchar" | "guchar" | "u_char")
        || matches!(word, "uint8_t" | "int8_t" | "std::uint8_t" | "byte" | "std::byte")
}

/// Kind of a base by its name.
pub(super) fn kind(base: &str) -> Base {
    let base = base.strip_prefix("std::__cxx11::").map_or_else(|| base.to_owned(), |rest| format!("std::{rest}"));
    let word = base.as_str();
    if is_byte(word) {
        return Base::Byte;
    }
    if let Some(of) = ["std::vector<", "std::span<", "std::basic_span<", "gsl::span<"]
        .iter()
        .find_map(|start| word.strip_prefix(start))
    {
        let item =
            of.split(['>', ',']).next().unwrap_or_default().trim_start_matches("const ").trim_end_matches(" const");
        if is_byte(item.trim()) {
            return Base::Bytes;
        }
    }
    match word {
        "void" | "gpointer" => Base::Void,
        "bool" | "_Bool" | "short" | "unsigned short" | "int" | "unsigned int" | "unsigned" | "long"
        | "unsigned long" | "long long" | "unsigned long long" | "size_t" | "ssize_t" | "std::size_t" | "ptrdiff_t"
        | "std::ptrdiff_t" | "off_t" | "off64_t" | "intptr_t" | "uintptr_t" | "uint" | "ulong" | "time_t" | "gsize"
        | "gssize" | "gint" | "guint" | "gboolean" | "mode_t" => Base::Integer,
        "float" | "double" | "long double" => Base::Float,
        "FILE" | "_IO_FILE" | "std::FILE" => Base::File,
        "wchar_t" | "char16_t" | "char32_t" | "std::wstring" | "std::u16string" | "std::u32string" => Base::Wide,
        _ => kind_of_class(word),
    }
}

fn kind_of_class(word: &str) -> Base {
    let digits = |rest: &str| {
        rest.trim_end_matches("_t").trim_start_matches("_fast").trim_start_matches("_least").parse::<u8>().is_ok()
    };
    let bare = word.strip_prefix("std::").unwrap_or(word);
    if ["uint", "int", "u_int"].iter().any(|start| bare.strip_prefix(start).is_some_and(digits)) {
        return Base::Integer;
    }
    let is = |names: &[&str]| names.iter().any(|name| word == *name || word.starts_with(&format!("{name}<char")));
    let is_generic = |name: &str| word.starts_with(&format!("{name}<")) && !word.contains("wchar_t");
    if is(&["std::string", "std::basic_string", "std::pmr::string"]) || is_generic("std::basic_string") {
        Base::String
    } else if is(&["std::string_view", "std::basic_string_view", "absl::string_view"])
        || is_generic("std::basic_string_view")
    {
        Base::View
    } else if is(&["std::istream", "std::basic_istream", "std::stringstream", "std::istringstream", "std::iostream"])
        || is_generic("std::basic_istream")
    {
        Base::InputStream
    } else if is(&["std::ostream", "std::basic_ostream", "std::ostringstream"]) || is_generic("std::basic_ostream") {
        Base::OutputStream
    } else if word.starts_with("std::") {
        Base::Standard
    } else {
        Base::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Declarations {
        let mut known = Declarations::default();
        for (name, ty) in
            [("u8", "unsigned char"), ("xml", "u8"), ("handle", "struct state *"), ("seen", "int (*)(void *, int)")]
        {
            known.names.insert(name.into(), ty.into());
        }
        known.names.insert("a::text".into(), "std::string".into());
        known.records.insert("a::b".into(), super::super::declarations::Record::default());
        known
    }

    #[test]
    fn names_are_looked_behind() {
        let of = |text: &str| resolve(text, "a", &known());
        let bytes = of("const xml *");
        assert_eq!((&*bytes.base, bytes.is_const, bytes.pointers), ("unsigned char", true, 1));
        assert_eq!((&*of("handle").base, of("handle").pointers, of("handle *").pointers), ("state", 1, 2));
        assert_eq!(of("seen").function, Some(("int".into(), "void *, int".into())));
        assert_eq!(kind(&of("const text &").base), Base::String);
        assert_eq!(of("b &").base, "a::b");
        assert!(of("const char *const").is_const && !of("char *const").is_const && !of("char *restrict").is_const);
        assert_eq!(of("void (*)(const char *)").function, Some(("void".into(), "const char *".into())));
    }

    #[test]
    fn kinds_are_known_by_their_names() {
        for (name, expected) in [
            ("std::vector<unsigned char>", Base::Bytes),
            ("std::vector<int>", Base::Standard),
            ("std::span<const std::byte>", Base::Bytes),
            ("std::__cxx11::basic_string<char>", Base::String),
            ("std::basic_string_view<char>", Base::View),
            ("uint32_t", Base::Integer),
            ("std::uint64_t", Base::Integer),
            ("FILE", Base::File),
            ("wchar_t", Base::Wide),
            ("integer", Base::Other),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
    }
}

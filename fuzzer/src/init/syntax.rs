//! Syntax tree of clang, as JSON: only the fields that are used, and only declarations of the user's files.

use std::{
    fmt,
    io::{self, BufRead},
    time::{Duration, Instant},
};

use serde::{
    Deserialize,
    de::{IgnoredAny, MapAccess, Visitor},
};

/// Longest time for one header; with the whole C++ library, clang needs three seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Largest text of one declaration, in bytes: a namespace with all that is in it.
const LARGEST_DECLARATION: usize = 256 << 20;

/// A node of the tree.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) kind: String,
    pub(super) name: String,
    /// File of the declaration, if it is another one than that of the node before it.
    pub(super) file: Option<String>,
    /// Type as written; empty if it has none.
    pub(super) ty: String,
    /// `public`, `protected` or `private`, of a line that says so.
    pub(super) access: String,
    /// `struct`, `class` or `union`.
    pub(super) tag: String,
    pub(super) storage: String,
    pub(super) is_implicit: bool,
    pub(super) is_complete: bool,
    pub(super) is_abstract: bool,
    pub(super) is_inline: bool,
    pub(super) is_deleted: bool,
    pub(super) is_variadic: bool,
    pub(super) has_default_constructor: bool,
    /// A default value, of a parameter of a function or of a template.
    pub(super) has_default: bool,
    /// Types of the classes that a class is derived from.
    pub(super) bases: Vec<String>,
    pub(super) inner: Vec<Node>,
}

/// A type as clang writes it.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Type {
    #[serde(rename = "qualType")]
    text: String,
}

/// A class that another is derived from.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Parent {
    access: String,
    #[serde(rename = "type")]
    ty: Type,
}

/// A place in a file: a macro has two.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Place {
    file: Option<String>,
    spelling_loc: Option<Box<Place>>,
    expansion_loc: Option<Box<Place>>,
}

impl Place {
    fn file(self) -> Option<String> {
        let of = |place: Option<Box<Self>>| place.and_then(|place| place.file);
        self.file.or(of(self.expansion_loc)).or(of(self.spelling_loc))
    }
}

/// A class as clang sees it.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Definition {
    default_ctor: Constructor,
    is_abstract: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Constructor {
    exists: bool,
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Nodes)
    }
}

struct Nodes;

impl<'de> Visitor<'de> for Nodes {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a node of a syntax tree")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Node, M::Error> {
        let mut node = Node::default();
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "kind" => node.kind = map.next_value()?,
                "name" => node.name = map.next_value()?,
                "loc" => node.file = map.next_value::<Place>()?.file(),
                "type" => node.ty = map.next_value::<Type>()?.text,
                "access" => node.access = map.next_value()?,
                "tagUsed" => node.tag = map.next_value()?,
                "storageClass" => node.storage = map.next_value()?,
                "isImplicit" => node.is_implicit = map.next_value()?,
                "completeDefinition" => node.is_complete = map.next_value()?,
                "isInline" => node.is_inline = map.next_value()?,
                "explicitlyDeleted" => node.is_deleted = map.next_value()?,
                "variadic" => node.is_variadic = map.next_value()?,
                "definitionData" => {
                    let found: Definition = map.next_value()?;
                    node.has_default_constructor = found.default_ctor.exists;
                    node.is_abstract = found.is_abstract;
                }
                "bases" => {
                    let parents: Vec<Parent> = map.next_value()?;
                    let public = parents.into_iter().filter(|parent| parent.access == "public");
                    node.bases = public.map(|parent| parent.ty.text).collect();
                }
                "init" | "defaultArg" => {
                    map.next_value::<IgnoredAny>()?;
                    node.has_default = true;
                }
                // statements are nested deeply, and declare nothing
                "inner" if is_looked_into(&node.kind) => node.inner = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(node)
    }
}

/// Whether the declarations in a declaration of this kind are of use.
fn is_looked_into(kind: &str) -> bool {
    matches!(
        kind,
        "NamespaceDecl"
            | "LinkageSpecDecl"
            | "EnumDecl"
            | "FunctionDecl"
            | "FunctionTemplateDecl"
            | "ClassTemplateDecl"
            | "RecordDecl"
            | "CXXRecordDecl"
            | "CXXMethodDecl"
            | "CXXConstructorDecl"
            | "CXXDestructorDecl"
    )
}

/// Reads what clang prints, and keeps the outermost declarations whose file `is_wanted`, and all names for types. The tree of
/// the standard library, 300 MB, is only passed by. With each declaration comes its file.
///
/// # Errors
/// If it cannot be read, or takes too much time or memory.
pub(super) fn read(mut from: impl BufRead, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<(String, Node)>> {
    let (start, mut line, mut text) = (Instant::now(), Vec::new(), Vec::new());
    let (mut file, mut declared_in, mut nodes) = (String::new(), String::new(), Vec::new());
    // whether the declaration is kept, as soon as its head has said where it is
    let (mut kept, mut in_head, mut after_include) = (false, false, false);
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(nodes);
        }
        if line == b"    {\n" {
            (in_head, kept) = (true, true);
            text.clear();
            if start.elapsed() > PATIENCE {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "clang takes more than a minute"));
            }
        }
        if !after_include && let Some(name) = value(&line, b"\"file\": \"") {
            file = name;
        }
        after_include = line.trim_ascii_start().starts_with(b"\"includedFrom\"");
        if in_head && line.starts_with(b"      \"range\"") {
            in_head = false;
            let is_name = memchr::memmem::find(&text, b"\"kind\": \"Typedef").is_some();
            kept = is_name || is_wanted(&file);
            declared_in.clone_from(&file);
        }
        if kept {
            text.extend_from_slice(&line);
        }
        if text.len() > LARGEST_DECLARATION {
            return Err(io::Error::other("a declaration is larger than 256 MiB"));
        }
        if kept && matches!(&*line, b"    },\n" | b"    }\n") {
            kept = false;
            let end = text.iter().rposition(|&byte| byte == b'}').map_or(0, |at| at + 1);
            nodes.push((declared_in.clone(), serde_json::from_slice(&text[..end])?));
        }
    }
}

/// The text behind a key.
fn value(line: &[u8], key: &[u8]) -> Option<String> {
    let rest = line.trim_ascii_start().strip_prefix(key)?;
    let end = rest.iter().rposition(|&byte| byte == b'"')?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

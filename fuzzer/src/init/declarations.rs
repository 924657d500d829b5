//! Declarations of a header: functions, classes and names for types, by their full names.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::Node;

/// A parameter of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Type as written.
    pub(super) ty: String,
    /// Whether it has a default value.
    pub(super) is_optional: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TemplateParameter {
    pub(super) name: String,
    pub(super) is_type: bool,
    pub(super) has_default: bool,
}

/// A function, method or constructor.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    /// Namespaces and classes around it, with `::` between them.
    pub(super) scope: String,
    pub(super) name: String,
    /// Whether `scope` is a class.
    pub(super) is_member: bool,
    /// Whether it is called without an object.
    pub(super) is_static: bool,
    pub(super) is_constructor: bool,
    pub(super) is_variadic: bool,
    pub(super) parameters: Vec<Parameter>,
    /// Type of what it returns, as written.
    pub(super) result: String,
    pub(super) template: Vec<TemplateParameter>,
    /// File that declares it.
    pub(super) file: String,
}

impl Function {
    /// Name with all that is around it.
    pub(super) fn full_name(&self) -> String {
        within(&self.scope, &self.name)
    }

    /// The function without one of its parameters, whose argument is known.
    pub(super) fn without(&self, at: usize) -> Self {
        let mut rest = self.clone();
        rest.parameters.remove(at);
        rest
    }

    /// Declaration in one line, for people.
    pub(super) fn declaration(&self) -> String {
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|one| match one.ty.split_once("(*)") {
                Some((result, rest)) => format!("{result}(*{}){rest}", one.name),
                None => format!("{} {}", one.ty, one.name).trim_end().replace("* ", "*").replace("& ", "&"),
            })
            .collect();
        format!("{}({})", self.full_name(), parameters.join(", "))
    }
}

/// A class, struct or union.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) is_complete: bool,
    /// Whether it is made without arguments.
    pub(super) has_default_constructor: bool,
    pub(super) is_abstract: bool,
    /// Public constructors, but for those that copy and move.
    pub(super) constructors: Vec<Function>,
    /// Parameters, if it is a template.
    pub(super) template: Vec<TemplateParameter>,
    /// Classes that it is derived from, as written.
    pub(super) bases: Vec<String>,
}

/// All that the files of the user declare, and the names that any file gives to types.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    pub(super) functions: Vec<Function>,
    pub(super) records: BTreeMap<String, Record>,
    pub(super) enums: BTreeSet<String>,
    /// Types by the names that `typedef` and `using` give them.
    pub(super) names: BTreeMap<String, String>,
}

/// Place in the tree.
#[derive(Clone, Default)]
struct Around {
    scope: String,
    /// The class, if it is one.
    class: Option<String>,
    is_hidden: bool,
    template: Vec<TemplateParameter>,
}

impl Declarations {
    /// Collects from the outermost declarations and their files.
    pub(super) fn of(nodes: Vec<(String, Node)>, is_wanted: &dyn Fn(&str) -> bool) -> Self {
        let mut found = Self::default();
        for (file, node) in nodes {
            let mut walk = Walk { found: &mut found, file, is_wanted };
            walk.node(node, &Around::default());
        }
        found
    }
}

impl Declarations {
    /// Whether a class is another one, or derived from it.
    pub(super) fn is_a(&self, class: &str, other: &str) -> bool {
        let plain = |name: &str| name.split('<').next().unwrap_or(name).to_owned();
        let short = |name: &str| plain(name).rsplit("::").next().unwrap_or_default().to_owned();
        class == other
            || self.records.get(class).is_some_and(|record| {
                // as written: without the namespace that both are in
                let is_parent = |base: &String| short(base) == short(other);
                record.bases.iter().any(|base| {
                    let named = self.named_near(class, &plain(base));
                    is_parent(base) || named.is_some_and(|name| name != class && self.is_a(&name, other))
                })
            })
    }

    /// The class that a name means beside this one: of the innermost namespace that has it.
    fn named_near(&self, class: &str, name: &str) -> Option<String> {
        let scopes = std::iter::successors(Some(class), |scope| scope.rsplit_once("::").map(|(outer, _)| outer));
        let names = scopes.skip(1).map(|scope| within(scope, name)).chain([name.to_owned()]);
        names.into_iter().find(|name| self.records.contains_key(name))
    }
}

struct Walk<'a> {
    found: &'a mut Declarations,
    file: String,
    is_wanted: &'a dyn Fn(&str) -> bool,
}

impl Walk<'_> {
    fn node(&mut self, node: Node, around: &Around) {
        if let Some(file) = &node.file {
            self.file.clone_from(file);
        }
        if node.is_implicit || around.is_hidden && node.kind != "CXXConstructorDecl" {
            return;
        }
        let full = within(&around.scope, &node.name);
        match &*node.kind {
            "LinkageSpecDecl" => self.all(node.inner, around),
            "NamespaceDecl" if !node.name.is_empty() => {
                let scope = if node.is_inline { around.scope.clone() } else { full };
                self.all(node.inner, &Around { scope, ..Around::default() });
            }
            "TypedefDecl" | "TypeAliasDecl" => drop(self.found.names.insert(full, node.ty)),
            "EnumDecl" => drop(self.found.enums.insert(full)),
            "RecordDecl" | "CXXRecordDecl" if !node.name.is_empty() => self.record(node, full, around),
            "ClassTemplateDecl" | "FunctionTemplateDecl" => {
                let template = node.inner.iter().filter_map(template_parameter).collect();
                // its first declaration is the template, the others are what it has been used for
                let of_template = |one: &Node| matches!(&*one.kind, "CXXRecordDecl" | "FunctionDecl" | "CXXMethodDecl");
                if let Some(one) = node.inner.into_iter().find(of_template) {
                    self.node(one, &Around { template, ..around.clone() });
                }
            }
            "FunctionDecl" | "CXXMethodDecl" | "CXXConstructorDecl" => self.function(node, around),
            _ => {}
        }
    }

    fn all(&mut self, nodes: Vec<Node>, around: &Around) {
        for node in nodes {
            self.node(node, around);
        }
    }

    fn record(&mut self, node: Node, full: String, around: &Around) {
        let record = self.found.records.entry(full.clone()).or_default();
        // a declaration may follow the definition
        record.is_complete |= node.is_complete;
        record.has_default_constructor |= node.has_default_constructor;
        record.is_abstract |= node.is_abstract;
        record.bases.extend(node.bases);
        if !around.template.is_empty() && record.template.iter().all(|one| !one.has_default) {
            record.template.clone_from(&around.template);
        }
        let mut inside =
            Around { scope: full.clone(), class: Some(full), is_hidden: node.tag == "class", template: Vec::new() };
        for one in node.inner {
            if one.kind == "AccessSpecDecl" {
                inside.is_hidden = one.access != "public";
            } else {
                self.node(one, &inside);
            }
        }
    }

    fn function(&mut self, node: Node, around: &Around) {
        let parameters: Vec<Parameter> = node
            .inner
            .iter()
            .filter(|one| one.kind == "ParmVarDecl")
            .map(|one| Parameter { name: one.name.clone(), ty: one.ty.clone(), is_optional: one.has_default })
            .collect();
        let is_constructor = node.kind == "CXXConstructorDecl";
        let is_member = around.class.is_some();
        let function = Function {
            scope: around.scope.clone(),
            name: node.name,
            is_member,
            is_static: node.storage == "static" && is_member,
            is_constructor,
            is_variadic: node.is_variadic,
            result: result_of(&node.ty),
            parameters,
            template: around.template.clone(),
            file: self.file.clone(),
        };
        if is_constructor {
            self.constructor(function, around, node.is_deleted);
        } else if !node.is_deleted && !function.name.starts_with("operator") && (self.is_wanted)(&function.file) {
            self.found.functions.push(function);
        }
    }

    fn constructor(&mut self, function: Function, around: &Around, is_deleted: bool) {
        let Some(record) = around.class.as_ref().and_then(|class| self.found.records.get_mut(class)) else { return };
        let is_default = function.parameters.iter().all(|one| one.is_optional);
        if around.is_hidden || is_deleted {
            // clang says that there is one, and not that it is private
            record.has_default_constructor &= !is_default;
            return;
        }
        record.has_default_constructor |= is_default;
        let copies =
            matches!(&*function.parameters, [one] if one.ty.contains('&') && mentions(&one.ty, &function.name));
        if !copies {
            record.constructors.push(function);
        }
    }
}

pub(super) fn within(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}::{name}") }
}

/// Whether a type contains a word.
pub(super) fn mentions(ty: &str, word: &str) -> bool {
    ty.split(|c: char| !c.is_alphanumeric() && c != '_').any(|one| one == word)
}

fn template_parameter(node: &Node) -> Option<TemplateParameter> {
    let is_type = match &*node.kind {
        "TemplateTypeParmDecl" | "TemplateTemplateParmDecl" => true,
        "NonTypeTemplateParmDecl" => false,
        _ => return None,
    };
    Some(TemplateParameter { name: node.name.clone(), is_type, has_default: node.has_default })
}

/// The part of a function's type in front of its parameters: those of a result that is a function itself are left out.
fn result_of(ty: &str) -> String {
    let mut depth = 0;
    let end = ty.find(|letter| {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        letter == '(' && depth == 0
    });
    ty[..end.unwrap_or(ty.len())].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_found_however_much_of_its_namespace_is_written() {
        let record =
            |bases: &[&str]| Record { bases: bases.iter().map(|&base| base.into()).collect(), ..Record::default() };
        let records = [
            ("Top", record(&[])),
            ("a::Mid", record(&["Top"])),
            ("a::b::Near", record(&["Mid"])),
            ("a::b::Far", record(&["a::Mid<int>"])),
            ("a::b::Other", record(&["std::Mid"])),
        ];
        let known = Declarations {
            records: records.into_iter().map(|(name, record)| (name.into(), record)).collect(),
            ..Declarations::default()
        };
        let derived = ["a::Mid", "a::b::Near", "a::b::Far", "a::b::Other", "Top"].map(|class| known.is_a(class, "Top"));
        assert_eq!(derived, [true, true, true, false, true]);
    }
}

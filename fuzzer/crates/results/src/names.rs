//! File names of inputs: AFL's fields with `_` instead of `:`, which other systems and build tools do not accept.
//!
//! `id_000012,src_000003,cost_41.4,bysize_3.2,op_T.10+T.8` for a mutant, `id_000000,orig_NAME` for a seed, with
//! `sync_NAME` before `src` for an input that another campaign has found, and `.EXT` at the end where programs get files with
//! an extension. Names with colons, AFL's own, are read as well.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use quagmire_execution::fork_server::run_folder::is_extension;

/// Largest length of a name, in bytes.
pub const LONGEST: usize = 199;

/// Largest number that is read from a name, so that the number after it is valid as well.
pub const LARGEST_NUMBER: u64 = 1 << 48;

/// Largest length of another campaign's name in a file name, in bytes.
const LONGEST_SYNC: usize = 40;

/// Replacement for the middle of a long list of rules.
const ELLIPSIS: &str = "...";

/// The fields of a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryName {
    /// Number of the entry; six digits or more.
    pub id: u64,
    /// Name of the campaign that found it, if that was another one; unsafe characters are replaced as in `orig`.
    pub sync: Option<String>,
    /// Number of the parent; for an input of another campaign, of its nearest ancestor in this one.
    pub src: Option<u64>,
    /// Cost as a multiple of the median seed's, written with one decimal; left out if it is not finite.
    pub cost: Option<f64>,
    /// Cost as a multiple of an ordinary input of its size, written as `cost`.
    pub by_size: Option<f64>,
    /// Labels of the rules that made it from its parent, in order. In a name that was shortened, `...` stands for the
    /// middle.
    pub rules: Vec<String>,
    /// File name of the seed; characters other than letters, digits and `._+-` become `_`.
    pub orig: Option<String>,
    /// Extension without its dot; not read from a name that ends in that of a seed, which has its own.
    pub extension: Option<String>,
}

impl EntryName {
    /// Creates the name of a seed.
    pub fn seed(id: u64, file_name: &str) -> Self {
        Self { id, orig: Some(file_name.to_owned()), ..Self::default() }
    }

    /// Creates the name of a mutant.
    pub fn mutant(id: u64, src: u64, cost: f64, rules: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let rules = rules.into_iter().map(Into::into).collect();
        Self { id, src: Some(src), cost: Some(cost), rules, ..Self::default() }
    }

    /// Name in AFL's form, with colons, for sync folders that afl-fuzz reads.
    pub fn with_colons(&self) -> String {
        self.to_string().split(',').map(|field| field.replacen('_', ":", 1)).collect::<Vec<_>>().join(",")
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extension = self.extension.as_ref().filter(|extension| is_extension(extension));
        let end = extension.map(|extension| format!(".{extension}")).unwrap_or_default();
        let longest = LONGEST - end.len();
        let mut name = format!("id_{:06}", self.id);
        if let Some(sync) = &self.sync {
            let sync = safe(sync, '\0');
            name += &format!(",sync_{}", &sync[..sync.len().min(LONGEST_SYNC)]);
        }
        if let Some(src) = self.src {
            name += &format!(",src_{src:06}");
        }
        for (key, ratio) in [("cost", self.cost), ("bysize", self.by_size)] {
            if let Some(ratio) = ratio.filter(|ratio| ratio.is_finite()) {
                // digits beyond fifteen carry no information
                name += &format!(",{key}_{:.1}", ratio.clamp(0.0, 1e15));
            }
        }
        if !self.rules.is_empty() {
            name += ",op_";
            let rules: Vec<String> = self.rules.iter().map(|rule| safe(rule, '+')).collect();
            // room for an original name of some length, should there ever be both
            let room = longest.saturating_sub(name.len() + if self.orig.is_some() { 40 } else { 0 });
            name += &shortened(&rules, room);
        }
        if let Some(orig) = &self.orig {
            name += ",orig_";
            let orig = safe(orig, '\0');
            let has_it = orig.ends_with(&end) && orig.len() <= LONGEST - name.len();
            let room = if has_it { LONGEST } else { longest } - name.len();
            name += &orig[..orig.len().min(room)];
            if has_it {
                return f.write_str(&name);
            }
        }
        f.write_str(&(name + &end))
    }
}

impl FromStr for EntryName {
    type Err = ();

    /// Reads a name in either form. Unknown fields are skipped; of the two parents that AFL's splicing names, takes
    /// the first. Fails without an `id`, and for a number or ratio that is not valid.
    fn from_str(name: &str) -> Result<Self, ()> {
        let (name, extension) = split_extension(name);
        let mut entry = Self { extension: extension.map(str::to_owned), ..Self::default() };
        let mut id = None;
        for field in name.split(',') {
            let Some((key, value)) = field.split_once(['_', ':']) else { continue };
            match key {
                "id" => id = Some(number(value)?),
                "sync" => entry.sync = Some(value.to_owned()),
                "src" => entry.src = Some(number(value.split('+').next().unwrap_or(value))?),
                "cost" => entry.cost = Some(ratio(value)?),
                "bysize" => entry.by_size = Some(ratio(value)?),
                "op" => entry.rules = value.split('+').map(str::to_owned).collect(),
                "orig" => entry.orig = Some(value.to_owned()),
                _ => {}
            }
        }
        entry.id = id.ok_or(())?;
        Ok(entry)
    }
}

/// Splits a name into its fields and its extension, if it has one. Ratios and labels of rules have dots as well.
fn split_extension(name: &str) -> (&str, Option<&str>) {
    let last = name.rsplit(',').next().unwrap_or_default();
    let (key, value) = last.split_once(['_', ':']).unwrap_or(("", last));
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let ratio = |text: &str| {
        let sign = usize::from(text.starts_with('-'));
        let whole = sign + digits(&text[sign..]);
        let tenths = text[whole..].strip_prefix('.').map_or(0, digits);
        if tenths > 0 { whole + 1 + tenths } else { whole }
    };
    let end = match key {
        "sync" | "orig" => return (name, None),
        "id" => digits(value),
        "cost" | "bysize" => ratio(value),
        "op" => end_of_rules(value),
        _ => value.find('.').unwrap_or(value.len()),
    };
    let extension = value[end..].strip_prefix('.').filter(|extension| is_extension(extension));
    (&name[..name.len() - extension.map_or(0, |extension| extension.len() + 1)], extension)
}

/// Length of a list of rules in front of an extension.
fn end_of_rules(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &text[end..];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let word = rest.bytes().take_while(is_word).count();
        let number =
            rest[word..].strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        let is_family = word > 0 && rest[..word].bytes().all(|byte| byte.is_ascii_uppercase());
        end += match (word, number) {
            (0, _) if rest.starts_with(ELLIPSIS) => ELLIPSIS.len(),
            // no label, and so no list
            (0, _) => return text.len(),
            (_, 1..) if is_family => word + 1 + number,
            _ => word,
        };
        if !text[end..].starts_with('+') {
            return end;
        }
        end += 1;
    }
}

/// Extension of an input's file, also of one that a fuzzer has named; `None` if it has none that programs can be given.
pub fn extension_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let extension = match name.parse::<EntryName>() {
        Ok(EntryName { orig: None, extension, .. }) => extension,
        _ => path.extension().and_then(|extension| extension.to_str()).map(str::to_owned),
    };
    extension.filter(|extension| is_extension(extension))
}

/// Extension that all of these files have; `None` if they have different ones, or there are no files.
pub fn shared_extension<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Option<String> {
    let mut extensions = paths.into_iter().map(extension_of);
    let first = extensions.next()??;
    extensions.all(|extension| extension.as_ref() == Some(&first)).then_some(first)
}

fn number(digits: &str) -> Result<u64, ()> {
    let number = if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None };
    number.filter(|&number| number <= LARGEST_NUMBER).ok_or(())
}

fn ratio(text: &str) -> Result<f64, ()> {
    text.parse().ok().filter(|ratio: &f64| ratio.is_finite()).ok_or(())
}

/// Replaces everything but letters, digits and `._+-`, and `separator` too, by `_`; never empty.
fn safe(text: &str, separator: char) -> String {
    let keep = |c: char| c != separator && (c.is_ascii_alphanumeric() || "._+-".contains(c));
    let text: String = text.chars().map(|c| if keep(c) { c } else { '_' }).collect();
    if text.is_empty() { "_".into() } else { text }
}

/// Joins the labels, and leaves whole labels out of the middle until they fit into `room` bytes.
fn shortened(rules: &[String], room: usize) -> String {
    let whole = rules.join("+");
    if whole.len() <= room {
        return whole;
    }
    let (mut start, mut end) = (String::new(), String::new());
    let (mut first, mut last) = (0, rules.len());
    while first < last {
        // the latest rules say more about an input than the first
        let at_end = end.len() <= start.len();
        let rule = if at_end { &rules[last - 1] } else { &rules[first] };
        if start.len() + end.len() + rule.len() + 1 + ELLIPSIS.len() > room {
            break;
        }
        if at_end {
            last -= 1;
            end = format!("+{rule}{end}");
        } else {
            first += 1;
            start += &format!("{rule}+");
        }
    }
    format!("{start}{ELLIPSIS}{end}")
}

/// Paths of the regular files in a folder, sorted; none if it cannot be read.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Names of the files in a folder with numbers from `known` on, by number.
pub fn written_since(folder: &Path, known: u64) -> BTreeMap<u64, String> {
    let numbered = |path: PathBuf| {
        let file = path.file_name()?.to_str()?.to_owned();
        let name: EntryName = file.parse().ok()?;
        (name.id >= known).then_some((name.id, file))
    };
    files_in(folder).into_iter().filter_map(numbered).collect()
}

/// Files in the queue of a campaign by entry number.
#[derive(Clone, Debug, Default)]
pub struct Ancestry {
    queue: HashMap<u64, String>,
}

impl Ancestry {
    /// Reads the names in `queue/` of a campaign's folder; none if it is no such folder.
    pub fn read(out: &Path) -> Self {
        let entries = std::fs::read_dir(out.join("queue")).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        Self { queue: names.filter_map(|name| Some((entry_name(&name)?.id, format!("queue/{name}")))).collect() }
    }

    /// Names of an input of the folder and its ancestors, the nearest first.
    pub(super) fn line(&self, name: &str) -> Vec<String> {
        let mut all = vec![name.to_owned()];
        while let Some(name) = all.last().and_then(|last| entry_name(last))
            && let Some(file) = name.src.filter(|&parent| parent < name.id).and_then(|parent| self.queue.get(&parent))
        {
            all.push(file.trim_start_matches("queue/").to_owned());
        }
        all
    }

    /// The seed that an input of the folder descends from, relative to the folder. `path` ends in the name of the input.
    /// `None` if the input is a seed, or an ancestor is gone.
    pub fn seed_of(&self, path: &str) -> Option<String> {
        let mut name = entry_name(path)?;
        // each step must lead to a smaller number, or the names are not quagmire's
        let mut path = None;
        while let Some(parent) = name.src {
            let file = self.queue.get(&parent)?;
            let next = entry_name(file)?;
            if path.is_some() && parent >= name.id {
                return None;
            }
            path = Some(file.clone());
            name = next;
        }
        path
    }
}

fn entry_name(path: &str) -> Option<EntryName> {
    Path::new(path).file_name()?.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_look_like_those_of_afl_without_colons() {
        let mutant = EntryName::mutant(12, 3, 41.38, ["T.10", "T.8"]);
        assert_eq!(mutant.to_string(), "id_000012,src_000003,cost_41.4,op_T.10+T.8");
        let sized = EntryName { by_size: Some(3.2), ..mutant };
        assert_eq!(sized.to_string(), "id_000012,src_000003,cost_41.4,bysize_3.2,op_T.10+T.8");
        assert_eq!(EntryName::seed(0, "a b:c.xml").to_string(), "id_000000,orig_a_b_c.xml");
        assert_eq!(EntryName::mutant(1_234_567, 0, f64::NAN, [""; 0]).to_string(), "id_1234567,src_000000");
    }

    #[test]
    fn long_histories_lose_their_middle() {
        let rules: Vec<String> = (0..200).map(|i| format!("T.{i}")).collect();
        let name = EntryName::mutant(1, 2, 3.0, rules).to_string();
        assert!(name.len() <= LONGEST && name.len() > LONGEST - 12, "{name}");
        assert!(name.starts_with("id_000001,src_000002,cost_3.0,op_T.0+T.1+"), "{name}");
        assert!(name.contains("+...+") && name.ends_with("+T.198+T.199"), "{name}");
    }

    #[test]
    fn what_is_not_a_name_is_not_read() {
        let largest = format!("id_{}", u64::MAX);
        let parent = format!("id_000001,src_{}", u64::MAX);
        let names =
            ["", "README", "id_", "id_x", "src_000001", "id_+1", "id_000001,cost_x", "id_000001,cost_inf", "id"];
        for name in names.into_iter().chain([&*largest, &*parent]) {
            assert_eq!(name.parse::<EntryName>(), Err(()), "{name}");
        }
    }

    #[test]
    fn names_of_afl_are_read_and_written() {
        let read: EntryName = "id:000101,src:000002+000007,time:50,execs:9,op:splice,rep:4,+cov".parse().unwrap();
        assert_eq!((read.id, read.src, read.rules), (101, Some(2), vec!["splice".to_owned()]));
        let read: EntryName = "id:000003,sync:other,src:000002".parse().unwrap();
        assert_eq!((read.sync.as_deref(), read.src), (Some("other"), Some(2)));
        assert_eq!(EntryName { cost: Some(2.0), ..read }.with_colons(), "id:000003,sync:other,src:000002,cost:2.0");
        assert_eq!(EntryName::seed(0, "a_b.xml").with_colons(), "id:000000,orig:a_b.xml");
    }

    #[test]
    fn extensions_are_told_from_ratios_and_rules() {
        for (name, extension) in [
            ("id_000012,src_000003,cost_41.4,op_T.10+T.8", None),
            ("id_000012,src_000003,cost_41.4,op_T.10+T.8.json", Some("json")),
            ("id_000012,src_000003,cost_41.4,op_T.10.1", Some("1")),
            ("id_000012,src_000003,op_havoc.tar.gz", Some("tar.gz")),
            ("id_000012,src_000003,op_T.1+...+B.6.c++", Some("c++")),
            ("id_000012,src_000003,cost_41.4", None),
            ("id_000012,src_000003,cost_41.4.md", Some("md")),
            ("id_000012,src_000003.md", Some("md")),
            ("id_000012.md", Some("md")),
            ("id_000000,orig_a.b.xml", Some("xml")),
            ("id_000000,orig_a", None),
            ("id:000101,src:000002+000007,time:50,execs:9,op:splice,rep:4,+cov.png", Some("png")),
            ("id:000101,src:000002,time:50,execs:9,op:havoc,rep:4", None),
            ("id:000000,time:0,execs:0,orig:a.png", Some("png")),
            ("a.min.json", Some("json")),
            (".json", None),
            ("README", None),
            ("a.b c", None),
        ] {
            assert_eq!(extension_of(Path::new(name)).as_deref(), extension, "{name}");
            if let Ok(read) = name.parse::<EntryName>() {
                assert!(!read.rules.iter().any(|rule| rule.contains("json")), "{name}");
            }
        }
        let shared = |names: &[&str]| shared_extension(names.iter().map(Path::new));
        assert_eq!(shared(&["s/a.xml", "s/id_000001,src_000000,op_X.1.xml"]).as_deref(), Some("xml"));
        assert_eq!((shared(&["a.xml", "b"]), shared(&["a.xml", "b.XML"]), shared(&[])), (None, None, None));
    }

    #[test]
    fn an_extension_ends_the_name() {
        let of = |name: EntryName| EntryName { extension: Some("json".into()), ..name }.to_string();
        assert_eq!(of(EntryName::mutant(12, 3, 41.38, ["T.10"])), "id_000012,src_000003,cost_41.4,op_T.10.json");
        assert_eq!(of(EntryName::seed(0, "a.json")), "id_000000,orig_a.json");
        assert_eq!(of(EntryName::seed(0, "a.txt")), "id_000000,orig_a.txt.json");
        let long = of(EntryName::seed(0, &format!("{}.json", "x".repeat(300))));
        assert!(long.len() == LONGEST && long.ends_with("x.json"), "{long}");
        let read: EntryName = of(EntryName::mutant(1, 0, 2.0, ["T.1", "havoc"])).parse().unwrap();
        assert_eq!(read.with_colons(), "id:000001,src:000000,cost:2.0,op:T.1+havoc.json");
    }

    proptest! {
        #[test]
        fn every_name_is_a_short_safe_file_name_that_is_read_back(
            id in 0..=LARGEST_NUMBER,
            sync in proptest::option::of("\\PC{0,60}"),
            src in proptest::option::of(0..=LARGEST_NUMBER),
            cost in proptest::option::of(any::<f64>()),
            by_size in proptest::option::of(any::<f64>()),
            rules in proptest::collection::vec("\\PC{0,40}", 0..60),
            orig in proptest::option::of("\\PC{0,300}"),
            extension in proptest::option::of("[a-z.]{0,60}"),
        ) {
            // a campaign's name may have dots, and never comes last
            let extension = extension.filter(|_| src.is_some());
            let entry = EntryName { id, sync, src, cost, by_size, rules, orig, extension };
            let name = entry.to_string();
            prop_assert!(name.len() <= LONGEST);
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-,".contains(c)));
            let read: EntryName = name.parse().unwrap();
            prop_assert_eq!((read.id, read.src), (id, src));
            prop_assert_eq!(read.to_string(), name);
        }

        #[test]
        fn short_names_keep_everything(
            id in 0u64..10_000_000,
            src in 0u64..10_000_000,
            tenths in 0u64..1_000_000,
            rules in proptest::collection::vec("[TBDR]\\.[0-9]{1,2}|havoc|splice-part", 0..12),
            extension in proptest::option::of("[a-z]{1,4}|tar\\.gz|c\\+\\+|1"),
        ) {
            let entry = EntryName { extension, ..EntryName::mutant(id, src, tenths as f64 / 10.0, rules) };
            prop_assert_eq!(entry.to_string().parse::<EntryName>().unwrap(), entry);
        }

        #[test]
        fn no_text_makes_the_reader_panic(name in "\\PC{0,60}") {
            let _ = name.parse::<EntryName>();
        }

        #[test]
        fn what_is_read_from_fields_of_others_can_be_written_again(
            name in "id[:_][0-9]{1,20}(,(src|sync|cost|op|orig|x)[:_][^/]{0,30}){0,6}",
        ) {
            if let Ok(entry) = name.parse::<EntryName>() {
                prop_assert!(entry.id <= LARGEST_NUMBER && entry.src.is_none_or(|src| src <= LARGEST_NUMBER));
                prop_assert!(entry.to_string().len() <= LONGEST);
                prop_assert!(entry.to_string().parse::<EntryName>().is_ok());
            }
        }
    }
}

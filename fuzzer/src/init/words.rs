//! Words in the names of functions and parameters, which tell what they are for.

/// The words of a name in lower case: `parseFile_utf8` has `parse`, `file`, `utf8`.
pub(super) fn of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut before) = (String::new(), '_');
    let letters: Vec<char> = name.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        let next_is_small = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && next_is_small);
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Whether a word is one of these, which have blanks between them.
pub(super) fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

/// Whether a name has one of these words.
pub(super) fn any(name: &str, words: &str) -> bool {
    of(name).iter().any(|word| has(words, word))
}

/// Whether a name contains one of these words anywhere.
pub(super) fn inside(name: &str, words: &str) -> bool {
    let name = name.to_lowercase();
    words.split_whitespace().any(|word| name.contains(word))
}

/// The text that is read.
pub(super) const INPUT: &str = "text data buf buffer str string s src source input in xml json line content contents body msg message ptr \
     bytes doc document code expr expression pattern html mem memory raw payload block chunk value query script \
     p begin";
/// Something beside it.
pub(super) const BESIDE: &str = "name key prefix encoding enc base mode fmt format charset dir section default def sep delim delimiter out \
     output dst dest result res err error errbuf errmsg id tag locale lang domain title opt option options user \
     ctx";
/// The number of bytes.
pub(super) const LENGTH: &str = "n len length size sz bytes nbytes count cnt num l buflen bufsize datalen slen strlen inlen srclen textlen \
     sizeof avail bufsz datasize inputlen filesize nb";
/// A number that is no length.
pub(super) const SWITCH: &str =
    "flag flags opt opts option options mode type kind base level depth index strict version encoding";
/// Ends of a text.
pub(super) const END: &str = "end last stop limit eob finish";
/// The name of a file.
pub(super) const FILE: &str = "file filename path fname filepath pathname fn paths files";
/// Limits, for which zero would mean nothing at all.
pub(super) const LIMIT: &str = "max depth limit nest nesting maximum maxdepth";
/// Words for making an object ready that is there: surely, and perhaps.
pub(super) const INIT: &str = "init initialize initialise setup ctor";
pub(super) const MAYBE_INIT: &str = "reset create new start begin prepare construct";
/// Words for making an object, also as a part of a word: `newstate`.
pub(super) const MAKE: &str = "new create init make alloc open start construct setup default empty instance";
/// Names of an object whose type is `void *`.
pub(super) const HANDLE: &str =
    "state st handle h ctx context decoder dec codec parser self obj object inst instance session";
/// Words for ending an object.
pub(super) const END_OF_LIFE: &str = "free destroy delete release close unref cleanup fini deinit dispose clear decref put del finish term \
     terminate uninit end dealloc finalize kill exit";

/// Words for reading a text, by how surely they mean it.
const READS: [(i32, &str); 6] = [
    (12, "parse"),
    (9, "load loads decode deserialize unserialize unmarshal decompress"),
    (8, "read compile tokenize"),
    (7, "scan eval evaluate unpack lex"),
    (6, "import validate parser"),
    (
        5,
        "match convert expand process feed execute render from check translate normalize next demux browse loop \
         run iterate open",
    ),
];
/// Verbs of functions that fill memory of the caller.
pub(super) const FILLS: &str = "read get gets recv fill peek copy";
/// Memory that is filled, whatever it is of.
pub(super) const FILLED: &str = "pcm out output samples buf buffer dst dest data audio pixels block";
/// Numbers for which zero is refused, and an ordinary value.
pub(super) const ORDINARY: [(&str, &str); 3] = [
    ("channels nchannels chans", "2"),
    ("rate samplerate fs freq frequency", "48000"),
    ("width height w h rows cols columns", "64"),
];
/// Classes that read a text.
pub(super) const READERS: &str = "parser reader document decoder json xml";
/// Words of functions that read no text, whatever they take.
pub(super) const OTHERS: &str = "write print save set get free dump encode add remove append error log compare cmp copy dup register len \
     length hash count find is has insert warn message strerror put delete serialize to init new create equals \
     equal swap";
/// Parts of a text.
pub(super) const PARTS: &str =
    "int bool char number float double option arg args base64 hex escape utf8 entity uri url";

/// How surely the name of a function says that it reads a text: 0 if it does not.
pub(super) fn promise(name: &str) -> i32 {
    let said = READS.iter().find(|(_, words)| any(name, words));
    said.map_or(i32::from(inside(name, "parse decode load regcomp")) * 6, |(worth, _)| *worth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        assert_eq!(of("XML_ParseBuffer"), ["xml", "parse", "buffer"]);
        assert_eq!(of("parseXMLFile"), ["parse", "xml", "file"]);
        assert_eq!(of("cfg_parse_buf2"), ["cfg", "parse", "buf2"]);
        assert!(any("json_object_put", END_OF_LIFE) && !any("input", END_OF_LIFE));
    }
}

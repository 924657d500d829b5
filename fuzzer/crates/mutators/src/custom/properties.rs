//! Property tests: arbitrary rule files and patterns give an error or rules that can be applied.

use proptest::prelude::*;

use super::*;

/// Generates rule files: valid ones, ones with typical mistakes, and arbitrary bytes.
fn files() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(
        &[
            "a", "b: c", "'", "\"", ": ", "- ", "\n", " ", "[", "{", "]", "}", "&x ", "*x", "!!", "---", "#", "|", ">",
            "%", "\\1", "(.*)", "\t", "\u{feff}",
        ][..],
    );
    prop_oneof![
        3 => prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes()),
        2 => "('[^'\n]{0,20}': '[^'\n]{0,20}'\n){0,5}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_file_gives_rules_or_one_line_that_says_where(bytes in files(), input: Vec<u8>, seed: u64) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        match load(&[file.path().to_owned()]) {
            Ok(rules) => {
                for rule in rules {
                    rule.apply(&mut input.clone(), 1000, &mut StdRand::with_seed(seed));
                }
            }
            Err(error) => {
                prop_assert!(error.message.starts_with("--regex-rules "), "{}", error.message);
                prop_assert!(!error.message.chars().any(char::is_control), "{:?}", error.message);
                prop_assert!(error.message.len() < 2000, "{}", error.message.len());
            }
        }
    }

    #[test]
    fn any_pattern_and_replacement_keep_to_the_limit(
        pattern in "([ab.*+?|()\\[\\]{}0-9^$\\\\wdsx-]|\\(\\?|a\\{[0-9]{1,5}\\}){0,12}",
        replacement in "([ab$\\\\0-9gnx<>{}]){0,8}",
        input in "[ab0\\n ]{0,60}",
        seed: u64,
    ) {
        if let Ok(rule) = CustomRule::new(1, &pattern, &replacement) {
            let mut bytes = input.clone().into_bytes();
            let changed = rule.apply(&mut bytes, 100, &mut StdRand::with_seed(seed));
            prop_assert!(bytes.len() <= 100);
            prop_assert_eq!(changed, bytes != input.as_bytes());
        }
    }
}

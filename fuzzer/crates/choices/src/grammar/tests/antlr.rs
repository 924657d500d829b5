//! Tests of grammars in ANTLR's format.

use super::{Role, grammar, parts};

/// A grammar with most of what is read.
pub(super) const CALCULATOR: &str = r#"
grammar Calculator;  // as people write them
options { language = Cpp; }
@header { #include "x.h" /* } */ }
program : statement+ EOF ;
statement locals [int n] : target=ID '=' value=expr ';' # assign | 'print' '(' expr (',' expr)* ')' ';' {count("}");} # call ;
expr : <assoc=right> expr '^' expr | expr op=('*' | '/') expr | {ok()}? expr ('+' | '-') expr | '-' expr | atom ;
atom : NUMBER | STRING | ID | '(' expr ')' ;
ID : LETTER (LETTER | [0-9_])* ;
NUMBER : DIGIT+ ('.' DIGIT*)? ;
STRING : '"' (~["\\\r\n] | '\\' .)* '"' ;
fragment LETTER : 'a'..'z' | [A-Z\u00e4] ;
fragment DIGIT : [0-9] ;
BLANK : [ \t\r\n]+ -> skip ;
COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
"#;

#[test]
fn a_grammar_of_antlr_is_read() {
    let calculator = grammar(CALCULATOR);
    for (text, is_in) in [
        ("a=1;", true),
        (" a = 1 + 2*-3^(b) ;\n/* x */ print ( \"a\\\"b é\" , 1.5 ) ; /**/", true),
        ("\u{e4}1 = 2;", true),
        ("a=1; /* a */ b=2; */", false),
        ("a=1", false),
        ("1=a;", false),
        ("a=\";", false),
    ] {
        assert_eq!(calculator.parse(text.as_bytes()).is_some(), is_in, "{text}");
    }
    let found = parts(&calculator, "x=1+ 2; print(a,b, c);");
    let of = |role: Role| found.iter().filter(|part| part.0 == role).map(|part| part.1).collect::<Vec<_>>();
    assert_eq!(of(Role::Separator), ["+ ", ",", ", "]);
    assert!(of(Role::List).contains(&"a,b, c") && of(Role::Leaf).contains(&"c"), "{found:?}");
}

#[test]
fn classes_of_unicode_and_upper_case_are_read() {
    let word = grammar(
        "grammar W; options { caseInsensitive = true; } s : 'if' WORD ; WORD : [\\p{Lu}\\u{1F600}-\\u{1F602}]+ ;",
    );
    for (text, is_in) in [("ifÄB", true), ("IFx", true), ("If\u{1F601}", true), ("if1", false), ("ofx", false)] {
        assert_eq!(word.parse(text.as_bytes()).is_some(), is_in, "{text}");
    }
}

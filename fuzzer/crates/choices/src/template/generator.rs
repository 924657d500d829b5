//! One-line programs that write the same bytes as a template, for reports.

use super::{
    Counter, Digits, Field, Length, LengthForm, Order, Part, Pick, Template, Times, depends_on_round,
    number::SEED_FACTOR, size, text::escaped,
};

/// Longest command that a bug report can carry, in bytes.
const LONGEST: usize = 4096;

impl Template {
    /// A command of one line that writes the bytes at `n`, by a shell if that can do it, or else by Python 3. `None` if
    /// it is longer than 4,096 bytes.
    pub fn command(&self, n: u64) -> Option<String> {
        Some(self.shell(n).unwrap_or_else(|| self.python(n))).filter(|command| command.len() <= LONGEST)
    }

    /// A command of one line that writes the bytes at `n` by Python 3. The reader changes `n` in it for another size.
    pub fn python(&self, n: u64) -> String {
        let mut writer = Python::default();
        let bytes = writer.sum(&self.parts);
        let setup: String = writer.setup.iter().map(|statement| format!("{statement};")).collect();
        format!("python3 -c 'import sys;n={n};{setup}sys.stdout.buffer.write({bytes})'")
    }

    /// A command of one line that writes the bytes at `n` by a POSIX shell: for templates of literals and loops of
    /// literals. `None` for others.
    pub fn shell(&self, n: u64) -> Option<String> {
        let mut commands = Vec::new();
        add_in_shell(&self.parts, n, &mut commands)?;
        commands.retain(|command| !command.is_empty());
        Some(commands.join("; "))
    }
}

/// Adds the commands for parts; `None` if there are none for one of them.
fn add_in_shell(parts: &[Part], n: u64, commands: &mut Vec<String>) -> Option<()> {
    for part in parts {
        match part {
            Part::Literal(bytes) => commands.push(format!("printf {}", format_of(bytes))),
            Part::Number(field) => {
                let mut bytes = Vec::new();
                field.write(n, &mut bytes);
                commands.push(format!("printf {}", format_of(&bytes)));
            }
            Part::Repeat { times, body } => commands.push(loop_in_shell(times.at(n), body)?),
            Part::Nest { times, open, middle, close } => {
                commands.push(loop_in_shell(times.at(n), open)?);
                match &middle[..] {
                    [] => {}
                    [Part::Literal(bytes)] => commands.push(format!("printf {}", format_of(bytes))),
                    _ => return None,
                }
                commands.push(loop_in_shell(times.at(n), close)?);
            }
            Part::Length(length, body) => {
                let mut bytes = Vec::new();
                length.write(size(body, n), &mut bytes);
                commands.push(format!("printf {}", format_of(&bytes)));
                add_in_shell(body, n, commands)?;
            }
            _ => return None,
        }
    }
    Some(())
}

/// A loop over one literal.
fn loop_in_shell(times: u64, body: &[Part]) -> Option<String> {
    match body {
        _ if times == 0 => Some(String::new()),
        [] => Some(String::new()),
        [Part::Literal(bytes)] => {
            let format = format_of(bytes);
            // %.0s writes nothing for each argument
            Some(format!("printf {}%.0s' $(seq {times})", format.strip_suffix('\'').unwrap_or(&format)))
        }
        _ => None,
    }
}

/// Bytes as a format of printf, in single quotes.
fn format_of(bytes: &[u8]) -> String {
    let escapes = [(b'%', "%%"), (b'\\', "\\\\"), (b'\n', "\\n"), (b'\'', "\\047")];
    // a leading minus would begin an option
    let (minus, bytes) = bytes.strip_prefix(b"-").map_or(("", bytes), |rest| ("\\055", rest));
    format!("'{minus}{}'", escaped(bytes, &escapes, |byte| format!("\\{byte:03o}")))
}

/// A loop around an expression.
#[derive(Clone)]
struct Loop {
    /// Its number of rounds, as an expression.
    times: String,
    variable: String,
}

#[derive(Default)]
struct Python {
    loops: Vec<Loop>,
    /// Statements in front of the expression.
    setup: Vec<String>,
}

impl Python {
    /// Expression for parts beside each other.
    fn sum(&mut self, parts: &[Part]) -> String {
        if parts.is_empty() {
            return "b\"\"".to_owned();
        }
        parts.iter().map(|part| self.part(part)).collect::<Vec<_>>().join("+")
    }

    /// Expression that can be an operand of `*`.
    fn factor(&mut self, parts: &[Part]) -> String {
        let sum = self.sum(parts);
        if matches!(parts, [Part::Literal(_)]) { sum } else { format!("({sum})") }
    }

    fn part(&mut self, part: &Part) -> String {
        match part {
            Part::Literal(bytes) => literal(bytes),
            Part::Repeat { times, body } => self.rounds(*times, body, false),
            Part::Nest { times, open, middle, close } => {
                let open = self.rounds(*times, open, false);
                let middle = if middle.is_empty() { String::new() } else { format!("{}+", self.sum(middle)) };
                format!("{open}+{middle}{}", self.rounds(*times, close, true))
            }
            Part::Stair(body) => {
                let round = self.loops.last().map_or_else(String::new, |last| last.variable.clone());
                format!("{}*({round}+1)", self.factor(body))
            }
            Part::Counter(counter) => self.counter(counter),
            Part::Number(field) => number("n", *field),
            Part::Pick(pick) => self.pick(pick),
            Part::Length(one, body) => format!("(lambda b:{}+b)({})", length(*one), self.sum(body)),
        }
    }

    fn rounds(&mut self, times: Times, body: &[Part], is_backwards: bool) -> String {
        let variable = format!("i{}", self.loops.len());
        // as the text form has it, with a small letter
        let count = times.to_string().to_lowercase();
        self.loops.push(Loop { times: count.clone(), variable: variable.clone() });
        let text = if depends_on_round(body, 0) {
            let range = if is_backwards { format!("range({count}-1,-1,-1)") } else { format!("range({count})") };
            format!("b\"\".join({} for {variable} in {range})", self.sum(body))
        } else {
            let count = if times.factor == 0 || times == Times::N { count } else { format!("({count})") };
            format!("{}*{count}", self.factor(body))
        };
        self.loops.pop();
        text
    }

    fn counter(&mut self, counter: &Counter) -> String {
        let Some(place) = self.loops.len().checked_sub(1 + usize::from(counter.level)) else {
            return "b\"\"".to_owned();
        };
        let Loop { times, variable } = self.loops[place].clone();
        let value = match counter.order {
            Order::Up => variable,
            Order::Down => format!("({times}-1-{variable})"),
            Order::Shuffle(seed) => {
                let start = u128::from(seed) * u128::from(SEED_FACTOR) + 1;
                let keys = format!("sorted(range({times}),key=lambda i:pow(i+{start},65537,2**61-1))");
                format!("{}[{variable}]", self.name_of(&keys))
            }
        };
        digits(&value, counter.width, counter.digits)
    }

    fn pick(&mut self, pick: &Pick) -> String {
        let choices = match &pick.file {
            Some(file) => format!("[l.rstrip(b\"\\n\") for l in open({}.decode(),\"rb\")]", literal(file.as_bytes())),
            None => format!("[{}]", pick.choices.iter().map(|one| literal(one)).collect::<Vec<_>>().join(",")),
        };
        let name = self.name_of(&choices);
        let round = self.loops.last().map_or_else(String::new, |last| last.variable.clone());
        format!("{name}[{round}%{}]", pick.choices.len())
    }

    /// Name of a list, which a statement in front defines once.
    fn name_of(&mut self, list: &str) -> String {
        let is_same = |statement: &String| statement.split_once('=').is_some_and(|(_, known)| known == list);
        let place = self.setup.iter().position(is_same).unwrap_or_else(|| {
            self.setup.push(format!("l{}={list}", self.setup.len()));
            self.setup.len() - 1
        });
        format!("l{place}")
    }
}

/// Expression for `n` itself.
fn number(value: &str, field: Field) -> String {
    match (field.width, field.digits) {
        (0, Digits::Hexadecimal) => format!("b\"%x\"%{value}"),
        (0, _) => format!("b\"%d\"%{value}"),
        (width, kind) => digits(value, width, kind),
    }
}

/// Expression for the length of `b`.
fn length(Length { form, plus }: Length) -> String {
    let value = if plus == 0 { "len(b)".to_owned() } else { format!("max(0,len(b){plus:+})") };
    let of = match form {
        LengthForm::Field(field) => return number(&value, field),
        LengthForm::Der => {
            "bytes([v]) if v<128 else (lambda h:bytes([128+len(h)])+h)(v.to_bytes((v.bit_length()+7)//8,\"big\"))"
        }
        LengthForm::Groups => "bytes(v>>7*k&127|(128 if v>>7*k+7 else 0) for k in range(max(1,(v.bit_length()+6)//7)))",
    };
    format!("(lambda v:{of})({value})")
}

/// Expression for a value in so many digits.
fn digits(value: &str, width: u8, kind: Digits) -> String {
    match kind {
        Digits::Decimal => format!("b\"%0{width}d\"%({value}%10**{width})"),
        Digits::Hexadecimal => format!("b\"%0{width}x\"%({value}%16**{width})"),
        Digits::Letters => format!("bytes(97+{value}//26**k%26 for k in range({width}-1,-1,-1))"),
        Digits::BigEndian => format!("({value}%256**{width}).to_bytes({width},\"big\")"),
        Digits::LittleEndian => format!("({value}%256**{width}).to_bytes({width},\"little\")"),
    }
}

/// Bytes as a literal of Python that can stand in single quotes of a shell.
fn literal(bytes: &[u8]) -> String {
    let escapes = [(b'"', "\\\""), (b'\\', "\\\\"), (b'\n', "\\n"), (b'\'', "\\x27")];
    format!("b\"{}\"", escaped(bytes, &escapes, |byte| format!("\\x{byte:02x}")))
}

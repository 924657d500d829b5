//! The bytes of a template at `N`.

use super::{Counter, Order, Part, Template, number::shuffled, size::size};

impl Template {
    /// The bytes at `n`.
    ///
    /// # Errors
    /// The size if it is more than `most` bytes.
    pub fn render(&self, n: u64, most: u64) -> Result<Vec<u8>, u64> {
        let bytes = self.size(n);
        if bytes > most {
            return Err(bytes);
        }
        let mut writer = Writer { n, rounds: Vec::new(), bytes: Vec::with_capacity(bytes as usize) };
        writer.write(&self.parts);
        Ok(writer.bytes)
    }
}

/// A loop that is being written.
struct Loop {
    /// Number of rounds.
    times: u64,
    /// Number of the round, from 0.
    round: u64,
    /// Orders of shuffles by seed, those that were needed.
    shuffles: Vec<(u64, Vec<u64>)>,
}

struct Writer {
    n: u64,
    rounds: Vec<Loop>,
    bytes: Vec<u8>,
}

impl Writer {
    fn write(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Literal(bytes) => self.bytes.extend(bytes),
                Part::Repeat { times, body } => self.repeat(body, times.at(self.n), false),
                Part::Nest { times, open, middle, close } => {
                    self.repeat(open, times.at(self.n), false);
                    self.write(middle);
                    self.repeat(close, times.at(self.n), true);
                }
                Part::Stair(body) => {
                    let copies = self.rounds.last().map_or(0, |last| last.round + 1);
                    let start = self.bytes.len();
                    self.write(body);
                    self.copy_from(start, copies);
                }
                Part::Counter(counter) => self.count(counter),
                Part::Number(field) => field.write(self.n, &mut self.bytes),
                Part::Pick(pick) => {
                    let round = self.rounds.last().map_or(0, |last| last.round);
                    self.bytes.extend(&pick.choices[(round % pick.choices.len() as u64) as usize]);
                }
            }
        }
    }

    fn repeat(&mut self, body: &[Part], times: u64, is_backwards: bool) {
        // rounds without bytes may be very many
        if times == 0 || size_of_rounds(body, times, self.n) == 0 {
            return;
        }
        if !depends_on_round(body, 0) {
            let start = self.bytes.len();
            // nothing in it asks for the number of this round, but what is around it has to keep its level
            self.rounds.push(Loop { times, round: 0, shuffles: Vec::new() });
            self.write(body);
            self.rounds.pop();
            self.copy_from(start, times);
            return;
        }
        self.rounds.push(Loop { times, round: 0, shuffles: Vec::new() });
        for round in 0..times {
            if let Some(last) = self.rounds.last_mut() {
                last.round = if is_backwards { times - 1 - round } else { round };
            }
            self.write(body);
        }
        self.rounds.pop();
    }

    /// Makes the bytes from `start` on stand `copies` times.
    fn copy_from(&mut self, start: usize, copies: u64) {
        let end = self.bytes.len();
        for _ in 1..copies {
            self.bytes.extend_from_within(start..end);
        }
    }

    fn count(&mut self, counter: &Counter) {
        let Some(place) = self.rounds.len().checked_sub(1 + usize::from(counter.level)) else { return };
        let one = &mut self.rounds[place];
        let number = match counter.order {
            Order::Up => one.round,
            Order::Down => one.times - 1 - one.round,
            Order::Shuffle(seed) => {
                let known = one.shuffles.iter().position(|(of, _)| *of == seed).unwrap_or_else(|| {
                    one.shuffles.push((seed, shuffled(one.times, seed)));
                    one.shuffles.len() - 1
                });
                one.shuffles[known].1[one.round as usize]
            }
        };
        counter.digits.write(number, counter.width, &mut self.bytes);
    }
}

/// Number of bytes of so many rounds.
fn size_of_rounds(body: &[Part], times: u64, n: u64) -> u64 {
    let part = Part::Repeat { times: super::Times { factor: 0, plus: times }, body: body.to_vec() };
    size(std::slice::from_ref(&part), n)
}

/// Whether parts differ between the rounds of the loop that is `level` loops around them.
pub(super) fn depends_on_round(parts: &[Part], level: u8) -> bool {
    parts.iter().any(|part| match part {
        Part::Literal(_) | Part::Number(_) => false,
        Part::Counter(counter) => counter.level == level,
        Part::Pick(_) | Part::Stair(_) if level == 0 => true,
        Part::Pick(_) => false,
        Part::Stair(body) => depends_on_round(body, level),
        Part::Repeat { body, .. } => depends_on_round(body, level + 1),
        Part::Nest { open, middle, close, .. } => {
            depends_on_round(middle, level) || depends_on_round(open, level + 1) || depends_on_round(close, level + 1)
        }
    })
}

//! Numbers of one, two or four bytes in a row that rise or fall.

use super::{Origin, Pump, Segment, columns::order};
use crate::template::{Counter, Digits, Order, Part};

const LEAST_NUMBERS: usize = 8;

/// Inputs whose numbers, of a size and byte order, rise or fall in nine of ten steps or are in any order.
pub(super) fn segments(input: &[u8]) -> Vec<Segment> {
    let mut all = Vec::new();
    for width in [1_u8, 2, 4] {
        let times = input.len() / usize::from(width);
        if times < LEAST_NUMBERS {
            continue;
        }
        for digits in [Digits::BigEndian, Digits::LittleEndian] {
            let number = |chunk: &[u8]| match digits {
                Digits::LittleEndian => chunk.iter().rev().fold(0_u32, |number, &byte| number << 8 | u32::from(byte)),
                _ => chunk.iter().fold(0_u32, |number, &byte| number << 8 | u32::from(byte)),
            };
            let numbers: Vec<u32> = input.chunks_exact(width.into()).map(number).collect();
            let order = match order(&numbers) {
                Order::Shuffle(_) => not_against(&numbers),
                order => Some(order),
            };
            let Some(order) = order else { continue };
            // one byte counts to 255 only: wider numbers go on
            for wide in [width, 4] {
                let counter = Part::Counter(Counter { level: 0, width: wide, digits, order });
                let pump = Pump::Repeat(vec![counter]);
                let times = (input.len() / usize::from(wide)).max(1) as u64;
                let range = 0..times as usize * usize::from(wide);
                all.push(Segment { range, pump, times, origin: Origin::Binary });
            }
        }
    }
    all
}

/// The order that nine of ten steps are not against, if there is one.
fn not_against(numbers: &[u32]) -> Option<Order> {
    let steps = numbers.len().saturating_sub(1);
    let up = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let down = numbers.windows(2).filter(|pair| pair[0] > pair[1]).count();
    if down * 10 <= steps && up * 5 >= steps {
        Some(Order::Up)
    } else if up * 10 <= steps && down * 5 >= steps {
        Some(Order::Down)
    } else {
        None
    }
}

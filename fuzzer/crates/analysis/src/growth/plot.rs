//! A plot of amounts over sizes in characters: both axes logarithmic, measured points and the law.

use quagmire_base::format::grouped;
use quagmire_cost::law::{Fit, Point};

/// Lines of the plot.
const ROWS: usize = 14;
/// Narrowest and widest plot, in columns without the labels.
const COLUMNS: (usize, usize) = (20, 72);
/// Columns of the labels.
const LABELS: usize = 16;

/// Draws points (`o`) and the law (`.`) into `width` columns; empty for fewer than two sizes.
pub(super) fn plot(points: &[Point], fit: &Fit, width: usize) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    if first.size >= last.size {
        return String::new();
    }
    let columns = width.saturating_sub(LABELS).clamp(COLUMNS.0, COLUMNS.1);
    let (low_x, high_x) = ((first.size.max(1) as f64).ln(), (last.size as f64).ln());
    let amounts = points.iter().map(|point| point.amount.max(1) as f64);
    let low_y = amounts.clone().fold(f64::INFINITY, f64::min).ln();
    let high_y = amounts.fold(1.0, f64::max).ln().max(low_y + 0.1);
    let mut grid = vec![vec![' '; columns]; ROWS];
    let row = |amount: f64| {
        let part = (amount.max(1.0).ln() - low_y) / (high_y - low_y);
        (0.0..=1.0).contains(&part).then(|| ROWS - 1 - (part * (ROWS - 1) as f64).round() as usize)
    };
    let of_law = |column: usize| {
        let size = (low_x + (high_x - low_x) * column as f64 / (columns - 1) as f64).exp();
        let holds = fit.onset.is_none_or(|onset| size >= onset as f64);
        let row = row(fit.amount_at(size.round() as u64)).filter(|_| holds)?;
        Some((row, column))
    };
    for (row, column) in (0..columns).filter_map(of_law) {
        grid[row][column] = '.';
    }
    for point in points {
        let part = ((point.size.max(1) as f64).ln() - low_x) / (high_x - low_x);
        let column = (part * (columns - 1) as f64).round() as usize;
        if let Some(row) = row(point.amount as f64) {
            grid[row][column] = 'o';
        }
    }
    let mut text = String::new();
    for (at, line) in grid.iter().enumerate() {
        let label = match at {
            0 => grouped(high_y.exp().round() as u64),
            _ if at == ROWS - 1 => grouped(low_y.exp().round() as u64),
            _ => String::new(),
        };
        let line: String = line.iter().collect();
        text += &format!("{label:>14} |{}\n", line.trim_end());
    }
    let (from, to) = (grouped(first.size), grouped(last.size));
    text += &format!("{:>14} +{}\n", "", "-".repeat(columns));
    text += &format!("{:>14}  {from}{to:>rest$}\n", "", rest = columns.saturating_sub(from.len()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_cost::law::fit;

    #[test]
    fn a_plot_fits_its_columns_and_shows_every_size() {
        let points: Vec<Point> = (1..12_u32).map(|i| Point { size: 3_u64.pow(i), amount: 9_u64.pow(i) }).collect();
        let fit = fit(&points, None).unwrap();
        for width in [40, 80, 200] {
            let text = plot(&points, &fit, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert_eq!(text.matches('o').count(), points.len(), "{text}");
        }
        assert_eq!(plot(&points[..1], &fit, 80), "");
    }
}

//! Words beside points, where they hide neither each other nor the points.

/// Width of a letter as a share of its height, at most in the mean over a label.
const LETTER: f64 = 0.58;

/// Where words stand beside their point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Right,
    Left,
    Above,
    Below,
}

/// Words beside a point of the drawing, in its units.
#[derive(Clone, Debug)]
pub(super) struct Label<'a> {
    pub(super) at: (i32, i32),
    pub(super) words: &'a str,
}

/// A rectangle: left, top, right, bottom.
type Box = (f64, f64, f64, f64);

/// The side of each label, in the same order, so that it lies within `frame` (width, height) and overlaps nothing; none if there is no such
/// side. `gap` is between a point and its words, `font` the height of a line.
pub(super) fn sides(labels: &[Label<'_>], frame: (u32, u32), font: u32, gap: u32) -> Vec<Option<Side>> {
    let (font, gap) = (f64::from(font), f64::from(gap));
    let point = |label: &Label<'_>| {
        let (x, y) = (f64::from(label.at.0), f64::from(label.at.1));
        (x - gap / 2.0, y - gap / 2.0, x + gap / 2.0, y + gap / 2.0)
    };
    let points: Vec<Box> = labels.iter().map(point).collect();
    let mut taken: Vec<Box> = Vec::new();
    let mut place = |(index, label): (usize, &Label<'_>)| {
        let candidates = [Side::Right, Side::Left, Side::Above, Side::Below];
        let side = candidates.into_iter().find(|side| {
            let area = area(label, *side, font, gap);
            let others = points.iter().enumerate().filter(|(other, _)| *other != index);
            is_within(area, frame)
                && !others.map(|(_, point)| point).chain(&taken).any(|other| overlap(area, *other))
        })?;
        taken.push(area(label, side, font, gap));
        Some(side)
    };
    labels.iter().enumerate().map(&mut place).collect()
}

/// The rectangle of the words of a label on one side of its point.
fn area(label: &Label<'_>, side: Side, font: f64, gap: f64) -> Box {
    let width = label.words.chars().count() as f64 * font * LETTER;
    let (x, y) = (f64::from(label.at.0), f64::from(label.at.1));
    let (half, middle) = (width / 2.0, font / 2.0);
    match side {
        Side::Right => (x + gap, y - middle, x + gap + width, y + middle),
        Side::Left => (x - gap - width, y - middle, x - gap, y + middle),
        Side::Above => (x - half, y - gap - font, x + half, y - gap),
        Side::Below => (x - half, y + gap, x + half, y + gap + font),
    }
}

fn is_within(area: Box, frame: (u32, u32)) -> bool {
    area.0 >= 0.0 && area.1 >= 0.0 && area.2 <= f64::from(frame.0) && area.3 <= f64::from(frame.1)
}

fn overlap(one: Box, other: Box) -> bool {
    one.0 < other.2 && other.0 < one.2 && one.1 < other.3 && other.1 < one.3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides_of(labels: &[((i32, i32), &str)]) -> Vec<Option<Side>> {
        let labels: Vec<Label<'_>> = labels.iter().map(|&(at, words)| Label { at, words }).collect();
        sides(&labels, (1000, 500), 30, 15)
    }

    #[test]
    fn words_stand_to_the_right_unless_something_is_there() {
        assert_eq!(sides_of(&[((100, 100), "lru"), ((100, 300), "lfu")]), [Some(Side::Right); 2]);
        // The second point lies where the words of the first would.
        let close = sides_of(&[((300, 100), "w-tinylfu"), ((380, 100), "lru")]);
        assert_eq!(close, [Some(Side::Left), Some(Side::Right)]);
        // At the right edge.
        assert_eq!(sides_of(&[((990, 100), "lru")]), [Some(Side::Left)]);
    }

    #[test]
    fn words_without_room_are_left_out() {
        let crowd = vec![((500, 250), "w-tinylfu"); 9];
        assert!(sides_of(&crowd).contains(&None));
        let long = "w".repeat(100);
        assert_eq!(sides_of(&[((500, 250), long.as_str())]), [None]);
    }
}

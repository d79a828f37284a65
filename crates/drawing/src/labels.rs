//! Places labels so that none covers another, and drops those for which there is no room.

use crate::svg::Anchor;

/// How wide a character of the interface font is at most, on average, relative to the font size.
const CHARACTER_WIDTH: f64 = 0.6;
/// Free space around a label.
const GAP: f64 = 4.0;

/// A box on the drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left.
    pub left: f64,
    /// Top.
    pub top: f64,
    /// Right.
    pub right: f64,
    /// Bottom.
    pub bottom: f64,
}

impl Area {
    /// Whether the two have a point in common.
    pub fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// The width of a text in pixels, estimated on the safe side.
pub fn text_width(text: &str, font_size: f64) -> f64 {
    text.chars().count() as f64 * font_size * CHARACTER_WIDTH
}

/// The words of `text` in lines that are no wider than `width`, if no single word is.
pub fn wrapped(text: &str, font_size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), font_size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The box of a text whose baseline is at `at`.
pub fn text_area(text: &str, font_size: f64, at: (f64, f64), anchor: Anchor) -> Area {
    let width = text_width(text, font_size);
    let left = match anchor {
        Anchor::Start => at.0,
        Anchor::Middle => at.0 - width / 2.0,
        Anchor::End => at.0 - width,
    };
    Area { left, top: at.1 - font_size * 0.8, right: left + width, bottom: at.1 + font_size * 0.25 }
}

/// What is taken already.
#[derive(Debug)]
pub struct Labels {
    bounds: Area,
    taken: Vec<Area>,
    /// Kept free for marks.
    reserved: Vec<Area>,
}

impl Labels {
    /// A drawing without labels.
    pub fn new(bounds: Area) -> Labels {
        Labels { bounds, taken: Vec::new(), reserved: Vec::new() }
    }

    /// Keeps an area free of labels.
    pub fn reserve(&mut self, area: Area) {
        self.reserved.push(area);
    }

    /// Takes `area` if it is inside the drawing and free; returns whether it was.
    pub fn take(&mut self, area: Area) -> bool {
        let inside = area.left >= self.bounds.left
            && area.right <= self.bounds.right
            && area.top >= self.bounds.top
            && area.bottom <= self.bounds.bottom;
        let with_gap = Area { left: area.left - GAP, right: area.right + GAP, ..area };
        if !inside || self.taken.iter().chain(&self.reserved).any(|other| other.overlaps(&with_gap)) {
            return false;
        }
        self.taken.push(area);
        true
    }

    /// The areas of all labels.
    pub fn taken(&self) -> &[Area] {
        &self.taken
    }
}

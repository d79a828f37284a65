//! A small SVG writer: shapes with classes, so that the page's style sheet decides what they look like.

use std::fmt::Write as _;

/// SVG text under construction.
#[derive(Debug, Default)]
pub struct Svg {
    text: String,
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

impl Anchor {
    /// The value of the attribute.
    pub fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A number with one decimal: a tenth of a pixel is finer than any screen shows.
pub fn px(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    match (tenths.abs() / 10, tenths.abs() % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (whole, tenth) => format!("{sign}{whole}.{tenth}"),
    }
}

/// Text as it may stand in SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Svg {
    /// The finished text.
    pub fn finish(self) -> String {
        self.text
    }

    /// A group; `content` draws what is in it.
    pub fn group(&mut self, class: &str, content: impl FnOnce(&mut Svg)) {
        // Writing to a string cannot fail, here and below.
        let _ = write!(self.text, r#"<g class="{class}">"#);
        content(self);
        self.text.push_str("</g>");
    }

    /// A rectangle with round corners.
    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64, radius: f64) {
        let _ = write!(
            self.text,
            r#"<rect class="{class}" x="{}" y="{}" width="{}" height="{}" rx="{}"/>"#,
            px(x),
            px(y),
            px(width.max(0.0)),
            px(height),
            px(radius)
        );
    }

    /// A path; `data` is in the language of SVG paths.
    pub fn path(&mut self, class: &str, data: &str) {
        let _ = write!(self.text, r#"<path class="{class}" d="{data}"/>"#);
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.text,
            r#"<line class="{class}" x1="{}" y1="{}" x2="{}" y2="{}"/>"#,
            px(from.0),
            px(from.1),
            px(to.0),
            px(to.1)
        );
    }

    /// A line through points.
    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
        let _ = write!(self.text, r#"<polyline class="{class}" points="{}"/>"#, points.join(" "));
    }

    /// A closed area.
    pub fn polygon(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
        let _ = write!(self.text, r#"<polygon class="{class}" points="{}"/>"#, points.join(" "));
    }

    /// A circle that says `title` when it is pointed at.
    pub fn circle(&mut self, class: &str, center: (f64, f64), radius: f64, title: &str) {
        let _ = write!(
            self.text,
            r#"<circle class="{class}" cx="{}" cy="{}" r="{}"><title>{}</title></circle>"#,
            px(center.0),
            px(center.1),
            px(radius),
            escape(title)
        );
    }

    /// A cross that says `title` when it is pointed at.
    pub fn cross(&mut self, class: &str, center: (f64, f64), size: f64, title: &str) {
        let (x, y) = (px(center.0 - size), px(center.1 - size));
        let side = px(size * 2.0);
        let _ = write!(
            self.text,
            r#"<path class="{class}" d="M{x} {y}l{side} {side}m0 -{side}l-{side} {side}"><title>{}</title></path>"#,
            escape(title)
        );
    }

    /// A diamond that says `title` when it is pointed at.
    pub fn diamond(&mut self, class: &str, center: (f64, f64), size: f64, title: &str) {
        let (x, y, s) = (px(center.0), px(center.1 - size), px(size));
        let _ = write!(
            self.text,
            r#"<path class="{class}" d="M{x} {y}l{s} {s}l-{s} {s}l-{s} -{s}z"><title>{}</title></path>"#,
            escape(title)
        );
    }

    /// A line of text.
    pub fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let _ = write!(
            self.text,
            r#"<text class="{class}" x="{}" y="{}" text-anchor="{}">{}</text>"#,
            px(at.0),
            px(at.1),
            anchor.name(),
            escape(text)
        );
    }
}

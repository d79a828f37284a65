//! A line graph: axes, lines and dots as data, so that who makes it need not know how it is drawn.
//!
//! The page sends a graph to the module that draws it as a list of numbers ([`Graph::encode`]); with the feature
//! `plot`, [`plot::draw`] draws it on any backend of plotters.

#[cfg(feature = "plot")]
pub mod plot;

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// A graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The horizontal axis, from and to.
    pub x: (f64, f64),
    /// The vertical axis, from and to.
    pub y: (f64, f64),
    /// Pixels of the backend for one CSS pixel.
    pub scale: f64,
    /// The colour of the labels.
    pub ink: Rgb,
    /// The colour of the axes.
    pub axis: Rgb,
    /// The lines, drawn in this order.
    pub lines: Vec<Line>,
    /// The dots, drawn last.
    pub dots: Vec<Dot>,
}

/// A line through points.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its colour.
    pub color: Rgb,
    /// Its width in CSS pixels.
    pub width: f64,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// A mark at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Its colour.
    pub color: Rgb,
    /// Where.
    pub at: (f64, f64),
    /// In CSS pixels.
    pub radius: f64,
    /// A disc; otherwise a ring.
    pub filled: bool,
}

impl Graph {
    /// The graph as numbers.
    pub fn encode(&self) -> Vec<f64> {
        let mut numbers = vec![self.x.0, self.x.1, self.y.0, self.y.1, self.scale];
        put_color(&mut numbers, self.ink);
        put_color(&mut numbers, self.axis);
        numbers.push(self.lines.len() as f64);
        for line in &self.lines {
            put_color(&mut numbers, line.color);
            numbers.extend([line.width, line.points.len() as f64]);
            numbers.extend(line.points.iter().flat_map(|(x, y)| [*x, *y]));
        }
        numbers.push(self.dots.len() as f64);
        for dot in &self.dots {
            put_color(&mut numbers, dot.color);
            numbers.extend([dot.at.0, dot.at.1, dot.radius, f64::from(u8::from(dot.filled))]);
        }
        numbers
    }

    /// Reads what [`encode`](Graph::encode) wrote; nothing if it is cut off.
    pub fn decode(numbers: &[f64]) -> Option<Graph> {
        let mut rest = numbers.iter().copied();
        let mut graph = Graph {
            x: take_pair(&mut rest)?,
            y: take_pair(&mut rest)?,
            scale: rest.next()?,
            ink: take_color(&mut rest)?,
            axis: take_color(&mut rest)?,
            lines: Vec::new(),
            dots: Vec::new(),
        };
        for _ in 0..rest.next()? as usize {
            let (color, width, count) = (take_color(&mut rest)?, rest.next()?, rest.next()? as usize);
            let points: Option<Vec<(f64, f64)>> = (0..count).map(|_| take_pair(&mut rest)).collect();
            graph.lines.push(Line { color, width, points: points? });
        }
        for _ in 0..rest.next()? as usize {
            let (color, at) = (take_color(&mut rest)?, take_pair(&mut rest)?);
            graph.dots.push(Dot { color, at, radius: rest.next()?, filled: rest.next()? != 0.0 });
        }
        Some(graph)
    }
}

fn put_color(numbers: &mut Vec<f64>, (r, g, b): Rgb) {
    numbers.extend([r, g, b].map(f64::from));
}

fn take_color(rest: &mut impl Iterator<Item = f64>) -> Option<Rgb> {
    Some((rest.next()? as u8, rest.next()? as u8, rest.next()? as u8))
}

fn take_pair(rest: &mut impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    Some((rest.next()?, rest.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        Graph {
            x: (0.0, 60.0),
            y: (-1.0, 2.5),
            scale: 2.0,
            ink: (1, 2, 3),
            axis: (4, 5, 6),
            lines: vec![
                Line { color: (255, 0, 7), width: 1.5, points: vec![(0.0, 1.0), (2.0, 3.0)] },
                Line { color: (0, 0, 0), width: 1.0, points: Vec::new() },
            ],
            dots: vec![Dot { color: (9, 9, 9), at: (1.0, 2.0), radius: 4.0, filled: true }],
        }
    }

    #[test]
    fn what_is_encoded_is_read_again() {
        assert_eq!(Graph::decode(&graph().encode()), Some(graph()));
    }

    #[test]
    fn what_is_cut_off_is_no_graph() {
        let numbers = graph().encode();
        for length in 0..numbers.len() {
            assert_eq!(Graph::decode(&numbers[..length]), None, "{length} numbers");
        }
    }
}

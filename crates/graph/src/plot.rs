//! The drawing, generic over the backend: a canvas on the page, SVG for tests and files.

use plotters::prelude::*;

use crate::{Graph, Rgb};

/// Draws `graph` on the whole of `backend`.
///
/// # Errors
/// What the backend reports.
pub fn draw<B: DrawingBackend>(graph: &Graph, backend: B) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let root = backend.into_drawing_area();
    let scaled = |pixels: f64| (pixels * graph.scale).round() as i32;
    let stroke = |pixels: f64| scaled(pixels).max(1) as u32;
    let color = |(r, g, b): Rgb| RGBColor(r, g, b);
    let font = ("sans-serif", scaled(11.0)).into_font();
    let mut chart = ChartBuilder::on(&root)
        .margin(scaled(8.0))
        .margin_right(scaled(24.0))
        .x_label_area_size(scaled(26.0))
        .y_label_area_size(scaled(34.0))
        .build_cartesian_2d(graph.x.0..graph.x.1, graph.y.0..graph.y.1)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(color(graph.axis))
        .label_style(font.color(&color(graph.ink)))
        .x_labels(7)
        .y_labels(6)
        .x_label_formatter(&|value| format!("{}", (value * 100.0).round() / 100.0))
        .y_label_formatter(&|value| format!("{}", (value * 100.0).round() / 100.0))
        .draw()?;
    let area = chart.plotting_area();
    for line in &graph.lines {
        let style = color(line.color).stroke_width(stroke(line.width));
        area.draw(&PathElement::new(line.points.clone(), style))?;
    }
    for dot in &graph.dots {
        let dot_color = color(dot.color);
        let shape = if dot.filled { dot_color.filled() } else { dot_color.stroke_width(stroke(2.0)) };
        area.draw(&Circle::new(dot.at, scaled(dot.radius), shape))?;
    }
    root.present()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dot, Line};
    use plotters_svg::SVGBackend;

    #[test]
    fn lines_and_dots_are_drawn() {
        let graph = Graph {
            x: (0.0, 10.0),
            y: (0.0, 10.0),
            scale: 1.0,
            ink: (0, 0, 0),
            axis: (0, 0, 0),
            lines: vec![Line { color: (0, 0, 255), width: 2.0, points: vec![(0.0, 0.0), (10.0, 10.0)] }],
            dots: vec![Dot { color: (255, 0, 0), at: (5.0, 5.0), radius: 4.0, filled: true }],
        };
        let mut svg = String::new();
        draw(&graph, SVGBackend::with_string(&mut svg, (600, 240))).expect("the backend writes into memory");
        assert!(svg.contains("polyline") && svg.contains("circle"), "{svg}");
    }
}

//! Parts of the page that are only shown, as HTML text.
//!
//! A list of a hundred lines as one text is built faster, and takes less code in the browser, than a hundred live
//! nodes.
//! Buttons in such text carry their instant in `data-at`; one listener around them moves the cursor there.

use std::fmt::Write as _;

use lease_lab_drawing::svg::escape;
use lease_lab_sim::time::TrueTime;
use wasm_bindgen::JsCast as _;

use crate::dom::closest;
use crate::state::Lab;

/// HTML text under construction; what is put in as text is escaped.
#[derive(Default)]
pub(crate) struct Html(String);

impl Html {
    /// Opens an element; `attributes` are names and values.
    pub(crate) fn open(&mut self, tag: &str, attributes: &[(&str, &str)]) -> &mut Html {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            self.0.push_str(&escape(value));
            self.0.push('"');
        }
        self.0.push('>');
        self
    }

    pub(crate) fn close(&mut self, tag: &str) -> &mut Html {
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Html {
        self.0.push_str(&escape(text));
        self
    }

    /// An element with only text in it.
    pub(crate) fn element(&mut self, tag: &str, attributes: &[(&str, &str)], text: &str) -> &mut Html {
        self.open(tag, attributes).text(text).close(tag)
    }

    /// A button that moves the cursor to `at`.
    pub(crate) fn jump(&mut self, class: &str, at: TrueTime, text: &str) -> &mut Html {
        let mut micros = String::new();
        // Writing to a string cannot fail.
        let _ = write!(micros, "{}", at.as_micros());
        self.element("button", &[("type", "button"), ("class", class), ("data-at", &micros)], text)
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// The listener around texts with jumps in them.
pub(crate) fn follow_jump(lab: Lab, event: &web_sys::MouseEvent) {
    let button = closest(event, "[data-at]");
    let micros = button.and_then(|button| button.get_attribute("data-at")).and_then(|text| text.parse().ok());
    if let Some(micros) = micros {
        lab.step_to(TrueTime::from_micros(micros));
    }
}

/// Whether a `details` element is open, when it says that this changed.
pub(crate) fn is_open(event: &web_sys::Event) -> bool {
    event
        .current_target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
        .is_some_and(|details| details.has_attribute("open"))
}

//! Icons as paths in a square of 16 units, in the colour of the text.

use leptos::prelude::*;

fn icon(path: &'static str) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
            <path d=path/>
        </svg>
    }
}

pub(crate) fn play() -> impl IntoView {
    icon("M4 2.5v11l9-5.5z")
}

pub(crate) fn pause() -> impl IntoView {
    icon("M4 3h3v10H4zM9 3h3v10H9z")
}

pub(crate) fn next_event() -> impl IntoView {
    icon("M6 3.5v9l6-4.5z")
}

pub(crate) fn previous_event() -> impl IntoView {
    icon("M10 3.5v9L4 8z")
}

pub(crate) fn next_beat() -> impl IntoView {
    icon("M2.5 3.5v9L8 8zM8 3.5v9L13.5 8z")
}

pub(crate) fn previous_beat() -> impl IntoView {
    icon("M13.5 3.5v9L8 8zM8 3.5v9L2.5 8z")
}

pub(crate) fn to_start() -> impl IntoView {
    icon("M3 3h1.8v10H3zM13 3.5v9L6 8z")
}

pub(crate) fn to_end() -> impl IntoView {
    icon("M11.2 3H13v10h-1.8zM3 3.5v9L10 8z")
}

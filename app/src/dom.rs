//! The few things that are asked of the browser directly.

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::*;

/// Any access to storage can fail: in private windows, in sandboxed frames.
pub(crate) fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}

/// The query part of the page's address.
pub(crate) fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// Replaces the query part of the page's address without a new entry in the history.
pub(crate) fn replace_query(query: &str) {
    // Opaque origins refuse this; the page works without.
    let _ = window().history().and_then(|history| history.replace_state_with_url(&JsValue::NULL, "", Some(query)));
}

/// Goes to an address of this page with another query part.
#[cfg(feature = "labs")]
pub(crate) fn push_query(query: &str) {
    // Opaque origins refuse this; the page works without.
    let _ = window().history().and_then(|history| history.push_state_with_url(&JsValue::NULL, "", Some(query)));
}

/// Moves the focus to an element once it is there.
#[cfg(feature = "labs")]
pub(crate) fn focus_soon(selector: &'static str) {
    request_animation_frame(move || {
        let element = document().query_selector(selector).ok().flatten();
        if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            // It is there and can take the focus.
            let _ = element.focus();
        }
    });
}

/// A text as a file that an address of this page leads to.
#[cfg(feature = "labs")]
pub(crate) fn blob_url(text: &str, kind: &str) -> Result<String, JsValue> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(kind);
    let blob = web_sys::Blob::new_with_str_sequence_and_options(&js_sys::Array::of1(&text.into()), &options)?;
    web_sys::Url::create_object_url_with_blob(&blob)
}

/// Offers what an address leads to as a file.
#[cfg(feature = "labs")]
pub(crate) fn save_url(name: &str, url: &str) -> Result<(), JsValue> {
    let link = document().create_element("a")?;
    link.set_attribute("href", url)?;
    link.set_attribute("download", name)?;
    link.unchecked_ref::<web_sys::HtmlElement>().click();
    Ok(())
}

/// Offers a text as a file.
#[cfg(feature = "labs")]
pub(crate) fn download(name: &str, text: &str, kind: &str) -> Result<(), JsValue> {
    let url = blob_url(text, kind)?;
    save_url(name, &url)?;
    web_sys::Url::revoke_object_url(&url)
}

/// Whether the reader wants nothing to move.
#[cfg(feature = "labs")]
pub(crate) fn wants_no_motion() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)").ok().flatten();
    query.is_some_and(|query| query.matches())
}

/// Today on the reader's calendar, in days since 1970.
#[cfg(feature = "labs")]
pub(crate) fn today() -> u32 {
    const DAY_MS: f64 = 86_400_000.0;
    let now = js_sys::Date::new_0();
    let local_ms = now.get_time() - now.get_timezone_offset() * 60_000.0;
    (local_ms / DAY_MS).floor().max(0.0) as u32
}

/// The colour of a CSS custom property on the root, as red, green and blue.
pub(crate) fn css_color(name: &str) -> (u8, u8, u8) {
    let value = document()
        .document_element()
        .and_then(|root| window().get_computed_style(&root).ok().flatten())
        .and_then(|style| style.get_property_value(name).ok())
        .unwrap_or_default();
    let part =
        |at: usize| value.trim().get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or(128);
    (part(1), part(3), part(5))
}

// Every further type of a closure that Leptos is handed is code of its own, which the first screen has to load; so
// closures are boxed before they get there.

/// An effect: runs now, and again whenever a signal that it has read changes.
pub(crate) fn effect(run: impl FnMut() + 'static) {
    fn boxed(mut run: Box<dyn FnMut()>) {
        Effect::new(move |_| run());
    }
    boxed(Box::new(run));
}

/// What happens on an event of the mouse.
pub(crate) fn on_mouse(act: impl FnMut(web_sys::MouseEvent) + 'static) -> Box<dyn FnMut(web_sys::MouseEvent)> {
    Box::new(act)
}

/// What happens on an event of the keyboard.
pub(crate) fn on_key(act: impl FnMut(web_sys::KeyboardEvent) + 'static) -> Box<dyn FnMut(web_sys::KeyboardEvent)> {
    Box::new(act)
}

/// What happens on an event of a pointer.
pub(crate) fn on_pointer(act: impl FnMut(web_sys::PointerEvent) + 'static) -> Box<dyn FnMut(web_sys::PointerEvent)> {
    Box::new(act)
}

/// What happens on an event of another kind.
pub(crate) fn on_event(act: impl FnMut(web_sys::Event) + 'static) -> Box<dyn FnMut(web_sys::Event)> {
    Box::new(act)
}

/// Calls `resized` with the width of `element` whenever it changes, from now on.
pub(crate) fn on_resize(element: &web_sys::Element, resized: impl Fn(f64) + 'static) {
    let observed = element.clone();
    let callback = Closure::<dyn Fn()>::new(move || resized(f64::from(observed.client_width())));
    if let Ok(observer) = web_sys::ResizeObserver::new(callback.as_ref().unchecked_ref()) {
        observer.observe(element);
        // The observer lives as long as the page.
        callback.forget();
        std::mem::forget(observer);
    }
}

/// Whether an event comes from a control that uses keys itself.
pub(crate) fn uses_keys(event: &web_sys::KeyboardEvent) -> bool {
    let tag = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
        .map(|element| element.tag_name())
        .unwrap_or_default();
    match tag.as_str() {
        "INPUT" | "SELECT" | "TEXTAREA" => true,
        // Space and Enter press a button; other keys are free.
        "BUTTON" | "SUMMARY" | "A" => matches!(event.key().as_str(), " " | "Enter"),
        _ => false,
    }
}

/// The element that an event happened in or on, if it is of this kind.
pub(crate) fn closest(event: &web_sys::Event, selector: &str) -> Option<web_sys::Element> {
    event.target()?.dyn_into::<web_sys::Element>().ok()?.closest(selector).ok().flatten()
}

/// All elements of this kind in `root`.
#[cfg(feature = "labs")]
pub(crate) fn elements(root: &web_sys::Element, selector: &str) -> Vec<web_sys::Element> {
    let mut elements = Vec::new();
    if let Ok(found) = root.query_selector_all(selector) {
        for place in 0..found.length() {
            elements.extend(found.item(place).and_then(|node| node.dyn_into().ok()));
        }
    }
    elements
}

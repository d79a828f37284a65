//! The page: the lab of the billing story.
//!
//! Data flows one way: the state ([`state::Lab`]) makes a run, the run makes views, the views make the drawing.

mod api;
#[cfg(feature = "labs")]
mod changing;
mod chart;
mod components;
mod dom;
#[cfg(feature = "labs")]
mod drills;
#[cfg(feature = "labs")]
mod embed;
mod history;
mod html;
#[cfg(feature = "labs")]
mod labs;
mod playback;
mod state;
mod takeover;

use lease_lab_links::{Link, Theme};
use leptos::mount::mount_to;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use crate::state::Lab;

fn main() {
    console_error_panic_hook::set_once();
    let link = Link::read(&dom::query());
    let theme = link.theme.unwrap_or_else(remembered_theme);
    let Some(place) =
        document().get_element_by_id("app").and_then(|place| place.dyn_into::<web_sys::HtmlElement>().ok())
    else {
        return;
    };
    place.set_inner_html("");
    #[cfg(feature = "labs")]
    if let Some(route) = drills::Route::of(&link) {
        mount_to(place, move || drills::show(route, RwSignal::new(theme))).forget();
        return;
    }
    #[cfg(feature = "labs")]
    if let Some(page) = link.page {
        mount_to(place, move || labs::show_page(page, RwSignal::new(theme))).forget();
        return;
    }
    #[cfg(feature = "labs")]
    if let Some(controls) = embed::controls() {
        mount_to(place, move || {
            let lab = Lab::new(link, RwSignal::new(theme));
            api::expose(lab);
            embed::expose(lab);
            components::embedded(lab, controls)
        })
        .forget();
        return;
    }
    mount_to(place, move || {
        let lab = Lab::new(link, RwSignal::new(theme));
        #[cfg(feature = "labs")]
        takeover::go_on(lab, takeover::note());
        api::expose(lab);
        components::page(lab)
    })
    .forget();
}

/// The reader's last choice on this device, if storage can be read.
fn remembered_theme() -> Theme {
    let stored = dom::storage().and_then(|storage| storage.get_item("lease-lab-theme").ok().flatten());
    stored.and_then(|id| Theme::ALL.into_iter().find(|theme| theme.id() == id)).unwrap_or(Theme::Auto)
}

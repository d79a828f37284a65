//! Think-first drills: commit to an answer, let the simulator run, compare.
//!
//! Only in the module of every lab.
//! What is asked and how it is graded is in `lease-lab-drills`; here is the order in which it is shown, which no key,
//! address or step back can skip: what comes after the commitment is not on the page before it.

mod forms;
mod kept;
mod one;
mod outcome;
mod overview;
mod parent;

use lease_lab_drills::Drill;
use lease_lab_links::{Drills as Place, Link, Theme};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::*;

use crate::components;
use crate::dom::{self, closest};
use crate::embed;
use kept::Kept;

/// Which of the pages is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Route {
    place: Place,
    /// Sentences on what could not be used of the address.
    notices: Vec<String>,
}

impl Route {
    /// The page that a link asks for, if it asks for drills.
    pub(crate) fn of(link: &Link) -> Option<Route> {
        Some(Route { place: link.drills.clone()?, notices: link.notices.clone() })
    }
}

/// What all pages of the drills share; small handles.
#[derive(Clone, Copy)]
struct Drills {
    route: RwSignal<Route>,
    kept: Kept,
    theme: RwSignal<Theme>,
    /// The drills that the address asked for at first: a parent is told of the score of all of them together.
    set: StoredValue<Vec<&'static Drill>>,
}

/// The address of a drill with those that come after it.
fn address(drill: &'static Drill, then: &[&'static Drill]) -> String {
    let place = Some(Place::One(drill, then.to_vec()));
    Link { drills: place, ..Link::read("") }.write()
}

/// The whole page.
pub(crate) fn show(first: Route, theme: RwSignal<Theme>) -> impl IntoView {
    let set = match &first.place {
        Place::One(drill, then) => std::iter::once(*drill).chain(then.iter().copied()).collect(),
        Place::Overview => Vec::new(),
    };
    let drills = Drills { route: RwSignal::new(first), kept: Kept::read(), theme, set: StoredValue::new(set) };
    parent::listen(drills);
    let is_embedded = embed::controls().is_some();
    if is_embedded {
        components::follow_theme(theme);
    }
    follow_history(drills.route);
    let keys = RwSignal::new(false);
    view! {
        <div on:click=dom::on_mouse(move |event| follow_link(drills.route, &event))>
            {(!is_embedded).then(|| {
                view! {
                    <a class="skip" href="#drill">"Skip to the drill"</a>
                    {components::header("Drills", theme, Some(keys))}
                }
            })}
            <main id="drill" tabindex="-1" class="drills">
                {move || {
                    let Route { place, notices } = drills.route.get();
                    let notices = notices.into_iter().map(|text| view! { <p class="notice" role="status">{text}</p> });
                    let page = match place {
                        Place::Overview => overview::show(drills).into_any(),
                        Place::One(drill, then) => one::show(drills, drill, then, keys).into_any(),
                    };
                    (notices.collect_view(), page)
                }}
            </main>
            {components::help(keys)}
        </div>
    }
}

/// A link between drills stays on the page, so that progress is not lost where the browser keeps none.
fn follow_link(route: RwSignal<Route>, event: &web_sys::MouseEvent) {
    if event.button() != 0 || event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key() {
        return;
    }
    let query = closest(event, "a[href^='?drill']").and_then(|link| link.get_attribute("href"));
    let Some(mut link) = query.map(|query| Link::read(&query)) else { return };
    let Some(next) = Route::of(&link) else { return };
    event.prevent_default();
    // What is not about drills stays: a page that is embedded stays so.
    let here = Link::read(&dom::query());
    (link.theme, link.frame) = (here.theme, here.frame);
    dom::push_query(&link.write());
    go(route, next);
}

fn go(route: RwSignal<Route>, next: Route) {
    route.set(next);
    window().scroll_to_with_x_and_y(0.0, 0.0);
    dom::focus_soon("#drill");
}

/// Back and forward lead to the page that the address names; what was answered there is shown as it was.
fn follow_history(route: RwSignal<Route>) {
    let back = Closure::<dyn Fn()>::new(move || {
        if let Some(next) = Route::of(&Link::read(&dom::query())) {
            // The page may be gone by now.
            let _ = route.try_set(next);
        } else {
            // Any other page is another start.
            let _ = window().location().reload();
        }
    });
    let _ = window().add_event_listener_with_callback("popstate", back.as_ref().unchecked_ref());
    // It listens as long as the page lives.
    back.forget();
}

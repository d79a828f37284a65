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
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::*;
use web_sys::UrlSearchParams;

use crate::components;
use crate::dom::{self, closest};
use crate::embed;
use crate::state::Theme;
use kept::Kept;

/// Which of the pages is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Route {
    /// The list of all drills, with a word on an address that could not be used.
    Overview(Option<String>),
    /// One drill, and those that come after it in a session.
    One(&'static Drill, Vec<&'static Drill>),
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

/// The page that an address asks for, if it asks for drills: `?drill` or `?drill=ID&then=ID,ID`.
pub(crate) fn route(query: &str) -> Option<Route> {
    let parameters = UrlSearchParams::new_with_str(query).ok()?;
    let id = parameters.get("drill")?;
    if id.is_empty() {
        return Some(Route::Overview(None));
    }
    let then = parameters.get("then").unwrap_or_default();
    let then = then.split(',').filter_map(lease_lab_drills::find).collect();
    Some(match lease_lab_drills::find(&id) {
        Some(drill) => Route::One(drill, then),
        None => Route::Overview(Some(format!(
            "The link asks for a drill “{}” that does not exist; expected one of those below.",
            crate::link::shorten(&id)
        ))),
    })
}

/// The address of a drill with those that come after it.
fn address(drill: &Drill, then: &[&Drill]) -> String {
    let mut address = format!("?drill={}", drill.id);
    if !then.is_empty() {
        address.push_str("&then=");
        address.push_str(&then.iter().map(|drill| drill.id).collect::<Vec<_>>().join(","));
    }
    address
}

/// The whole page.
pub(crate) fn show(first: Route, theme: RwSignal<Theme>) -> impl IntoView {
    let set = match &first {
        Route::One(drill, then) => std::iter::once(*drill).chain(then.iter().copied()).collect(),
        Route::Overview(_) => Vec::new(),
    };
    let drills = Drills { route: RwSignal::new(first), kept: Kept::read(), theme, set: StoredValue::new(set) };
    parent::listen(drills);
    let is_embedded = embed::controls().is_some();
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
                {move || match drills.route.get() {
                    Route::Overview(wrong) => overview::show(drills, wrong).into_any(),
                    Route::One(drill, then) => one::show(drills, drill, then, keys).into_any(),
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
    let Some((query, next)) = query.and_then(|query| Some((query.clone(), self::route(&query)?))) else { return };
    event.prevent_default();
    dom::push_query(&embed::kept(&query));
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
        if let Some(next) = self::route(&dom::query()) {
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

//! Name, link, theme, help.

use lease_lab_links::Theme;
use leptos::prelude::*;

use crate::dom;
use crate::state::Lab;

#[component]
pub(crate) fn Header(
    /// What the page is called.
    name: &'static str,
    theme: RwSignal<Theme>,
    /// The lab that a link is to lead to; without it, it leads to the page as it was opened.
    lab: Option<Lab>,
    /// Opens the list of keys, if the page has any.
    keys: Option<RwSignal<bool>>,
) -> impl IntoView {
    let copied = RwSignal::new(None::<bool>);
    let copy = move |_| {
        let query = match lab {
            Some(lab) => {
                let hash = lab.run.read_untracked().hash();
                let query = super::address(lab, Some(&hash));
                dom::replace_query(&query);
                query
            }
            None => dom::query(),
        };
        let location = window().location();
        let url =
            format!("{}{}{query}", location.origin().unwrap_or_default(), location.pathname().unwrap_or_default());
        leptos::task::spawn_local(async move {
            let _ = copied.try_set(Some(write_to_clipboard(&url).await));
        });
        set_timeout(
            move || {
                let _ = copied.try_set(None);
            },
            std::time::Duration::from_secs(4),
        );
    };
    follow(theme);
    view! {
        <header class="site">
            <a class="brand" href="?">"Lease Lab"</a>
            <span class="tagline">{name}</span>
            <div class="site-actions">
                <a class="quiet" href="#contents">"Contents"</a>
                <a class="quiet" href="?drill">"Drills"</a>
                <button type="button" class="quiet" on:click=dom::on_mouse(copy)>
                    {move || match copied.get() {
                        None => "Copy link",
                        Some(true) => "Link copied",
                        Some(false) => "Link is in the address bar",
                    }}
                </button>
                <label class="quiet-label">
                    <span class="visually-hidden">"Colours"</span>
                    <select
                        aria-label="Colours"
                        prop:value=Signal::derive(move || theme.get().id())
                        on:change:target=move |event| {
                            let id = event.target().value();
                            if let Some(chosen) = Theme::ALL.into_iter().find(|theme| theme.id() == id) {
                                theme.set(chosen);
                                if let Some(storage) = dom::storage() {
                                    // Without storage the choice lasts as long as the page.
                                    let _ = storage.set_item("lease-lab-theme", chosen.id());
                                }
                            }
                        }
                    >
                        <option value="auto">"System colours"</option>
                        <option value="light">"Light"</option>
                        <option value="dark">"Dark"</option>
                    </select>
                </label>
                {keys.map(|help_open| {
                    view! { <button type="button" class="quiet" on:click=dom::on_mouse(move |_| help_open.set(true))>"Keys"</button> }
                })}
            </div>
        </header>
    }
}

/// The whole page takes the colours of `theme`, from now on.
pub(super) fn follow(theme: RwSignal<Theme>) {
    dom::effect(move || {
        let theme = theme.get();
        if let Some(root) = document().document_element() {
            // An attribute with a plain name can be set.
            let _ = root.set_attribute("data-theme", theme.id());
        }
    });
}

/// Without a secure context there is no clipboard, and with one it may refuse; the address bar has the link then.
async fn write_to_clipboard(text: &str) -> bool {
    let navigator = window().navigator();
    let clipboard = js_sys::Reflect::get(&navigator, &"clipboard".into());
    if !clipboard.is_ok_and(|clipboard| !clipboard.is_undefined()) {
        return false;
    }
    wasm_bindgen_futures::JsFuture::from(navigator.clipboard().write_text(text)).await.is_ok()
}

//! The words that a link chooses from.

use lease_lab_sim::intervention::Change;
use lease_lab_sim::settings::{FenceMode, RaiseOrder};

/// The one thing that is different in the run that is drawn behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ghost {
    /// Nothing is drawn behind.
    #[default]
    None,
    /// The store compares nothing.
    FenceOff,
    /// A new holder raises the fence late.
    RaiseLate,
    /// Nobody cleans up.
    SweeperOff,
    /// The store recognises what it has recorded.
    Idempotent,
}

impl Ghost {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Ghost; 5] = [Ghost::None, Ghost::FenceOff, Ghost::RaiseLate, Ghost::SweeperOff, Ghost::Idempotent];
    pub(crate) const IDS: [&str; 5] = ["none", "fence-off", "raise-late", "sweeper-off", "idempotent"];

    /// Its word in a link.
    pub fn id(self) -> &'static str {
        Ghost::IDS[self as usize]
    }

    /// What a reader calls it, after “draw behind it”.
    pub fn title(self) -> &'static str {
        match self {
            Ghost::None => "nothing",
            Ghost::FenceOff => "the fence off",
            Ghost::RaiseLate => "the fence raised late",
            Ghost::SweeperOff => "the sweeper off",
            Ghost::Idempotent => "a store that recognises chunks",
        }
    }

    /// What is different, from the start.
    pub fn change(self) -> Option<Change> {
        match self {
            Ghost::None => None,
            Ghost::FenceOff => Some(Change::Fence(FenceMode::Off)),
            Ghost::RaiseLate => Some(Change::Raise(RaiseOrder::Late)),
            Ghost::SweeperOff => Some(Change::Sweeper(false)),
            Ghost::Idempotent => Some(Change::Idempotent(true)),
        }
    }
}

/// Colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Those of the reader’s system.
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Theme; 3] = [Theme::Auto, Theme::Light, Theme::Dark];
    pub(crate) const IDS: [&str; 3] = ["auto", "light", "dark"];

    /// Its word in a link.
    pub fn id(self) -> &'static str {
        Theme::IDS[self as usize]
    }
}

/// The language of the page, as a language tag (BCP 47).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// English.
    En,
    /// Chinese in simplified characters.
    ZhHans,
}

impl Lang {
    /// Every one.
    pub const ALL: [Lang; 2] = [Lang::En, Lang::ZhHans];
    pub(crate) const IDS: [&str; 2] = ["en", "zh-Hans"];

    /// Its word in a link, and in the attribute `lang` of HTML.
    pub fn id(self) -> &'static str {
        Lang::IDS[self as usize]
    }
}

/// What an embedded lab lets its reader do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controls {
    /// Everything.
    #[default]
    Full,
    /// Playing and scrubbing.
    Transport,
    /// Nothing.
    None,
}

impl Controls {
    /// Every one.
    pub const ALL: [Controls; 3] = [Controls::Full, Controls::Transport, Controls::None];
    pub(crate) const IDS: [&str; 3] = ["full", "transport", "none"];

    /// Its word in a link.
    pub fn id(self) -> &'static str {
        Controls::IDS[self as usize]
    }
}

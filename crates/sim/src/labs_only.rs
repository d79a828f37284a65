//! Parts that only the labs have.

use std::ops::{Deref, DerefMut};

/// A part that only the labs have.
///
/// Without the feature `labs` the type has no values, so the compiler leaves out whatever would be done with one: the
/// first screen of the page need not load it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LabsOnly<T> {
    inner: T,
    #[cfg(not(feature = "labs"))]
    never: std::convert::Infallible,
}

impl<T> LabsOnly<T> {
    /// Makes the part.
    #[cfg(feature = "labs")]
    pub fn new(make: impl FnOnce() -> T) -> LabsOnly<T> {
        LabsOnly { inner: make() }
    }

    /// No plan of the story asks for one.
    #[cfg(not(feature = "labs"))]
    pub fn new(_: impl FnOnce() -> T) -> LabsOnly<T> {
        unreachable!("this build has the billing story alone")
    }
}

impl<T> Deref for LabsOnly<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for LabsOnly<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

/// The mark on what only the labs have and that has no part to wrap, for instance a kind of event.
pub fn labs_only() -> LabsOnly<()> {
    LabsOnly::new(|| ())
}

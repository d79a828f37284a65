//! The ordered map for what there can be thousands of.

#[cfg(feature = "labs")]
use std::collections::BTreeMap;

/// An ordered map for what there can be thousands of: leases, keys, things to come.
///
/// A B-tree where every lab is there.
/// The billing story alone never has more than a few dozen entries; a sorted list does for them, and is a fraction of
/// the code that the first screen of the page has to load.
/// Both go through their entries in the same order, so a run is the same with either.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderedMap<K, V> {
    #[cfg(feature = "labs")]
    entries: BTreeMap<K, V>,
    #[cfg(not(feature = "labs"))]
    entries: litemap::LiteMap<K, V>,
}

impl<K: Ord, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        OrderedMap { entries: Default::default() }
    }
}

impl<K: Ord + Copy, V> OrderedMap<K, V> {
    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key)
    }

    /// Sets a value and returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.entries.insert(key, value)
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.entries.remove(key)
    }

    /// All entries, in order of their keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.iter()
    }

    /// All keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// The entries from `from` on, in order of their keys.
    pub fn from(&self, from: K) -> impl Iterator<Item = (&K, &V)> {
        #[cfg(feature = "labs")]
        return self.entries.range(from..);
        #[cfg(not(feature = "labs"))]
        return self.entries.iter().filter(move |(key, _)| **key >= from);
    }

    /// Takes the first entry out.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        #[cfg(feature = "labs")]
        return self.entries.pop_first();
        #[cfg(not(feature = "labs"))]
        {
            let first = *self.keys().next()?;
            self.remove(&first).map(|value| (first, value))
        }
    }

    /// Keeps those entries for which `keeps` is true.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K, &V) -> bool) {
        self.entries.retain(|key, value| keeps(key, value));
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

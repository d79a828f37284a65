//! Seeded randomness: the one source of chance in a run.

use crate::time::Span;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): one word of state, so
/// that a world stays small and hashable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rng(u64);

impl Rng {
    /// A generator whose sequence depends on `seed` and `stream` only.
    pub fn new(seed: u64, stream: u64) -> Rng {
        Rng(seed ^ stream.wrapping_mul(0xA24B_AED4_963E_E407))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A span from zero up to and including `max`.
    pub fn span_up_to(&mut self, max: Span) -> Span {
        let choices = max.as_micros().max(0) as u64 + 1;
        Span::micros((self.next_u64() % choices) as i64)
    }
}

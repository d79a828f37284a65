//! Sets of whole numbers, kept as ranges: ten thousand invoices take as little room as one.

/// A set of numbers as ranges that neither overlap nor touch, in order; each holds `from` and not `to`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    /// The numbers from `from` up to and without `to`.
    pub fn of(from: u32, to: u32) -> Ranges {
        Ranges(if from < to { vec![(from, to)] } else { Vec::new() })
    }

    /// How many numbers it holds.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it holds this number.
    pub fn holds(&self, number: u32) -> bool {
        self.iter().any(|(from, to)| (from..to).contains(&number))
    }

    /// The ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().copied()
    }

    /// The numbers, in order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().flat_map(|(from, to)| from..to)
    }

    /// Adds all numbers of `other`.
    pub fn add(&mut self, other: &Ranges) {
        let mut all: Vec<(u32, u32)> = Vec::new();
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let mine_first = match (mine.peek(), theirs.peek()) {
                (Some(a), Some(b)) => a.0 <= b.0,
                (mine, theirs) => mine.is_some() || theirs.is_none(),
            };
            let Some((from, to)) = (if mine_first { mine.next() } else { theirs.next() }).copied() else { break };
            match all.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => all.push((from, to)),
            }
        }
        self.0 = all;
    }

    /// Its numbers that are not in `other`.
    pub fn without(&self, other: &Ranges) -> Ranges {
        let mut rest = Vec::new();
        for (mut from, to) in self.iter() {
            for (taken_from, taken_to) in other.iter() {
                if taken_to <= from || taken_from >= to {
                    continue;
                }
                if from < taken_from {
                    rest.push((from, taken_from));
                }
                from = taken_to.min(to);
            }
            if from < to {
                rest.push((from, to));
            }
        }
        Ranges(rest)
    }

    /// Its numbers that are in `other` too.
    pub fn common(&self, other: &Ranges) -> Ranges {
        self.without(&self.without(other))
    }

    /// Cuts it into sets of at most `most` numbers, in order.
    pub fn cut(&self, most: u32) -> Vec<Ranges> {
        let mut parts = vec![Ranges::default()];
        let mut room = most;
        for (mut from, to) in self.iter() {
            while from < to {
                if room == 0 {
                    parts.push(Ranges::default());
                    room = most;
                }
                let end = to.min(from + room);
                if let Some(part) = parts.last_mut() {
                    part.0.push((from, end));
                }
                room -= end - from;
                from = end;
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranges: &[(u32, u32)]) -> Ranges {
        let mut set = Ranges::default();
        for (from, to) in ranges {
            set.add(&Ranges::of(*from, *to));
        }
        set
    }

    #[test]
    fn ranges_are_sets_of_numbers() {
        let some = [set(&[]), set(&[(1, 4)]), set(&[(3, 9)]), set(&[(1, 2), (4, 6), (9, 12)]), set(&[(2, 4), (6, 9)])];
        for a in &some {
            for b in &some {
                let in_both = |number: &u32| b.numbers().any(|other| other == *number);
                let mut union: Vec<u32> = a.numbers().chain(b.numbers()).collect();
                union.sort_unstable();
                union.dedup();
                let mut added = a.clone();
                added.add(b);
                assert_eq!(added.numbers().collect::<Vec<u32>>(), union, "{a:?} + {b:?}");
                assert!(added.0.windows(2).all(|pair| pair[0].1 < pair[1].0), "{added:?}");
                let common: Vec<u32> = a.numbers().filter(in_both).collect();
                assert_eq!(a.common(b).numbers().collect::<Vec<u32>>(), common, "{a:?} and {b:?}");
                let rest: Vec<u32> = a.numbers().filter(|number| !in_both(number)).collect();
                assert_eq!(a.without(b).numbers().collect::<Vec<u32>>(), rest, "{a:?} − {b:?}");
            }
        }
    }

    #[test]
    fn cutting_keeps_every_number_once() {
        let set = set(&[(1, 120), (150, 160), (200, 301)]);
        let parts = set.cut(99);
        let lengths: Vec<u32> = parts.iter().map(Ranges::len).collect();
        assert_eq!(lengths, [99, 99, 32]);
        assert!(parts.iter().flat_map(Ranges::numbers).eq(set.numbers()));
        assert_eq!(Ranges::default().cut(99), [Ranges::default()], "an empty set is one empty part");
    }
}

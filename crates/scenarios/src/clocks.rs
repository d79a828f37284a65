//! The clocks of each machine, rebuilt from the events that changed them.

use lease_lab_sim::clock::{MachineClock, Reading};
use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::time::{Mono, Span, TrueTime, Wall};
use litemap::LiteMap;

/// How one machine's clocks ran: pieces between changes.
#[derive(Clone, Debug)]
pub struct ClockTrack {
    pieces: Vec<(TrueTime, MachineClock)>,
}

impl Default for ClockTrack {
    fn default() -> Self {
        ClockTrack { pieces: vec![(TrueTime::ZERO, MachineClock::default())] }
    }
}

/// The clocks of all machines that the trace changes; the others are right.
pub fn tracks(events: &[Event]) -> LiteMap<MachineId, ClockTrack> {
    let mut tracks: LiteMap<MachineId, ClockTrack> = LiteMap::new();
    for event in events {
        let now = event.t;
        let mut change = |f: &dyn Fn(&mut MachineClock)| {
            let track = tracks.entry(event.machine).or_default();
            let mut clock = track.last().clone();
            f(&mut clock);
            track.pieces.push((now, clock));
        };
        match &event.kind {
            Kind::Paused { vm: true, .. } => change(&|clock| clock.stop(now)),
            Kind::Resumed { .. } | Kind::Crashed { .. } => change(&|clock| clock.start(now)),
            Kind::RateSet { rate } => change(&|clock| clock.set_rate(now, rate.0)),
            Kind::WallStepped { by, .. } => change(&|clock| clock.step_wall(now, *by)),
            Kind::OffsetSet { offset, .. } => change(&|clock| clock.set_offset(now, *offset)),
            _ => {}
        }
    }
    tracks
}

impl ClockTrack {
    fn last(&self) -> &MachineClock {
        // There is always the piece that begins at zero.
        &self.pieces[self.pieces.len() - 1].1
    }

    /// What the clocks show at `at`.
    pub fn reading(&self, at: TrueTime) -> Reading {
        let later = self.pieces.partition_point(|(from, _)| *from <= at);
        self.pieces[later.saturating_sub(1)].1.read(at)
    }

    /// When the clock was changed.
    pub fn changes(&self) -> impl Iterator<Item = TrueTime> + '_ {
        self.pieces.iter().skip(1).map(|(from, _)| *from)
    }

    /// The first true time from `from` on at which the monotonic clock shows at least `mono`, up to `until`.
    pub fn when_mono(&self, mono: Mono, from: TrueTime, until: TrueTime) -> Option<TrueTime> {
        self.first(from, until, |reading| mono - reading.mono)
    }

    /// The same for the wall clock.
    pub fn when_wall(&self, wall: Wall, from: TrueTime, until: TrueTime) -> Option<TrueTime> {
        self.first(from, until, |reading| wall - reading.wall)
    }

    /// The first true time at which nothing is missing any more to the reading that is waited for.
    fn first(&self, from: TrueTime, until: TrueTime, missing: impl Fn(Reading) -> Span) -> Option<TrueTime> {
        let mut pieces = self.pieces.iter().peekable();
        while let Some((start, clock)) = pieces.next() {
            let end = pieces.peek().map_or(until, |(next, _)| (*next).min(until));
            let begin = (*start).max(from);
            if begin > end {
                continue;
            }
            let reading = clock.read(begin);
            if missing(reading) <= Span::ZERO {
                return Some(begin);
            }
            // Within a piece both clocks run alike, so the monotonic one tells when the wall clock is there, too.
            let there = clock.true_time_when(reading.mono + missing(reading));
            if let Some(at) = there.filter(|at| *at <= end) {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_sim::machine::WorkerId;

    #[test]
    fn a_wall_clock_that_steps_back_crosses_later() {
        let b = MachineId::Worker(WorkerId::B);
        let wall = Wall::from_millis(13_000);
        let kind = Kind::WallStepped { by: Span::seconds(-3), wall };
        let tracks = tracks(&[Event { t: TrueTime::from_millis(16_000), machine: b, kind }]);
        let until = TrueTime::from_millis(60_000);
        let start = TrueTime::from_millis(13_500);
        let mono = tracks[&b].when_mono(Mono::from_millis(21_500), start, until);
        let wall = tracks[&b].when_wall(Wall::from_millis(21_500), start, until);
        assert_eq!(mono, Some(TrueTime::from_millis(21_500)));
        assert_eq!(wall, Some(TrueTime::from_millis(24_500)));
    }
}

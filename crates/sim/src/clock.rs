//! The two clocks of one machine, and the only conversion between true time and their readings.

use crate::time::{Mono, Span, TrueTime, Wall};

/// One million parts: a clock that runs exactly as fast as true time.
pub const RATE_ONE: i64 = 1_000_000;

/// What a machine reads when it looks at its clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// The monotonic clock.
    pub mono: Mono,
    /// The wall clock.
    pub wall: Wall,
}

/// The monotonic and the wall clock of one machine.
///
/// Both are fed by one oscillator, so a rate error (drift) shows on both, while a step or an offset shows on the wall
/// clock only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MachineClock {
    anchor: TrueTime,
    mono: Mono,
    wall: Wall,
    rate_ppm: i64,
    stopped: bool,
}

impl Default for MachineClock {
    fn default() -> Self {
        MachineClock { anchor: TrueTime::ZERO, mono: Mono::ZERO, wall: Wall::ZERO, rate_ppm: RATE_ONE, stopped: false }
    }
}

impl MachineClock {
    /// Both readings at `now`, which must not lie before the clock's last change.
    pub fn read(&self, now: TrueTime) -> Reading {
        let elapsed = self.elapsed(now);
        Reading { mono: self.mono + elapsed, wall: self.wall + elapsed }
    }

    /// The earliest true time at which the monotonic clock shows at least `mono`; never, while the clock stands.
    pub fn true_time_when(&self, mono: Mono) -> Option<TrueTime> {
        if self.stopped {
            return None;
        }
        let wanted = (mono - self.mono).as_micros();
        if self.rate_ppm == RATE_ONE {
            return Some(self.anchor + Span::micros(wanted));
        }
        let scaled = i128::from(wanted) * i128::from(RATE_ONE);
        let rate = i128::from(self.rate_ppm);
        // Rounded up: a timer must not fire before its reading is reached.
        let micros = -((-scaled).div_euclid(rate));
        Some(self.anchor + Span::micros(micros as i64))
    }

    /// The earliest true time from the last change on at which the wall clock shows at least `wall`, as things stand:
    /// it can be set before.
    pub fn true_time_when_wall(&self, wall: Wall) -> Option<TrueTime> {
        // Between changes both clocks run alike.
        self.true_time_when(self.mono + (wall - self.wall))
    }

    /// Makes both clocks run at `rate_ppm` parts per million of true time from `now` on.
    pub fn set_rate(&mut self, now: TrueTime, rate_ppm: i64) {
        self.move_anchor(now);
        self.rate_ppm = rate_ppm;
    }

    /// Steps the wall clock by `by`.
    pub fn step_wall(&mut self, now: TrueTime, by: Span) {
        self.move_anchor(now);
        self.wall += by;
    }

    /// Sets the wall clock to true time plus `offset`.
    pub fn set_offset(&mut self, now: TrueTime, offset: Span) {
        self.move_anchor(now);
        self.wall = Wall::from_micros(now.as_micros()) + offset;
    }

    /// Stops both clocks, as when a virtual machine is suspended.
    pub fn stop(&mut self, now: TrueTime) {
        self.move_anchor(now);
        self.stopped = true;
    }

    /// Lets stopped clocks run on from where they stood.
    pub fn start(&mut self, now: TrueTime) {
        self.move_anchor(now);
        self.stopped = false;
    }

    fn move_anchor(&mut self, now: TrueTime) {
        let Reading { mono, wall } = self.read(now);
        self.anchor = now;
        self.mono = mono;
        self.wall = wall;
    }

    fn elapsed(&self, now: TrueTime) -> Span {
        if self.stopped {
            return Span::ZERO;
        }
        let elapsed = now - self.anchor;
        if self.rate_ppm == RATE_ONE {
            return elapsed;
        }
        let micros = (i128::from(elapsed.as_micros()) * i128::from(self.rate_ppm)).div_euclid(i128::from(RATE_ONE));
        Span::micros(micros as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: i64) -> TrueTime {
        TrueTime::from_millis(seconds * 1000)
    }

    #[test]
    fn a_step_moves_the_wall_clock_only() {
        let mut clock = MachineClock::default();
        clock.step_wall(at(16), Span::seconds(-3));
        let reading = clock.read(at(20));
        assert_eq!(reading.mono, Mono::from_millis(20_000));
        assert_eq!(reading.wall, Wall::from_millis(17_000));
    }

    #[test]
    fn a_rate_moves_both_from_then_on() {
        let mut clock = MachineClock::default();
        clock.set_rate(at(10), 1_020_000);
        assert_eq!(clock.read(at(60)).mono, Mono::from_millis(61_000));
        assert_eq!(clock.read(at(60)).wall, Wall::from_millis(61_000));
    }

    #[test]
    fn a_wall_clock_that_is_set_forward_shows_a_reading_earlier() {
        let mut clock = MachineClock::default();
        assert_eq!(clock.true_time_when_wall(Wall::from_millis(13_000)), Some(at(13)));
        clock.step_wall(at(4), Span::seconds(8));
        assert_eq!(clock.true_time_when_wall(Wall::from_millis(13_000)), Some(at(5)));
        clock.step_wall(at(5), Span::seconds(-20));
        assert_eq!(clock.true_time_when_wall(Wall::from_millis(13_000)), Some(at(25)));
    }

    #[test]
    fn a_stopped_clock_stands_and_promises_no_time() {
        let mut clock = MachineClock::default();
        clock.stop(at(4));
        assert_eq!(clock.read(at(19)).mono, Mono::from_millis(4_000));
        assert_eq!(clock.true_time_when(Mono::from_millis(5_000)), None);
        clock.start(at(19));
        assert_eq!(clock.true_time_when(Mono::from_millis(5_000)), Some(at(20)));
    }

    #[test]
    fn a_timer_never_fires_before_its_reading() {
        for rate in [333_333, 999_999, 1_000_001, 1_020_000, 3_000_000] {
            let mut clock = MachineClock::default();
            clock.set_rate(at(1), rate);
            for micros in [1_000_001, 1_234_567, 9_999_999, 23_500_000] {
                let due = Mono::from_micros(micros);
                let fires = clock.true_time_when(due).expect("the clock runs");
                assert!(clock.read(fires).mono >= due, "rate {rate}, due {due}");
                assert!(clock.read(fires - Span::micros(1)).mono < due, "rate {rate}, due {due}");
            }
        }
    }
}

//! How often things happen, second by second, and how many of something there are: for runs of thousands of workers.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::JobId;
use lease_lab_sim::time::{MICROS_PER_SECOND, Span, TrueTime};

/// Events counted in intervals of equal length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The length of an interval; the first begins at zero.
    pub every: Span,
    /// One row of counts for each sort of event, all equally long.
    pub series: Vec<Series>,
}

/// The counts of one sort of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// What is counted, for a legend.
    pub name: &'static str,
    /// How often it happens in each interval.
    pub counts: Vec<u32>,
}

impl Series {
    /// The highest count.
    pub fn peak(&self) -> u32 {
        self.counts.iter().copied().max().unwrap_or(0)
    }
}

/// Claims, expiries and re-queues up to and including `until`, counted in intervals of `every`, which is above zero.
pub fn counts(events: &[Event], until: TrueTime, every: Span) -> Counts {
    const NAMES: [&str; 3] = ["claims", "expiries", "re-queues"];
    let every = every.max(Span::micros(1));
    let intervals = (until.as_micros().max(0) / every.as_micros() + 1) as usize;
    let mut series = NAMES.map(|name| Series { name, counts: vec![0; intervals] });
    for event in super::up_to(events, until) {
        let of = match event.kind {
            Kind::LeaseGranted { .. } => 0,
            Kind::LeaseExpired { .. } => 1,
            Kind::RowRequeued { .. } => 2,
            _ => continue,
        };
        series[of].counts[(event.t.as_micros() / every.as_micros()) as usize] += 1;
    }
    Counts { every, series: series.into() }
}

/// How many there are from each of these instants on; it begins with none at zero.
pub type Steps = Vec<(TrueTime, u32)>;

/// How many locks are held and how many rows are in which state, in a run of many jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Keys that exist at the lock service.
    pub locks: Steps,
    /// Rows that are RUNNING.
    pub running: Steps,
    /// Rows that are QUEUED.
    pub queued: Steps,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Queued,
    Running,
    Done,
}

/// The totals of a run of `jobs` jobs.
pub fn totals(events: &[Event], jobs: u16) -> Totals {
    let mut rows = vec![Row::Queued; usize::from(jobs)];
    let (mut locks, mut running, mut queued) = (0_u32, 0_u32, u32::from(jobs));
    let mut totals = Totals {
        locks: vec![(TrueTime::ZERO, 0)],
        running: vec![(TrueTime::ZERO, 0)],
        queued: vec![(TrueTime::ZERO, queued)],
    };
    for event in events {
        let now: Option<(JobId, Row)> = match event.kind {
            Kind::LeaseGranted { .. } => {
                locks += 1;
                None
            }
            Kind::LeaseExpired { .. } | Kind::LockReleased { .. } => {
                locks = locks.saturating_sub(1);
                None
            }
            Kind::FenceRaised { job, .. } => Some((job, Row::Running)),
            Kind::RowRequeued { job, .. } => Some((job, Row::Queued)),
            Kind::JobDone { job, .. } => Some((job, Row::Done)),
            _ => continue,
        };
        if let Some((job, now)) = now
            && let Some(row) = rows.get_mut(usize::from(job.0))
        {
            running = running + u32::from(now == Row::Running) - u32::from(*row == Row::Running);
            queued = queued + u32::from(now == Row::Queued) - u32::from(*row == Row::Queued);
            *row = now;
        }
        for (steps, value) in [(&mut totals.locks, locks), (&mut totals.running, running), (&mut totals.queued, queued)]
        {
            step(steps, event.t, value);
        }
    }
    totals
}

/// Checks of one fence item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    /// How many a second are served.
    pub served: Steps,
    /// How many a second are throttled.
    pub throttled: Steps,
}

/// Counted over each tenth of a second.
pub fn checks(events: &[Event]) -> Checks {
    const TENTH: i64 = MICROS_PER_SECOND / 10;
    let mut checks = Checks { served: vec![(TrueTime::ZERO, 0)], throttled: vec![(TrueTime::ZERO, 0)] };
    let tenth = |event: &Event| event.t.as_micros() / TENTH;
    for together in events.chunk_by(|one, other| tenth(one) == tenth(other)) {
        let (mut served, mut throttled) = (0, 0);
        for event in together {
            if let Kind::ChecksServed { accepted, throttled: refused, .. } = event.kind {
                served += accepted;
                throttled += refused;
            }
        }
        let at = TrueTime::from_micros(together.first().map_or(0, tenth) * TENTH);
        step(&mut checks.served, at, served * 10);
        step(&mut checks.throttled, at, throttled * 10);
    }
    checks
}

fn step(steps: &mut Steps, at: TrueTime, value: u32) {
    match steps.last_mut() {
        Some((_, last)) if *last == value => {}
        Some((since, last)) if *since == at => *last = value,
        _ => steps.push((at, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::Run;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::intervention::parse_list;

    fn storm(list: &str) -> Run {
        let scenario = lease_lab_scenarios::find("storm").expect("the storm is a lab");
        let mut interventions = scenario.own_interventions();
        interventions.extend(parse_list(&format!("0 set holders 100; {list}")).expect("the list can be read"));
        Run::new(scenario, Input { interventions: Some(interventions), ..Input::default() }).expect("it makes sense")
    }

    fn at(seconds: i64) -> TrueTime {
        TrueTime::from_millis(seconds * 1_000)
    }

    #[test]
    fn every_event_is_in_one_interval() {
        let run = storm("");
        for every in [Span::millis(250), Span::seconds(1), Span::seconds(7)] {
            let counts = counts(&run.events, run.horizon, every);
            for (series, kind) in counts.series.iter().zip(["lease-granted", "lease-expired", "row-requeued"]) {
                let all = run.events.iter().filter(|event| event.kind.name() == kind).count() as u32;
                assert_eq!(series.counts.iter().sum::<u32>(), all, "{}", series.name);
                assert!(all > 0, "{}", series.name);
            }
        }
    }

    #[test]
    fn nothing_is_counted_before_it_happens() {
        let run = storm("");
        let early = counts(&run.events, at(41), Span::seconds(1));
        assert_eq!(early.series[2].peak(), 0, "the service cannot be reached yet, so nobody re-queues");
        assert_eq!(early.series[0].counts.len(), 42);
        let late = counts(&run.events, at(43), Span::seconds(1));
        assert_eq!(late.series[2].counts[42], 100);
    }

    #[test]
    fn locks_and_rows_add_up() {
        let run = storm("0 set hold-off on");
        let totals = totals(&run.events, 100);
        let value = |steps: &Steps, t: TrueTime| steps.iter().take_while(|(at, _)| *at <= t).last().map(|(_, n)| *n);
        // All work; the service is away and every lease has expired; all are back but the two dead.
        for (seconds, locks, running, queued) in [(10, 100, 100, 0), (40, 0, 100, 0), (60, 100, 100, 0)] {
            assert_eq!(value(&totals.locks, at(seconds)), Some(locks), "locks at {seconds}");
            assert_eq!(value(&totals.running, at(seconds)), Some(running), "running at {seconds}");
            assert_eq!(value(&totals.queued, at(seconds)), Some(queued), "queued at {seconds}");
        }
    }
}

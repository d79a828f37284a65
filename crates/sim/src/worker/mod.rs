//! A worker: finds the job, takes the lock, raises the fence, writes chunk after chunk, renews, lets go.
//!
//! It runs a program, not a list of outcomes: work takes time on its own clock, and before every action it compares
//! that clock with its stop time.
//!
//! How it talks to the lock service and to the store is its client libraries' business: `service`, `store_client`.
//!
//! Where things are: `lock` has what concerns the lock (acquire, renew, release), `job` has what concerns the store
//! (raise, chunks, DONE), `fleet` has what one of many does when it has lost its lock.

mod fleet;
mod job;
mod lock;

use fleet::Fleet;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::clock::Reading;
use crate::event::{GaveUpBecause, Kind};
use crate::machine::{JobId, WorkerId};
use crate::message::{Message, Token};
use crate::service::{Grant, LockClient};
use crate::settings::{Finds, Plan};
use crate::store::RowState;
use crate::store_client::StoreClient;
use crate::table::Rvn;
use crate::time::{Mono, Span, Wall};

/// One worker process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Worker {
    id: WorkerId,
    incarnation: u32,
    /// The job that it works on, or is about to.
    job: JobId,
    lock: LockClient,
    store: StoreClient,
    /// A restarted worker, or one that was told to acquire, waits for this lock whatever its program says.
    told_to_acquire: bool,
    next_poll: Mono,
    /// The lock that it holds or held last.
    holding: Option<Grant>,
    /// Its stop time as a reading of its wall clock, if it judges by that.
    stop_on_wall: Option<Wall>,
    /// A renewal fell due while the process was frozen, and waits for the call that was under way.
    renewal_overdue: bool,
    phase: Phase,
    chunks_done: Vec<u8>,
    /// The chunk that is built in the worker's buffers.
    built: Option<u8>,
    /// What the row was when it last looked for a queued job.
    last_seen: Option<RowState>,
    /// `raise late`: it has read the row and has yet to raise.
    raises_before_first_chunk: bool,
    /// Since when it works on what comes after the call under way.
    works_since: Option<Mono>,
    fleet: Fleet,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Waiting,
    Looking,
    Acquiring,
    SettingUp,
    Raising,
    ReadingRow,
    Working(u8),
    ReadingFence(u8),
    Building(u8),
    RaisingLate(u8),
    Writing(u8),
    SettingDone,
    Releasing,
    Ended(Ending),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ending {
    GaveUp,
    Done,
}

/// A timer that fires later than this after it was due was held up by a frozen process.
const LATE: Span = Span::millis(1);

impl Worker {
    /// A process that has not started; `incarnation` counts the processes of this worker from 0.
    pub fn new(plan: &Plan, id: WorkerId, incarnation: u32) -> Worker {
        Worker {
            id,
            incarnation,
            job: plan.program(id).job,
            lock: LockClient::new(plan, id, incarnation),
            store: StoreClient::new(plan, incarnation),
            told_to_acquire: incarnation > 0,
            next_poll: Mono::ZERO,
            holding: None,
            stop_on_wall: None,
            renewal_overdue: false,
            phase: Phase::Idle,
            chunks_done: Vec::new(),
            built: None,
            last_seen: None,
            raises_before_first_chunk: false,
            works_since: None,
            fleet: Fleet::default(),
        }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            // One that was told to acquire before its scenario starts it is at it already, or has ended.
            Input::Start if self.phase == Phase::Idle => self.start(context, actions),
            Input::Acquire => {
                let Worker { mut lock, mut store, id, incarnation, .. } = self.clone();
                lock.reset();
                store.reset();
                *self = Worker { lock, store, told_to_acquire: true, ..Worker::new(context.plan, id, incarnation) };
                self.start(context, actions);
            }
            Input::Release => self.release(context, actions),
            Input::Timer { key, due } => self.timer_fired(context, key, due, actions),
            Input::Message { message: Message::StoreReply(call, reply), .. } if !self.lock.awaits_of_store(call) => {
                if let Some(outcome) = self.store.answered(context, call, reply, actions) {
                    self.store_outcome(context, outcome, actions);
                }
            }
            // What the partner says changes nothing: what was done there cannot be taken back.
            Input::Message { message: Message::PartnerReply(..), .. } => {}
            Input::Message { message: Message::Sidecar(message, ..), .. } => {
                self.sidecar_says(context, message, actions)
            }
            Input::Message { from, message } => {
                if let Some(outcome) = self.lock.message(context, from, message, actions) {
                    self.lock_outcome(context, outcome, actions);
                }
            }
            Input::Start => {}
        }
    }

    fn start(&mut self, context: Context<'_>, actions: &mut Actions) {
        // A new process in the place of an old one is told as a restart.
        if self.incarnation == 0 {
            actions.record(Kind::Started);
        }
        self.next_poll = context.mono();
        self.poll(context, actions);
    }

    fn timer_fired(&mut self, context: Context<'_>, key: TimerKey, due: Mono, actions: &mut Actions) {
        match key {
            TimerKey::Poll => self.poll(context, actions),
            TimerKey::Work => self.work_done(context, actions),
            TimerKey::StoreTimeout => self.store_timed_out(context, actions),
            TimerKey::LockTimeout | TimerKey::RenewalTimeout => {
                if let Some(outcome) = self.lock.timer_fired(context, key, actions) {
                    self.lock_outcome(context, outcome, actions);
                }
            }
            TimerKey::Renewal if self.phase == Phase::Acquiring => self.lock.renew_as_candidate(context, actions),
            TimerKey::Renewal => {
                // One process: what was under way when it froze completes first.
                if context.mono() - due > LATE && self.call_under_way() {
                    self.renewal_overdue = true;
                } else {
                    self.renew(context, actions);
                }
            }
            TimerKey::Election
            | TimerKey::Heartbeat
            | TimerKey::LeaseExpiry
            | TimerKey::Disk
            | TimerKey::Commit
            | TimerKey::Checkpoint
            | TimerKey::Replication
            | TimerKey::Wait => {}
        }
    }

    /// The next attempt or look; falls on a fixed rhythm however long the last one took.
    fn poll(&mut self, context: Context<'_>, actions: &mut Actions) {
        let finds = self.finds(context);
        while self.next_poll <= context.mono() {
            self.next_poll += finds.every();
        }
        match finds {
            Finds::Standby { .. } => self.try_to_acquire(context, actions),
            Finds::Queue { .. } => {
                self.phase = Phase::Looking;
                self.store.read_row(context, self.job, actions);
            }
            Finds::Fleet { returns, .. } => self.poll_in_fleet(context, returns, actions),
        }
    }

    fn finds(&self, context: Context<'_>) -> Finds {
        let plan = context.plan;
        if self.told_to_acquire { plan.standby.finds } else { plan.program(self.id).finds }
    }

    fn wait_for_next_poll(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.holding = None;
        self.stop_on_wall = None;
        self.phase = Phase::Waiting;
        let every = self.finds(context).every();
        while self.next_poll <= context.mono() {
            self.next_poll += every;
        }
        actions.set_timer(TimerKey::Poll, self.next_poll);
    }

    /// Whether a call that passed its stop-time check has not completed yet.
    fn call_under_way(&self) -> bool {
        matches!(
            self.phase,
            Phase::Raising
                | Phase::ReadingRow
                | Phase::ReadingFence(_)
                | Phase::Building(_)
                | Phase::RaisingLate(_)
                | Phase::Writing(_)
                | Phase::SettingDone
        )
    }

    /// Lets go without a word to anybody: it may hold nothing any more, and what it holds will expire.
    fn give_up(&mut self, context: Context<'_>, because: GaveUpBecause, actions: &mut Actions) {
        let lost = self.token();
        if let Some((token, stop_time)) = self.held() {
            actions.record(Kind::GaveUp { worker: self.id, token, because, stop_time });
        }
        self.end(Ending::GaveUp, actions);
        self.lock.reset();
        if let Finds::Fleet { returns, .. } = self.finds(context) {
            self.come_back(context, lost, returns, actions);
        }
    }

    fn end(&mut self, ending: Ending, actions: &mut Actions) {
        self.phase = Phase::Ended(ending);
        self.built = None;
        self.renewal_overdue = false;
        self.works_since = None;
        self.store.reset();
        for key in [
            TimerKey::Poll,
            TimerKey::Work,
            TimerKey::StoreTimeout,
            TimerKey::LockTimeout,
            TimerKey::RenewalTimeout,
            TimerKey::Renewal,
        ] {
            actions.cancel_timer(key);
        }
    }

    fn held(&self) -> Option<(Token, Mono)> {
        self.holding.map(|grant| (grant.token, grant.stop))
    }
}

/// A worker as snapshots, drawings and observers see it.
impl Worker {
    /// "idle", "waiting", "working", "gave-up" or "done"; whether it is paused or down is its machine's affair.
    pub fn state_name(&self) -> &'static str {
        match self.phase {
            Phase::Idle => "idle",
            Phase::Waiting | Phase::Looking | Phase::Acquiring => "waiting",
            Phase::Ended(Ending::GaveUp) => "gave-up",
            Phase::Ended(Ending::Done) => "done",
            _ => "working",
        }
    }

    /// What it is doing, in a few words.
    pub fn activity(&self) -> String {
        match &self.phase {
            Phase::Idle => "not started".into(),
            Phase::Waiting => "waits for its next attempt".into(),
            Phase::Looking => "looks for a queued job".into(),
            Phase::Acquiring | Phase::Releasing => self.lock.activity().into(),
            Phase::SettingUp => "prepares to raise the fence".into(),
            Phase::Raising | Phase::RaisingLate(_) => "raises the fence".into(),
            Phase::ReadingRow => "reads the row".into(),
            Phase::Working(chunk) => format!("works on chunk {chunk}"),
            Phase::ReadingFence(chunk) => format!("reads the fence for chunk {chunk}"),
            Phase::Building(chunk) => format!("has checked; chunk {chunk} is in its buffers"),
            Phase::Writing(chunk) => format!("waits for the answer to chunk {chunk}"),
            Phase::SettingDone => "sets DONE".into(),
            Phase::Ended(Ending::GaveUp) => "has let go".into(),
            Phase::Ended(Ending::Done) => "has finished".into(),
        }
    }

    /// The token of the lock that it holds or held last.
    pub fn token(&self) -> Option<Token> {
        self.held().map(|(token, _)| token)
    }

    /// Which version of its job's lease item it has seen, and since when by its monotonic clock.
    pub fn seen_item(&self) -> Option<(Option<Rvn>, Mono)> {
        self.lock.seen(self.job)
    }

    /// The job that it works on, or is about to.
    pub fn job(&self) -> JobId {
        self.job
    }

    /// Its stop time on its own monotonic clock.
    pub fn stop_time(&self) -> Option<Mono> {
        self.held().map(|(_, stop)| stop).filter(|stop| *stop != Mono::NEVER)
    }

    /// Whether it takes itself for the holder: it has a token and has not let go.
    pub fn believes_holding(&self) -> bool {
        self.held().is_some() && !matches!(self.phase, Phase::Ended(_))
    }

    /// Whether it may act at this reading of its own clocks, provided that it is up and not frozen.
    pub fn may_act(&self, reading: Reading) -> bool {
        let let_go = matches!(self.phase, Phase::Ended(_) | Phase::Releasing);
        !let_go && self.is_before_stop(reading)
    }

    /// Whether the clock by which it judges has not reached its stop time yet.
    fn is_before_stop(&self, reading: Reading) -> bool {
        match self.stop_on_wall {
            Some(stop) => reading.wall < stop,
            None => self.held().is_some_and(|(_, stop)| reading.mono < stop),
        }
    }

    /// Whether telling it to acquire means something: it is idle or has ended.
    pub fn can_start(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Ended(_))
    }

    /// Whether it holds, or is about to hold, something to release.
    pub fn can_release(&self) -> bool {
        let has_something = self.holding.is_some() || (self.phase == Phase::Acquiring && self.lock.has_asked());
        has_something && !matches!(self.phase, Phase::Ended(_) | Phase::Releasing)
    }

    /// Whether its process runs and has not ended.
    pub fn is_running(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Ended(_))
    }
}

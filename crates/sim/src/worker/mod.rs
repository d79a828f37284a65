//! A worker: finds the job, takes the lock, raises the fence, writes chunk after chunk, renews, lets go.
//!
//! It runs a program, not a list of outcomes: work takes time on its own clock, and before every action it compares
//! that clock with its stop time.
//!
//! Where things are: `lock` has the calls to the lock service (acquire, renew, release), `job` has the calls to the
//! store (raise, chunks, DONE).

mod job;
mod lock;

use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::{GaveUpBecause, Kind};
use crate::lock_client::{Attempt, LockClient};
use crate::machine::WorkerId;
use crate::message::{CallId, LeaseId, LockReply, Message, StoreRequest, Token};
use crate::settings::{Finds, Program};
use crate::store::RowState;
use crate::time::{Mono, Span};

/// One worker process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Worker {
    id: WorkerId,
    incarnation: u32,
    client: LockClient,
    /// A restarted worker, or one that was told to acquire, waits for this lock whatever its program says.
    told_to_acquire: bool,
    next_poll: Mono,
    leases_asked_for: u32,
    holding: Option<Holding>,
    renewal: Renewal,
    phase: Phase,
    chunks_done: Vec<u8>,
    /// The chunk that is built in the worker's buffers.
    built: Option<u8>,
    /// What the row was when it last looked for a queued job.
    last_seen: Option<RowState>,
    /// `raise late`: it has read the row and has yet to raise.
    raises_before_first_chunk: bool,
}

/// The lease that a worker holds, or is about to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Holding {
    lease: LeaseId,
    /// The length that it asked for; a repeated request must not ask for another, which `stop` would not fit.
    ttl: Span,
    /// Known once the key is created.
    token: Option<Token>,
    stop: Mono,
    last_sent: Mono,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Renewal {
    attempt: Option<Attempt>,
    /// The stop time if the present attempt succeeds.
    stop_on_success: Mono,
    /// It fell due while the process was frozen, and waits for the call that was under way.
    overdue: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Waiting,
    Looking(CallId),
    ReadingKey(Attempt),
    GrantingLease(Attempt),
    CreatingKey(Attempt),
    /// Somebody else was quicker: the lease that is of no use is given back.
    ReturningLease(Attempt),
    SettingUp,
    Raising(CallId),
    ReadingRow(CallId),
    Working(u8),
    ReadingFence(u8, CallId),
    Building(u8),
    RaisingLate(u8, CallId),
    Writing(u8, CallId),
    SettingDone(CallId),
    Releasing(Attempt),
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
    pub fn new(id: WorkerId, incarnation: u32) -> Worker {
        Worker {
            id,
            incarnation,
            client: LockClient::new(incarnation),
            told_to_acquire: incarnation > 0,
            next_poll: Mono::ZERO,
            leases_asked_for: 0,
            holding: None,
            renewal: Renewal::default(),
            phase: Phase::Idle,
            chunks_done: Vec::new(),
            built: None,
            last_seen: None,
            raises_before_first_chunk: false,
        }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            // One that was told to acquire before its scenario starts it is at it already, or has ended.
            Input::Start if self.phase == Phase::Idle => self.start(context, actions),
            Input::Acquire => {
                *self = Worker {
                    client: self.client.clone(),
                    leases_asked_for: self.leases_asked_for,
                    ..Worker::new(self.id, self.incarnation)
                };
                self.told_to_acquire = true;
                self.start(context, actions);
            }
            Input::Release => self.release(context, actions),
            Input::Timer { key, due } => self.timer_fired(context, key, due, actions),
            Input::Message { message: Message::LockReply(call, reply), .. } => {
                self.lock_answered(context, call, reply, actions);
            }
            Input::Message { message: Message::StoreReply(call, reply), .. } => {
                self.store_answered(context, call, reply, actions);
            }
            Input::Start | Input::Message { .. } => {}
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
            TimerKey::LockTimeout => self.lock_timed_out(context, actions),
            TimerKey::RenewalTimeout => self.renewal_timed_out(context, actions),
            TimerKey::Renewal => {
                // One process: what was under way when it froze completes first.
                if context.mono() - due > LATE && self.call_under_way() {
                    self.renewal.overdue = true;
                } else {
                    self.renew(context, actions);
                }
            }
            TimerKey::Election | TimerKey::Heartbeat | TimerKey::LeaseExpiry | TimerKey::Disk => {}
        }
    }

    /// The next attempt or look; falls on a fixed rhythm however long the last one took.
    fn poll(&mut self, context: Context<'_>, actions: &mut Actions) {
        let finds = self.finds(context);
        let every = match finds {
            Finds::Standby { every } | Finds::Queue { every } => every,
        };
        while self.next_poll <= context.mono() {
            self.next_poll += every;
        }
        match finds {
            Finds::Standby { .. } => self.read_key(context, actions),
            Finds::Queue { .. } => {
                let call = self.ask_store(context, StoreRequest::ReadRow, actions);
                self.phase = Phase::Looking(call);
            }
        }
    }

    fn finds(&self, context: Context<'_>) -> Finds {
        if self.told_to_acquire { Program::idle(self.id).finds } else { context.plan.program(self.id).finds }
    }

    fn wait_for_next_poll(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.holding = None;
        self.phase = Phase::Waiting;
        let every = match self.finds(context) {
            Finds::Standby { every } | Finds::Queue { every } => every,
        };
        while self.next_poll <= context.mono() {
            self.next_poll += every;
        }
        actions.set_timer(TimerKey::Poll, self.next_poll);
    }

    /// Whether a call that passed its stop-time check has not completed yet.
    fn call_under_way(&self) -> bool {
        matches!(
            self.phase,
            Phase::Raising(_)
                | Phase::ReadingRow(_)
                | Phase::ReadingFence(..)
                | Phase::Building(_)
                | Phase::RaisingLate(..)
                | Phase::Writing(..)
                | Phase::SettingDone(_)
        )
    }

    /// Lets go without a word to anybody: it may hold nothing any more, and what it holds will expire.
    fn give_up(&mut self, because: GaveUpBecause, actions: &mut Actions) {
        if let Some((token, stop_time)) = self.held() {
            actions.record(Kind::GaveUp { worker: self.id, token, because, stop_time });
        }
        self.end(Ending::GaveUp, actions);
    }

    fn end(&mut self, ending: Ending, actions: &mut Actions) {
        self.phase = Phase::Ended(ending);
        self.built = None;
        self.renewal = Renewal::default();
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
        let holding = self.holding.as_ref()?;
        Some((holding.token?, holding.stop))
    }

    fn lock_answered(&mut self, context: Context<'_>, call: CallId, reply: LockReply, actions: &mut Actions) {
        let renews = self.renewal.attempt.as_ref().is_some_and(|attempt| attempt.call == call);
        if renews {
            self.renewal_answered(context, reply, actions);
        } else {
            self.acquire_answered(context, call, reply, actions);
        }
    }
}

/// A worker as snapshots, drawings and observers see it.
impl Worker {
    /// "idle", "waiting", "working", "gave-up" or "done"; whether it is paused or down is its machine's affair.
    pub fn state_name(&self) -> &'static str {
        match self.phase {
            Phase::Idle => "idle",
            Phase::Waiting
            | Phase::Looking(_)
            | Phase::ReadingKey(_)
            | Phase::GrantingLease(_)
            | Phase::CreatingKey(_)
            | Phase::ReturningLease(_) => "waiting",
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
            Phase::Looking(_) => "looks for a queued job".into(),
            Phase::ReadingKey(_) => "asks who holds the key".into(),
            Phase::GrantingLease(_) => "asks for a lease".into(),
            Phase::CreatingKey(_) => "creates the key".into(),
            Phase::ReturningLease(_) => "returns a lease it cannot use".into(),
            Phase::SettingUp => "prepares to raise the fence".into(),
            Phase::Raising(_) | Phase::RaisingLate(..) => "raises the fence".into(),
            Phase::ReadingRow(_) => "reads the row".into(),
            Phase::Working(chunk) => format!("works on chunk {chunk}"),
            Phase::ReadingFence(chunk, _) => format!("reads the fence for chunk {chunk}"),
            Phase::Building(chunk) => format!("has checked; chunk {chunk} is in its buffers"),
            Phase::Writing(chunk, _) => format!("waits for the answer to chunk {chunk}"),
            Phase::SettingDone(_) => "sets DONE".into(),
            Phase::Releasing(_) => "releases the lock".into(),
            Phase::Ended(Ending::GaveUp) => "has let go".into(),
            Phase::Ended(Ending::Done) => "has finished".into(),
        }
    }

    /// The token of the lock that it holds or held last.
    pub fn token(&self) -> Option<Token> {
        self.held().map(|(token, _)| token)
    }

    /// Its stop time on its own monotonic clock.
    pub fn stop_time(&self) -> Option<Mono> {
        self.held().map(|(_, stop)| stop)
    }

    /// Whether it takes itself for the holder: it has a token and has not let go.
    pub fn believes_holding(&self) -> bool {
        self.held().is_some() && !matches!(self.phase, Phase::Ended(_))
    }

    /// Whether it may act at this reading of its own clock, provided that it is up and not frozen.
    pub fn may_act(&self, mono: Mono) -> bool {
        let let_go = matches!(self.phase, Phase::Ended(_) | Phase::Releasing(_));
        !let_go && self.held().is_some_and(|(_, stop)| mono < stop)
    }

    /// Whether telling it to acquire means something: it is idle or has ended.
    pub fn can_start(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Ended(_))
    }

    /// Whether it holds, or is about to hold, something to release.
    pub fn can_release(&self) -> bool {
        self.holding.is_some() && !matches!(self.phase, Phase::Ended(_) | Phase::Releasing(_))
    }

    /// Whether its process runs and has not ended.
    pub fn is_running(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Ended(_))
    }
}

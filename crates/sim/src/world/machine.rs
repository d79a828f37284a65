//! One machine: clocks, a process, its timers, and what waits for it while it is frozen.

use litemap::LiteMap;

use super::Envelope;
use crate::actor::{Actions, Context, Input, TimerKey};
use crate::clock::MachineClock;
use crate::consensus::Node;
use crate::contest::Contestant;
use crate::labs_only::LabsOnly;
use crate::models::{self, Member};
use crate::partner::Partner;
use crate::redis::Server;
use crate::sidecar::Sidecar;
use crate::store::Store;
use crate::sweeper::Sweeper;
use crate::table::Table;
use crate::tenants::Tenants;
use crate::time::{Deadline, TrueTime};
use crate::worker::Worker;
use crate::writers::Writers;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Machine {
    pub(super) clock: MachineClock,
    pub(super) life: Life,
    pub(super) actor: Actor,
    pub(super) timers: LiteMap<TimerKey, Timer>,
    /// What has reached the machine while it is frozen, in order.
    pub(super) held: Vec<Held>,
    /// How often it has been paused: a timed end belongs to one pause.
    pub(super) pauses: u32,
    /// How often a process was started again.
    pub(super) restarts: u32,
}

/// Whether a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// It runs.
    Up,
    /// It is paused.
    Frozen {
        /// Its clocks stand as well.
        vm: bool,
    },
    /// Its process has crashed.
    Down,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Actor {
    Worker(Worker),
    Node(Box<Node>),
    Redis(LabsOnly<Server>),
    Store(Store),
    Sweeper(Sweeper),
    Sidecar(LabsOnly<Sidecar>),
    Tenants(Tenants),
    Table(LabsOnly<Table>),
    Partner(LabsOnly<Partner>),
    Writers(LabsOnly<Writers>),
    Contestant(LabsOnly<Contestant>),
    Member(LabsOnly<Member>),
    Server(LabsOnly<models::Server>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Timer {
    /// On whichever clock it was set.
    pub(super) due: Deadline,
    pub(super) created: u64,
    /// Its place in the queue, while it has one.
    pub(super) queued_at: Option<TrueTime>,
}

impl Timer {
    /// When it is due, as `clock` runs at present; never, while the clock stands.
    pub(super) fn true_time(&self, clock: &MachineClock) -> Option<TrueTime> {
        match self.due {
            Deadline::Mono(due) => clock.true_time_when(due),
            Deadline::Wall(due) => clock.true_time_when_wall(due),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Held {
    Start,
    Message(Envelope),
    Timer(TimerKey),
}

impl Machine {
    pub(super) fn new(actor: Actor) -> Machine {
        Machine {
            clock: MachineClock::default(),
            life: Life::Up,
            actor,
            timers: LiteMap::new(),
            held: Vec::new(),
            pauses: 0,
            restarts: 0,
        }
    }
}

impl Actor {
    pub(super) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match self {
            Actor::Worker(worker) => worker.handle(context, input, actions),
            Actor::Node(node) => node.handle(context, input, actions),
            Actor::Redis(server) => server.handle(context, input, actions),
            Actor::Store(store) => store.handle(context, input, actions),
            Actor::Sweeper(sweeper) => sweeper.handle(context, input, actions),
            Actor::Sidecar(sidecar) => sidecar.handle(context, input, actions),
            Actor::Tenants(tenants) => tenants.handle(context, input, actions),
            Actor::Table(table) => table.handle(context, input, actions),
            Actor::Partner(partner) => partner.handle(context, input, actions),
            Actor::Contestant(contestant) => contestant.handle(context, input, actions),
            Actor::Writers(writers) => writers.handle(context, input, actions),
            Actor::Member(member) => member.handle(context, input, actions),
            Actor::Server(server) => server.handle(context, input, actions),
        }
    }
}

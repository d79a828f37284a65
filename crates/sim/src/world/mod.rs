//! The world: true time, all machines, the network, and the queue of what comes next.
//!
//! It is the only place where true time, every machine's state and the network meet.
//! It delivers inputs to actors and carries out their actions; it makes no decision of the protocols.
//! A world is small, can be cloned, compared and hashed: scrubbing backwards is going on from an earlier clone.

mod change;
mod machine;
mod machines;
mod queue;

use std::sync::Arc;

use crate::actor::{Action, Actions, Context, Input, TimerKey};
use crate::clock::Reading;
use crate::consensus::Node;
use crate::contest::Contestant;
use crate::event::{Event, Kind, LostBecause};
use crate::labs_only::LabsOnly;
use crate::machine::{JobId, MachineId, NodeId, WorkerId};
use crate::message::Message;
use crate::models::{self, Member, Model};
use crate::network::{Hit, Network};
use crate::partner::Partner;
use crate::redis::{Role, Server};
use crate::settings::{Plan, Renewer, ServiceKind, Settings, Trace};
use crate::sidecar::Sidecar;
use crate::store::Store;
use crate::sweeper::Sweeper;
use crate::table::Table;
use crate::tenants::Tenants;
use crate::time::{Deadline, TrueTime};
use crate::worker::Worker;
use crate::writers::Writers;
pub use machine::Life;
use machine::{Actor, Held, Machine, Timer};
use machines::Machines;
use queue::{Class, Due, Pending, Queue};

/// Everything there is at one instant of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    plan: Arc<Plan>,
    now: TrueTime,
    created: u64,
    seed: u64,
    settings: Settings,
    machines: Machines,
    network: Network,
    queue: Queue,
    /// Up to which index of the lock service's log the trace shows what its entries did.
    recorded_up_to: u64,
    scratch: Scratch,
}

/// Room for what an actor does, kept from one input to the next and empty in between: no part of the world.
#[derive(Debug, Default)]
struct Scratch(Actions);

impl Clone for Scratch {
    fn clone(&self) -> Scratch {
        Scratch::default()
    }
}

impl PartialEq for Scratch {
    fn eq(&self, _: &Scratch) -> bool {
        true
    }
}

impl Eq for Scratch {}

impl std::hash::Hash for Scratch {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// A number for the trace.
    pub id: u64,
    /// The sender.
    pub from: MachineId,
    /// The receiver.
    pub to: MachineId,
    /// When it was sent.
    pub sent: TrueTime,
    /// What it says.
    pub message: Message,
}

impl World {
    /// The world at the start of a run.
    pub fn new(plan: Arc<Plan>, seed: u64) -> World {
        let mut machines = Machines::default();
        let named = plan.programs.iter().map(|program| program.worker);
        for worker in WorkerId::ALL.into_iter().chain(named) {
            if let Some(member) = Member::new(&plan, worker, 0) {
                machines.insert(worker.into(), Machine::new(Actor::Member(LabsOnly::new(|| member))));
                continue;
            }
            if plan.contest.is_some() {
                machines.insert(
                    worker.into(),
                    Machine::new(Actor::Contestant(LabsOnly::new(|| Contestant::new(worker, 0)))),
                );
                continue;
            }
            machines.insert(worker.into(), Machine::new(Actor::Worker(Worker::new(&plan, worker, 0))));
            if plan.lock_rules.renewer == Renewer::Sidecar {
                let sidecar = Actor::Sidecar(LabsOnly::new(|| Sidecar::new(&plan, worker, 0)));
                machines.insert(MachineId::Sidecar(worker), Machine::new(sidecar));
            }
        }
        for node in plan.cluster.nodes().filter(|_| plan.has_cluster()) {
            machines.insert(node.into(), Machine::new(Actor::Node(Box::new(Node::new(node, &plan, seed)))));
        }
        for server in plan.redis_servers() {
            // The masters of Redlock have no common counter.
            let counter = if plan.service == ServiceKind::Redis { plan.tenant_commits_before.into() } else { 0 };
            machines.insert(server, Machine::new(Actor::Redis(LabsOnly::new(|| Server::new(server, counter)))));
        }
        for id in plan.model.iter().flat_map(Model::servers) {
            if let Some(server) = models::Server::new(id) {
                machines.insert(id, Machine::new(Actor::Server(LabsOnly::new(|| server))));
            }
        }
        if plan.model.is_none() {
            machines.insert(MachineId::Store, Machine::new(Actor::Store(Store::new(&plan))));
            machines.insert(MachineId::Sweeper, Machine::new(Actor::Sweeper(Sweeper::new(&plan, 0))));
        }
        if plan.partner.is_some() {
            machines.insert(MachineId::Partner, Machine::new(Actor::Partner(LabsOnly::new(Partner::new))));
        }
        if plan.writers.per_second > 0 {
            machines.insert(MachineId::Writers, Machine::new(Actor::Writers(LabsOnly::new(Writers::new))));
        }
        if plan.service == ServiceKind::LeaseItem {
            machines.insert(MachineId::Table, Machine::new(Actor::Table(LabsOnly::new(Table::new))));
        } else {
            machines.insert(MachineId::Tenants, Machine::new(Actor::Tenants(Tenants::new(&plan))));
        }

        let mut world = World {
            settings: plan.settings,
            queue: Queue::new(&plan.latency),
            plan,
            now: TrueTime::ZERO,
            created: 0,
            seed,
            machines,
            network: Network::default(),
            recorded_up_to: 0,
            scratch: Scratch::default(),
        };
        let infrastructure: Vec<MachineId> = world.machines.infrastructure().map(|(id, _)| *id).collect();
        for machine in infrastructure {
            world.push(TrueTime::ZERO, Class::Timer, Pending::Start { machine });
        }
        for program in world.plan.clone().programs.iter() {
            if let Some(starts) = program.starts {
                world.push(starts, Class::Timer, Pending::Start { machine: program.worker.into() });
            }
        }
        world
    }

    /// When the next thing happens.
    pub(crate) fn next(&self) -> Option<TrueTime> {
        self.queue.next()
    }

    /// Lets the next thing happen that is due by `until`; returns whether there was one.
    pub fn step_until(&mut self, until: TrueTime, events: &mut Vec<Event>) -> bool {
        let Some((at, due)) = self.queue.pop(until) else { return false };
        self.now = at;
        match due {
            Due::Message(envelope) => self.arrive(envelope, events),
            Due::Pending(Pending::Message(envelope)) => self.arrive(*envelope, events),
            Due::Pending(Pending::EndPause { machine, pause }) => self.end_pause(machine, pause, events),
            Due::Pending(Pending::EndOutage(number)) => {
                if self.network.end_outage(number) {
                    self.record(MachineId::Operator, Kind::OutageEnded, events);
                }
            }
            Due::Pending(Pending::Timer { machine, key }) => self.fire(machine, key, events),
            Due::Pending(Pending::Start { machine }) => self.start(machine, events),
        }
        true
    }

    /// Returns the number that fixes its place among what is due at the same instant.
    fn push(&mut self, at: TrueTime, class: Class, pending: Pending) -> u64 {
        self.created += 1;
        self.queue.insert((at, class, self.created), pending);
        self.created
    }

    fn record(&self, machine: MachineId, kind: Kind, events: &mut Vec<Event>) {
        events.push(Event { t: self.now, machine, kind });
    }

    fn start(&mut self, machine: MachineId, events: &mut Vec<Event>) {
        match self.machines.get_mut(machine).map(|m| (&m.life, &mut m.held)) {
            Some((Life::Up, _)) => self.dispatch(machine, Input::Start, events),
            Some((Life::Frozen { .. }, held)) => held.push(Held::Start),
            _ => {}
        }
    }

    fn arrive(&mut self, envelope: Envelope, events: &mut Vec<Event>) {
        let to = envelope.to;
        match self.machines.get_mut(to).map(|m| (&m.life, &mut m.held)) {
            Some((Life::Up, _)) => self.receive(envelope, events),
            Some((Life::Frozen { .. }, held)) => held.push(Held::Message(envelope)),
            _ => self.lose(&envelope, LostBecause::ReceiverDown, events),
        }
    }

    fn receive(&mut self, envelope: Envelope, events: &mut Vec<Event>) {
        let Envelope { id, from, to, sent, message } = envelope;
        if self.tells(&message) {
            self.record(to, Kind::MessageReceived { from, id, what: message.to_string(), sent }, events);
        }
        self.dispatch(to, Input::Message { from, message }, events);
    }

    fn lose(&self, envelope: &Envelope, because: LostBecause, events: &mut Vec<Event>) {
        if self.plan.trace == Trace::Outcomes && because != LostBecause::Dropped {
            return;
        }
        // Heartbeats that run into a dead node or a partition are as routine as those that arrive.
        if envelope.message.is_background() && because != LostBecause::Dropped {
            return;
        }
        let Envelope { id, to, sent, message, .. } = envelope;
        let lost = Kind::MessageLost { to: *to, id: *id, what: message.to_string(), sent: *sent, because };
        self.record(envelope.from, lost, events);
    }

    fn fire(&mut self, id: MachineId, key: TimerKey, events: &mut Vec<Event>) {
        let Some(machine) = self.machines.get_mut(id) else { return };
        match machine.life {
            Life::Up => {
                if let Some(timer) = machine.timers.remove(&key) {
                    let reading = machine.clock.read(self.now);
                    let due = match timer.due {
                        Deadline::Mono(due) => due,
                        Deadline::Wall(due) => reading.mono - (reading.wall - due),
                    };
                    self.dispatch(id, Input::Timer { key, due }, events);
                }
            }
            Life::Frozen { .. } => {
                if let Some(timer) = machine.timers.get_mut(&key) {
                    timer.queued_at = None;
                    machine.held.push(Held::Timer(key));
                }
            }
            Life::Down => {}
        }
    }

    /// Gives an input to an actor and carries out what it does.
    fn dispatch(&mut self, id: MachineId, input: Input, events: &mut Vec<Event>) {
        let Some(machine) = self.machines.get_mut(id) else { return };
        let reading = machine.clock.read(self.now);
        let context = Context { reading, settings: &self.settings, plan: &self.plan, seed: self.seed };
        let mut actions = std::mem::take(&mut self.scratch.0);
        machine.actor.handle(context, input, &mut actions);
        // One entry can have several consequences.
        let known = self.recorded_up_to;
        for action in actions.drain() {
            match action {
                Action::Send { to, message } => self.send(id, to, message, events),
                Action::SetTimer { key, at } => self.set_timer(id, key, Deadline::Mono(at)),
                Action::SetAlarm { key, at } => self.set_timer(id, key, Deadline::Wall(at)),
                Action::CancelTimer { key } => self.cancel_timer(id, key),
                Action::Record { kind, log_index: None } => self.record(id, kind, events),
                Action::Record { kind, log_index: Some(index) } => {
                    if index > known {
                        self.recorded_up_to = self.recorded_up_to.max(index);
                        self.record(id, kind, events);
                    }
                }
            }
        }
        self.scratch.0 = actions;
    }

    fn send(&mut self, from: MachineId, to: MachineId, message: Message, events: &mut Vec<Event>) {
        self.created += 1;
        let envelope = Envelope { id: self.created, from, to, sent: self.now, message };
        let id = envelope.id;
        if self.tells(&envelope.message) {
            self.record(from, Kind::MessageSent { to, id, what: envelope.message.to_string() }, events);
        }
        let hit = self.network.hit(from, to);
        if hit.drop {
            self.lose(&envelope, LostBecause::Dropped, events);
            return;
        }
        if self.network.is_cut(from, to) {
            self.lose(&envelope, LostBecause::Partitioned, events);
            return;
        }
        let travels = Network::latency(&self.plan.latency, from, to);
        let mut arrives = self.now + travels;
        if let Some(by) = hit.delay {
            arrives += by;
            let what = envelope.message.to_string();
            self.record(from, Kind::MessageDelayed { to, id, what, by }, events);
        }
        if hit.duplicate {
            let what = envelope.message.to_string();
            self.record(from, Kind::MessageDuplicated { to, id, what }, events);
            self.push(arrives, Class::Message, Pending::Message(Box::new(envelope.clone())));
        }
        if hit == Hit::default() {
            self.created += 1;
            self.queue.send(arrives, self.created, travels, envelope);
        } else {
            self.push(arrives, Class::Message, Pending::Message(Box::new(envelope)));
        }
    }

    /// Whether the trace tells of this message.
    fn tells(&self, message: &Message) -> bool {
        self.plan.trace == Trace::Full && !message.is_background()
    }

    fn set_timer(&mut self, id: MachineId, key: TimerKey, due: Deadline) {
        self.created += 1;
        let created = self.created;
        let Some(machine) = self.machines.get_mut(id) else { return };
        let mut timer = Timer { due, created, queued_at: None };
        timer.queued_at = timer.true_time(&machine.clock).map(|at| at.max(self.now));
        let queued_at = timer.queued_at;
        let replaced = machine.timers.insert(key, timer);
        if let Some(Timer { created, queued_at: Some(at), .. }) = replaced {
            self.queue.remove((at, Class::Timer, created));
        }
        if let Some(at) = queued_at {
            self.queue.insert((at, Class::Timer, created), Pending::Timer { machine: id, key });
        }
    }

    fn cancel_timer(&mut self, id: MachineId, key: TimerKey) {
        let Some(machine) = self.machines.get_mut(id) else { return };
        if let Some(Timer { created, queued_at: Some(at), .. }) = machine.timers.remove(&key) {
            self.queue.remove((at, Class::Timer, created));
        }
    }
}

/// The world as observers, snapshots and drawings see it.
impl World {
    /// The present instant.
    pub fn now(&self) -> TrueTime {
        self.now
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether a machine is up, frozen or down.
    pub fn life(&self, machine: MachineId) -> Option<&Life> {
        self.machines.get(machine).map(|machine| &machine.life)
    }

    /// Every machine that is no worker.
    pub fn infrastructure(&self) -> impl Iterator<Item = MachineId> + '_ {
        self.machines.infrastructure().map(|(id, _)| *id)
    }

    /// What a machine's clocks show at true time `at`, which must not lie before the present instant.
    pub fn reading(&self, machine: MachineId, at: TrueTime) -> Option<Reading> {
        self.machines.get(machine).map(|machine| machine.clock.read(at))
    }

    /// A worker.
    pub fn worker(&self, worker: WorkerId) -> Option<&Worker> {
        match &self.machines.get(worker.into())?.actor {
            Actor::Worker(worker) => Some(worker),
            _ => None,
        }
    }

    /// Whether `worker` works on `job` and may act at `at`, which must not lie before the present instant: it is up, not
    /// frozen, has not let go, and its own clock is before its stop time.
    pub fn may_act(&self, worker: WorkerId, job: JobId, at: TrueTime) -> bool {
        self.machines.get(worker.into()).is_some_and(|machine| match &machine.actor {
            Actor::Worker(worker) => {
                machine.life == Life::Up && worker.job() == job && worker.may_act(machine.clock.read(at))
            }
            _ => false,
        })
    }

    /// A node of the lock service.
    pub fn node(&self, node: NodeId) -> Option<&Node> {
        match &self.machines.get(node.into())?.actor {
            Actor::Node(node) => Some(node),
            _ => None,
        }
    }

    /// All nodes of the lock service.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> + '_ {
        self.machines.infrastructure().filter_map(|(id, machine)| match (&machine.actor, id.node()) {
            (Actor::Node(node), Some(id)) => Some((id, &**node)),
            _ => None,
        })
    }

    /// The node that leads in the highest term, if one that is not down does.
    pub fn leader(&self) -> Option<NodeId> {
        self.nodes()
            .filter(|(id, node)| node.role_name() == "leader" && self.life((*id).into()) != Some(&Life::Down))
            .max_by_key(|(_, node)| node.term())
            .map(|(id, _)| id)
    }

    /// The machine that decides about the lock at present, if one does: what interventions call `leader`.
    ///
    /// No master of Redlock decides alone; the first stands for them.
    pub fn authority(&self) -> Option<MachineId> {
        let primary =
            |(id, server): &(MachineId, &Server)| server.role() == Role::Primary && self.life(*id) != Some(&Life::Down);
        match self.plan.service {
            ServiceKind::Redis => {
                self.redis_servers().filter(primary).max_by_key(|(_, server)| server.epoch()).map(|(id, _)| id)
            }
            ServiceKind::Redlock => Some(MachineId::Master(1)),
            _ => self.leader().map(MachineId::from),
        }
    }

    /// The Redis servers: primary and replica, or the masters of Redlock.
    pub fn redis_servers(&self) -> impl Iterator<Item = (MachineId, &Server)> + '_ {
        self.machines.infrastructure().filter_map(|(id, machine)| match &machine.actor {
            Actor::Redis(server) => Some((*id, &**server)),
            _ => None,
        })
    }

    /// The store.
    pub fn store(&self) -> Option<&Store> {
        match &self.machines.get(MachineId::Store)?.actor {
            Actor::Store(store) => Some(store),
            _ => None,
        }
    }

    /// The table of lease items.
    pub fn table(&self) -> Option<&Table> {
        match &self.machines.get(MachineId::Table)?.actor {
            Actor::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The sidecar of a worker, if it has one.
    pub fn sidecar(&self, worker: WorkerId) -> Option<&Sidecar> {
        match &self.machines.get(MachineId::Sidecar(worker))?.actor {
            Actor::Sidecar(sidecar) => Some(sidecar),
            _ => None,
        }
    }

    /// The many writers that check one fence item, if there are any.
    pub fn writers(&self) -> Option<&Writers> {
        match &self.machines.get(MachineId::Writers)?.actor {
            Actor::Writers(writers) => Some(writers),
            _ => None,
        }
    }

    /// The partner outside, if there is one.
    pub fn partner(&self) -> Option<&Partner> {
        match &self.machines.get(MachineId::Partner)?.actor {
            Actor::Partner(partner) => Some(partner),
            _ => None,
        }
    }

    /// The sweeper.
    pub fn sweeper(&self) -> Option<&Sweeper> {
        match &self.machines.get(MachineId::Sweeper)?.actor {
            Actor::Sweeper(sweeper) => Some(sweeper),
            _ => None,
        }
    }

    /// Messages on their way, or waiting at a frozen machine, in order of arrival; heartbeats are left out.
    pub fn in_flight(&self) -> Vec<&Envelope> {
        let waiting = self.machines.iter().flat_map(|(_, machine)| &machine.held).filter_map(|held| match held {
            Held::Message(envelope) => Some(envelope),
            _ => None,
        });
        waiting.chain(self.queue.messages()).filter(|envelope| !envelope.message.is_background()).collect()
    }

    /// How many machines there are.
    pub fn machine_count(&self) -> usize {
        self.machines.len()
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }
}

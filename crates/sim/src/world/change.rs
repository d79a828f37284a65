//! Carrying out interventions.
//!
//! One that means nothing in this run has no effect, and the trace says so.

use super::machine::{Actor, Held, Life, Timer};
use super::{Class, Pending, World};
use crate::actor::Input;
use crate::clock::MachineClock;
use crate::contest::Contestant;
use crate::event::{Event, Kind, LostBecause, Rate};
use crate::intervention::{Change, Intervention, Target};
use crate::labs_only::LabsOnly;
use crate::labs_only::labs_only;
use crate::machine::{MachineId, WorkerId};
use crate::message::Message;
use crate::models::Member;
use crate::network::Fault;
use crate::settings::ServiceKind;
use crate::sidecar::Sidecar;
use crate::sweeper::Sweeper;
use crate::time::{Span, TrueTime};
use crate::worker::Worker;

/// Why a change has no effect.
type Because = String;

impl World {
    /// Applies an intervention at its own time, which must not lie before the present instant.
    pub fn apply(&mut self, intervention: &Intervention, events: &mut Vec<Event>) {
        self.now = self.now.max(intervention.at);
        if let Err(because) = self.carry_out(&intervention.change, events) {
            let (machine, intervention) = (subject(&intervention.change), intervention.to_string());
            let machine = machine.and_then(|target| self.resolve(target).ok()).unwrap_or(MachineId::Operator);
            self.record(machine, Kind::NoEffect { intervention, because }, events);
        }
    }

    fn carry_out(&mut self, change: &Change, events: &mut Vec<Event>) -> Result<(), Because> {
        match change {
            Change::Pause { target, lasts, vm } => {
                let id = self.resolve(*target)?;
                let id = if *vm { id.host() } else { id };
                self.pause(id, *lasts, *vm, events)?;
                // A whole machine freezes with every process on it.
                let beside = self.beside(id).filter(|_| *vm);
                if let Some(sidecar) = beside {
                    let _ = self.pause(sidecar, *lasts, true, events);
                }
                Ok(())
            }
            Change::Resume(target) => {
                let id = self.resolve(*target)?;
                let vm = self.life(id) == Some(&Life::Frozen { vm: true });
                self.resume(id, events)?;
                if let Some(sidecar) = self.beside(id).filter(|_| vm) {
                    let _ = self.resume(sidecar, events);
                }
                Ok(())
            }
            Change::Crash(target) => self.crash(self.resolve(*target)?, events),
            Change::Restart { target, empty } => self.restart(self.resolve(*target)?, *empty, events),
            Change::StepWall(target, by) => {
                let id = self.resolve(*target)?.host();
                let (now, by) = (self.now, *by);
                self.change_clock(id, |clock, now| clock.step_wall(now, by))?;
                let wall = self.machine_mut(id)?.clock.read(now).wall;
                self.record(id, Kind::WallStepped { by, wall }, events);
                Ok(())
            }
            Change::Offset(target, offset) => {
                let id = self.resolve(*target)?.host();
                let (now, offset) = (self.now, *offset);
                self.change_clock(id, |clock, now| clock.set_offset(now, offset))?;
                let wall = self.machine_mut(id)?.clock.read(now).wall;
                self.record(id, Kind::OffsetSet { offset, wall }, events);
                Ok(())
            }
            Change::Rate(target, ppm) => {
                let id = self.resolve(*target)?.host();
                self.change_clock(id, |clock, now| clock.set_rate(now, *ppm))?;
                self.requeue_timers(id);
                self.record(id, Kind::RateSet { rate: Rate(*ppm) }, events);
                Ok(())
            }
            Change::Partition(groups) => self.partition(groups, events),
            Change::Heal => {
                if !self.network.heal() {
                    return Err("nothing was cut".into());
                }
                self.record(MachineId::Operator, Kind::Healed, events);
                Ok(())
            }
            Change::Isolate(target) => {
                let id = self.resolve(*target)?.host();
                if self.network.is_isolated(id) {
                    return Err(format!("{id} is cut off already"));
                }
                self.network.isolate(id);
                self.record(id, Kind::Isolated, events);
                self.lose_what_crosses_the_cut(events);
                Ok(())
            }
            Change::Outage(lasts) => {
                let number = self.network.begin_outage().ok_or("the lock service is cut off already")?;
                if let Some(span) = lasts {
                    self.push(self.now + *span, Class::Control, Pending::EndOutage(number));
                }
                self.record(MachineId::Operator, Kind::OutageBegan, events);
                self.lose_what_crosses_the_cut(events);
                Ok(())
            }
            Change::Delay { from, to, by } => self.expect(*from, *to, Fault::Delay(*by)),
            Change::Drop { from, to } => self.expect(*from, *to, Fault::Drop),
            Change::Duplicate { from, to } => self.expect(*from, *to, Fault::Duplicate),
            Change::Fence(mode) => self.set(|settings| settings.fence = *mode, change, events),
            Change::Idempotent(on) => self.set(|settings| settings.idempotent = *on, change, events),
            Change::Raise(order) => self.set(|settings| settings.raise = *order, change, events),
            Change::Lease(span) => self.set(|settings| settings.lease = *span, change, events),
            Change::Renew(span) => self.set(|settings| settings.renew = *span, change, events),
            Change::Margin(span) => self.set(|settings| settings.margin = *span, change, events),
            Change::Sweeper(on) => self.set(|settings| settings.sweeper = *on, change, events),
            // The plan was laid down with these before the world began.
            Change::Service(_) | Change::Store(_) | Change::Set { .. } => {
                let setting = change.to_string();
                self.record(MachineId::Operator, Kind::SettingChanged { setting }, events);
                Ok(())
            }
            Change::Restore { revision, bump } => match self.plan.service {
                ServiceKind::Consensus => self.restore_log(*revision, bump.unwrap_or(0), events),
                ServiceKind::LeaseItem => self.restore(*revision, bump.unwrap_or(0), events),
                kind => Err(format!("{kind} keeps no revisions that it could go back to")),
            },
            Change::Acquire(worker) => self.acquire(*worker, events),
            Change::Release(worker) => self.release(*worker, events),
        }
    }

    fn resolve(&self, target: Target) -> Result<MachineId, Because> {
        let id = match target {
            Target::Machine(id) => id,
            Target::Leader => self.authority().ok_or("no node leads at this moment")?,
        };
        if self.machines.get(id).is_some() { Ok(id) } else { Err(format!("there is no {id} in this run")) }
    }

    /// The other process on the same machine, if there is one.
    fn beside(&self, id: MachineId) -> Option<MachineId> {
        let sidecar = MachineId::Sidecar(id.worker()?);
        self.machines.get(sidecar).is_some().then_some(sidecar)
    }

    /// Changes the clock of a machine, which all processes on it read.
    fn change_clock(&mut self, id: MachineId, change: impl Fn(&mut MachineClock, TrueTime)) -> Result<(), Because> {
        let now = self.now;
        change(&mut self.machine_mut(id)?.clock, now);
        self.requeue_timers(id);
        if let Some(sidecar) = self.beside(id) {
            change(&mut self.machine_mut(sidecar)?.clock, now);
            self.requeue_timers(sidecar);
        }
        Ok(())
    }

    fn machine_mut(&mut self, id: MachineId) -> Result<&mut super::Machine, Because> {
        self.machines.get_mut(id).ok_or_else(|| format!("there is no {id} in this run"))
    }

    fn set(
        &mut self,
        change: impl FnOnce(&mut crate::settings::Settings),
        text: &Change,
        events: &mut Vec<Event>,
    ) -> Result<(), Because> {
        let mut settings = self.settings;
        change(&mut settings);
        if settings == self.settings {
            return Err("it is set so already".into());
        }
        self.settings = settings;
        self.record(MachineId::Operator, Kind::SettingChanged { setting: text.to_string() }, events);
        Ok(())
    }

    fn expect(&mut self, from: Target, to: Target, fault: Fault) -> Result<(), Because> {
        let (from, to) = (self.resolve(from)?, self.resolve(to)?);
        if from == to {
            return Err(format!("{from} sends no messages to itself"));
        }
        self.network.expect(from, to, fault);
        Ok(())
    }

    fn ended(&self, id: MachineId) -> bool {
        id.worker()
            .and_then(|worker| self.worker(worker))
            .is_some_and(|worker| !worker.is_running() && worker.state_name() != "idle")
    }

    fn pause(&mut self, id: MachineId, lasts: Option<Span>, vm: bool, events: &mut Vec<Event>) -> Result<(), Because> {
        if self.ended(id) {
            return Err(format!("{id}'s process has ended"));
        }
        let now = self.now;
        let machine = self.machine_mut(id)?;
        match machine.life {
            Life::Frozen { .. } => return Err(format!("{id} is paused already")),
            Life::Down => return Err(format!("{id} is down")),
            Life::Up => {}
        }
        machine.life = Life::Frozen { vm };
        machine.pauses += 1;
        let pause = machine.pauses;
        if vm {
            machine.clock.stop(now);
            self.requeue_timers(id);
        }
        if let Some(span) = lasts {
            self.push(now + span, Class::Control, Pending::EndPause { machine: id, pause });
        }
        self.record(id, Kind::Paused { worker: id.worker(), vm, lasts }, events);
        Ok(())
    }

    pub(super) fn end_pause(&mut self, id: MachineId, pause: u32, events: &mut Vec<Event>) {
        let same = self.machines.get(id).is_some_and(|m| m.pauses == pause && matches!(m.life, Life::Frozen { .. }));
        if same {
            // It is frozen, so this cannot fail.
            let _ = self.resume(id, events);
        }
    }

    /// What reached the machine while it was frozen is served now: messages before timers, each in order of arrival.
    fn resume(&mut self, id: MachineId, events: &mut Vec<Event>) -> Result<(), Because> {
        let now = self.now;
        let machine = self.machine_mut(id)?;
        let Life::Frozen { vm } = machine.life else { return Err(format!("{id} is not paused")) };
        machine.life = Life::Up;
        // The timed end of this pause must not end a later one.
        machine.pauses += 1;
        let held = std::mem::take(&mut machine.held);
        if vm {
            machine.clock.start(now);
        }
        let mono = machine.clock.read(now).mono;
        self.record(id, Kind::Resumed { worker: id.worker(), mono }, events);
        for held in held {
            match held {
                Held::Start => {
                    self.push(now, Class::Timer, Pending::Start { machine: id });
                }
                Held::Message(envelope) => {
                    // It came before whatever arrives at this very instant.
                    self.push(now, Class::Held, Pending::Message(Box::new(envelope)));
                }
                Held::Timer(key) => {
                    let created = self.push(now, Class::Timer, Pending::Timer { machine: id, key });
                    if let Some(timer) = self.machine_mut(id)?.timers.get_mut(&key) {
                        timer.created = created;
                        timer.queued_at = Some(now);
                    }
                }
            }
        }
        if vm {
            self.requeue_timers(id);
        }
        Ok(())
    }

    /// Puts a machine's timers where its changed clock wants them.
    fn requeue_timers(&mut self, id: MachineId) {
        let now = self.now;
        let Some(machine) = self.machines.get_mut(id) else { return };
        for (key, timer) in &mut machine.timers {
            let held = machine.held.contains(&Held::Timer(*key));
            if let Some(at) = timer.queued_at.take() {
                self.queue.remove((at, Class::Timer, timer.created));
            }
            if held {
                continue;
            }
            timer.queued_at = timer.true_time(&machine.clock).map(|at| at.max(now));
            if let Timer { created, queued_at: Some(at), .. } = *timer {
                self.queue.insert((at, Class::Timer, created), Pending::Timer { machine: id, key: *key });
            }
        }
    }

    fn crash(&mut self, id: MachineId, events: &mut Vec<Event>) -> Result<(), Because> {
        if self.ended(id) {
            return Err(format!("{id}'s process has ended"));
        }
        let now = self.now;
        let machine = self.machine_mut(id)?;
        if machine.life == Life::Down {
            return Err(format!("{id} is down already"));
        }
        if machine.life == (Life::Frozen { vm: true }) {
            machine.clock.start(now);
        }
        machine.life = Life::Down;
        let held = std::mem::take(&mut machine.held);
        match &mut machine.actor {
            Actor::Node(node) => node.crash(),
            Actor::Store(store) => store.crash(),
            Actor::Redis(server) => server.crash(),
            _ => {}
        }
        let contends = matches!(machine.actor, Actor::Contestant(_));
        self.forget_timers(id);
        self.record(id, Kind::Crashed { worker: id.worker() }, events);
        if contends {
            // The process is gone; its machine is not, and closes what it had open.
            self.send(id, MachineId::Store, Message::ConnectionClosed, events);
        }
        // What waited for the frozen process dies with it.
        for held in held {
            if let Held::Message(envelope) = held {
                self.lose(&envelope, LostBecause::ReceiverDown, events);
            }
        }
        Ok(())
    }

    fn restart(&mut self, id: MachineId, empty: bool, events: &mut Vec<Event>) -> Result<(), Because> {
        let ended = self.ended(id);
        let machine = self.machine_mut(id)?;
        if machine.life != Life::Down && !ended {
            return Err(format!("{id} is not down"));
        }
        machine.life = Life::Up;
        machine.restarts += 1;
        let incarnation = machine.restarts;
        let plan = self.plan.clone();
        let machine = self.machine_mut(id)?;
        match &mut machine.actor {
            Actor::Worker(_) => {
                let Some(worker) = id.worker() else { return Err(format!("{id} is no worker")) };
                machine.actor = Actor::Worker(Worker::new(&plan, worker, incarnation));
            }
            Actor::Contestant(contestant) => {
                let Some(worker) = id.worker() else { return Err(format!("{id} is no worker")) };
                *contestant = LabsOnly::new(|| Contestant::new(worker, incarnation));
            }
            Actor::Member(member) => {
                let Some(worker) = id.worker() else { return Err(format!("{id} is no worker")) };
                if let Some(new) = Member::new(&plan, worker, incarnation) {
                    *member = LabsOnly::new(|| new);
                }
            }
            Actor::Sweeper(sweeper) => *sweeper = Sweeper::new(&plan, incarnation),
            Actor::Sidecar(sidecar) => {
                let MachineId::Sidecar(worker) = id else { return Err(format!("{id} is no sidecar")) };
                *sidecar = LabsOnly::new(|| Sidecar::new(&plan, worker, incarnation));
            }
            Actor::Redis(server) if empty => server.lose_disk(),
            // Their disks have all that they need.
            Actor::Node(_)
            | Actor::Redis(_)
            | Actor::Server(_)
            | Actor::Store(_)
            | Actor::Tenants(_)
            | Actor::Table(_)
            | Actor::Partner(_) => {}
            Actor::Writers(writers) => *writers = LabsOnly::new(crate::writers::Writers::new),
        }
        self.record(id, Kind::Restarted { worker: id.worker() }, events);
        self.dispatch(id, Input::Start, events);
        Ok(())
    }

    /// Brings the lock service back to what it was at `revision`, which it may be made to count on from higher up.
    fn restore(&mut self, revision: u64, bump: u64, events: &mut Vec<Event>) -> Result<(), Because> {
        let jobs = self.plan.job_ids();
        match self.machines.get_mut(MachineId::Table).map(|machine| &mut machine.actor) {
            Some(Actor::Table(table)) => {
                let highest = table.highest_epoch();
                if revision > highest {
                    return Err(format!("no item has an epoch above {highest}"));
                }
                for kind in table.restore(jobs, revision, bump) {
                    events.push(Event { t: self.now, machine: MachineId::Table, kind });
                }
                Ok(())
            }
            _ => Err("this run has no such thing".into()),
        }
    }

    fn partition(&mut self, groups: &[Vec<Target>], events: &mut Vec<Event>) -> Result<(), Because> {
        let mut resolved = Vec::new();
        let mut seen = Vec::new();
        for group in groups {
            let mut members = Vec::new();
            for target in group {
                // Machines that this run does not have are on no side.
                let id = match self.resolve(*target) {
                    Ok(id) => id.host(),
                    Err(_) if matches!(target, Target::Machine(_)) => continue,
                    Err(because) => return Err(because),
                };
                if seen.contains(&id) {
                    return Err(format!("{id} would be on two sides"));
                }
                seen.push(id);
                members.push(id);
            }
            if !members.is_empty() {
                resolved.push(members);
            }
        }
        if resolved.len() < 2 {
            return Err("fewer than two sides have a machine of this run".into());
        }
        let shown = resolved.clone();
        self.network.partition(resolved);
        self.record(MachineId::Operator, Kind::Partitioned { groups: shown }, events);
        self.lose_what_crosses_the_cut(events);
        Ok(())
    }

    fn lose_what_crosses_the_cut(&mut self, events: &mut Vec<Event>) {
        let network = &self.network;
        for envelope in self.queue.take_messages(|envelope| network.is_cut(envelope.from, envelope.to)) {
            self.lose(&envelope, LostBecause::Partitioned, events);
        }
    }

    /// Every node of the consensus service gets the state of an earlier revision, as when a snapshot is restored into a
    /// fresh cluster.
    /// The node that leads keeps leading, so that the trace shows the restore and not one more election.
    fn restore_log(&mut self, revision: u64, bump: u64, events: &mut Vec<Event>) -> Result<(), Because> {
        let most = self.nodes().max_by_key(|(_, node)| node.commit_index()).map(|(_, node)| node);
        let most = most.ok_or("no node has a log")?;
        let was = most.lock_state().revision;
        if revision > was {
            return Err(format!("the lock service has not come to revision {revision}; it stands at {was}"));
        }
        let state = most.state_at(revision);
        let mut state = state.ok_or_else(|| format!("the log does not go back to revision {revision}"))?;
        state.revision += bump;
        let leader = self.leader().filter(|leader| self.life((*leader).into()) == Some(&Life::Up));
        let told = match leader.and_then(|leader| self.node(leader)) {
            Some(node) if bump > 0 => node.tell_watchers(),
            _ => Vec::new(),
        };
        let term = self.nodes().map(|(_, node)| node.term()).max().unwrap_or(0) + 1;
        let restored = Kind::HistoryRestored {
            revision,
            was,
            continues_from: state.revision,
            term,
            watchers_told: told.len() as u64,
            labs: labs_only(),
        };
        self.record(MachineId::Operator, restored, events);

        self.recorded_up_to = 1;
        let plan = self.plan.clone();
        let now = self.now;
        for node in plan.cluster.nodes() {
            let id = MachineId::Node(node);
            self.forget_timers(id);
            let Ok(machine) = self.machine_mut(id) else { continue };
            machine.held.retain(|held| matches!(held, Held::Message(_)));
            let life = machine.life;
            let mono = machine.clock.read(now).mono;
            if let Actor::Node(node) = &mut machine.actor {
                node.restore(&plan, &state, term, leader, mono);
            }
            if life != Life::Down {
                self.start(id, events);
            }
        }
        if let Some(leader) = leader {
            for (client, message) in told {
                self.send(leader.into(), client, message, events);
            }
        }
        Ok(())
    }

    fn forget_timers(&mut self, id: MachineId) {
        let Some(machine) = self.machines.get_mut(id) else { return };
        let timers = std::mem::take(&mut machine.timers);
        for timer in timers.values() {
            if let Some(at) = timer.queued_at {
                self.queue.remove((at, Class::Timer, timer.created));
            }
        }
    }

    fn runnable(&self, id: MachineId) -> Result<(), Because> {
        match self.life(id) {
            Some(Life::Up) => Ok(()),
            Some(Life::Frozen { .. }) => Err(format!("{id} is paused")),
            _ => Err(format!("{id} is down")),
        }
    }

    fn acquire(&mut self, worker: WorkerId, events: &mut Vec<Event>) -> Result<(), Because> {
        self.runnable(worker.into())?;
        if self.plan.model.is_some() {
            return Err("nobody is told to acquire in this run".into());
        }
        if !self.worker(worker).is_some_and(Worker::can_start) {
            return Err(format!("{worker} is at it already"));
        }
        self.dispatch(worker.into(), Input::Acquire, events);
        Ok(())
    }

    fn release(&mut self, worker: WorkerId, events: &mut Vec<Event>) -> Result<(), Because> {
        self.runnable(worker.into())?;
        if !self.worker(worker).is_some_and(Worker::can_release) {
            return Err(format!("{worker} holds nothing"));
        }
        self.dispatch(worker.into(), Input::Release, events);
        Ok(())
    }
}

/// The machine that a change is about, to hang the record of an idle intervention on.
fn subject(change: &Change) -> Option<Target> {
    match change {
        Change::Pause { target, .. } | Change::Restart { target, .. } => Some(*target),
        Change::Resume(target)
        | Change::Crash(target)
        | Change::StepWall(target, _)
        | Change::Offset(target, _)
        | Change::Rate(target, _)
        | Change::Isolate(target) => Some(*target),
        Change::Acquire(worker) | Change::Release(worker) => Some(Target::Machine((*worker).into())),
        _ => None,
    }
}

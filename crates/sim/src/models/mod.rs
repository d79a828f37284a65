//! Small models that stand beside the story: two kinds of lease that need no fence, two workers with two locks, and a
//! journal that fences its writers.
//!
//! Where things are: `rent` has the quota and the block of ids, `locks` the two locks, `journal` the journal.

pub mod journal;
pub mod locks;
pub mod rent;

use crate::actor::{Actions, Context, Input};
use crate::machine::{MachineId, NodeId, WorkerId};
use crate::settings::Plan;
use journal::{Engine, JournalNode};
use locks::TwoLocks;
use rent::{Allocator, Renter};

/// A model that a run is about instead of the job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// Blocks of capacity for a time, or blocks of numbers for good.
    Rent(rent::Terms),
    /// Two workers that need two locks each.
    TwoLocks(locks::Order),
    /// A journal on three nodes, and the engines that write it.
    Journal(journal::Rules),
}

impl Model {
    /// Whether it uses the run's lock service.
    pub fn uses_lock_service(&self) -> bool {
        matches!(self, Model::TwoLocks(_))
    }

    /// The machines that serve it in place of a lock service.
    pub fn servers(&self) -> Vec<MachineId> {
        match self {
            Model::Rent(_) => vec![MachineId::Allocator],
            Model::TwoLocks(_) => Vec::new(),
            Model::Journal(_) => (1..=journal::NODES).map(|number| MachineId::Node(NodeId(number))).collect(),
        }
    }
}

/// A worker of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Member {
    /// Asks for blocks.
    Renter(Renter),
    /// Needs two locks.
    TwoLocks(TwoLocks),
    /// Writes the journal.
    Engine(Engine),
}

impl Member {
    /// One process of `worker`.
    pub fn new(plan: &Plan, worker: WorkerId, incarnation: u32) -> Option<Member> {
        Some(match plan.model.as_ref()? {
            Model::Rent(_) => Member::Renter(Renter::new(worker, incarnation)),
            Model::TwoLocks(_) => Member::TwoLocks(TwoLocks::new(plan, worker, incarnation)),
            Model::Journal(_) => Member::Engine(Engine::new(worker, incarnation)),
        })
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match (self, &context.plan.model) {
            (Member::Renter(renter), Some(Model::Rent(terms))) => renter.handle(context, *terms, input, actions),
            (Member::TwoLocks(worker), _) => worker.handle(context, input, actions),
            (Member::Engine(engine), Some(Model::Journal(rules))) => engine.handle(context, *rules, input, actions),
            _ => {}
        }
    }
}

/// What serves a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Server {
    /// Hands out blocks.
    Allocator(Allocator),
    /// One node of a journal.
    Journal(JournalNode),
}

impl Server {
    /// The server `machine` of the plan's model, if it is one.
    pub fn new(machine: MachineId) -> Option<Server> {
        match machine {
            MachineId::Allocator => Some(Server::Allocator(Allocator::default())),
            MachineId::Node(_) => Some(Server::Journal(JournalNode::default())),
            _ => None,
        }
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match (self, &context.plan.model) {
            (Server::Allocator(allocator), Some(Model::Rent(terms))) => {
                allocator.handle(context, *terms, input, actions);
            }
            (Server::Journal(node), _) => node.handle(context, input, actions),
            _ => {}
        }
    }
}

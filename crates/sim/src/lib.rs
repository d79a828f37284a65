//! The simulation core of Lease Lab: leases, fencing tokens and a replicated lock service, deterministic to the byte.
//!
//! One way in: a [`Plan`](settings::Plan), [`Intervention`](intervention::Intervention)s and a seed make a
//! [`Simulation`](simulation::Simulation).
//! One way out: typed [`Event`](event::Event)s and a read-only view of the [`World`](world::World).
//! Time is integer microseconds, chance comes from the seed, maps are ordered, and there is no I/O: the same input
//! gives the same trace on every platform.
//!
//! Data flows one way: plan → world → events → views → drawing; this crate ends at the events.

pub mod actor;
pub mod clock;
pub mod consensus;
pub mod contest;
pub mod event;
pub mod intervention;
pub mod invariants;
pub mod labs_only;
pub mod machine;
pub mod message;
pub mod models;
pub mod network;
pub mod ordered_map;
pub mod partner;
pub mod redis;
pub mod rng;
pub mod service;
pub mod settings;
pub mod sidecar;
pub mod simulation;
pub mod store;
pub mod store_client;
pub mod sweeper;
pub mod table;
pub mod tenants;
pub mod time;
pub mod worker;
pub mod world;
pub mod writers;

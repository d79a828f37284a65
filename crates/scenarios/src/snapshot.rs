//! The whole world at an instant, for JSON and for the cards of the page.

use lease_lab_sim::consensus::Node;
use lease_lab_sim::labs_only::{LabsOnly, labs_only};
use lease_lab_sim::machine::{JobId, MachineId, NodeId, WorkerId};
use lease_lab_sim::message::{Holder, LeaseId, NO_TOKEN, Token, is_no_token};
use lease_lab_sim::redis::{Role, Server};
use lease_lab_sim::settings::{FenceMode, ServiceKind, Trace};
use lease_lab_sim::store::sql::SqlStore;
use lease_lab_sim::store::{RowState, Store, s3};
use lease_lab_sim::table::Table;
use lease_lab_sim::time::{Deadline, Mono, Span, TrueTime, Wall};
use lease_lab_sim::world::{Life, World};
use litemap::LiteMap;
use serde::{Serialize, Serializer};

/// Whether this build has more than the billing story.
const LABS: bool = cfg!(feature = "labs");

/// The world at an instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// When.
    pub t: TrueTime,
    /// The bookmark's name, if it is one.
    pub name: Option<&'static str>,
    /// Every worker.
    #[serde(serialize_with = "as_map")]
    pub workers: LiteMap<WorkerId, WorkerCard>,
    /// The lock service.
    pub service: ServiceCard,
    /// The store's row.
    pub store: Option<RowCard>,
    /// The machines that are described nowhere else, or whose process is not a part of what is described.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub machines: LiteMap<MachineId, MachineCard>,
    /// The orphan that the sweeper has seen once: owner and fence.
    pub sweeper_saw: Option<(Token, Token)>,
    /// Messages on their way or waiting at a frozen machine; heartbeats are left out.
    pub in_flight: Vec<InFlight>,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerCard {
    /// idle, waiting, working, paused, crashed, gave-up or done.
    pub state: &'static str,
    /// What it is doing, in words.
    pub activity: String,
    /// The token of the lock that it holds or held last.
    pub token: Option<Token>,
    /// Its stop time on its monotonic clock.
    pub stop_time: Option<Mono>,
    /// Whether it takes itself for the holder.
    pub believes_holding: bool,
    /// Its monotonic clock.
    pub mono: Mono,
    /// Its wall clock.
    pub wall: Wall,
    /// With lease items: which version of the item it has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenCard>,
}

/// What a claimant of a lease item has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenCard {
    /// The record version number.
    pub rvn: Option<String>,
    /// When it saw that one first, by its own monotonic clock.
    pub since: Mono,
    /// Only the labs have it.
    #[serde(skip)]
    labs: LabsOnly<()>,
}

/// A machine: its process and its clocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineCard {
    /// up, paused or crashed.
    pub state: &'static str,
    /// A sidecar: the lease that it keeps alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keeps: Option<String>,
    /// Its monotonic clock.
    pub mono: Mono,
    /// Its wall clock.
    pub wall: Wall,
}

/// The lock service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServiceCard {
    /// Which one.
    pub kind: &'static str,
    /// The machine that decides: the node that leads, or the primary; none of the masters of Redlock.
    pub leader: Option<MachineId>,
    /// The highest term, where there are terms.
    pub term: u32,
    /// The revision.
    pub revision: u64,
    /// The key, if somebody holds it.
    pub key: Option<KeyCard>,
    /// In an election: whose keys there are, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<CandidateCard>,
    /// Every node of a replicated log.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub nodes: LiteMap<NodeId, NodeCard>,
    /// The lease items of a table, by job.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub items: LiteMap<u16, ItemCard>,
    /// Every Redis server.
    #[serde(skip_serializing_if = "LiteMap::is_empty")]
    pub servers: LiteMap<MachineId, ServerCard>,
}

/// A candidate in an election.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CandidateCard {
    /// Who.
    pub worker: WorkerId,
    /// The create revision of its key.
    pub token: Token,
    /// The create revision of the key that it is told about when it goes, as far as the leader knows.
    pub watches: Option<Token>,
    /// Only the labs have it.
    #[serde(skip)]
    labs: LabsOnly<()>,
}

/// A lease item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ItemCard {
    /// Who holds it, as far as the item says; nobody once it has been released.
    pub holder: Option<WorkerId>,
    /// Until when, on the wall clock of whoever wrote it; zero once it has been released.
    pub lease_until: Wall,
    /// The length of the lease.
    pub lease: Span,
    /// The record version number.
    pub rvn: Option<String>,
    /// Grows with every claim.
    pub epoch: Token,
    /// Only the labs have it.
    #[serde(skip)]
    labs: LabsOnly<()>,
}

/// A Redis server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerCard {
    /// master, primary or replica.
    pub role: &'static str,
    /// Whether its process runs or is frozen.
    pub up: bool,
    /// Whether it is frozen.
    pub frozen: bool,
    /// How many promotions the server knows of; of two primaries, the one with the higher number is in office.
    pub epoch: u32,
    /// Its own wall clock, by which it expires keys.
    pub wall: Wall,
    /// How many commands it has executed or copied: the replication position.
    pub offset: u64,
    /// The counter of tokens.
    pub counter: u64,
    /// Its keys.
    pub keys: Vec<RedisKeyCard>,
    /// Only the labs have it.
    #[serde(skip)]
    labs: LabsOnly<()>,
}

/// A key on a Redis server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedisKeyCard {
    /// The job whose lock it is.
    #[serde(skip_serializing_if = "JobId::is_first")]
    pub job: JobId,
    /// Who set it.
    pub holder: WorkerId,
    /// Its value, which is different for each acquisition.
    pub value: String,
    /// When it expires, on the server's own wall clock.
    pub expires: Wall,
    /// Whether it would survive a crash of the server.
    pub on_disk: bool,
    /// Only the labs have it.
    #[serde(skip)]
    labs: LabsOnly<()>,
}

/// The key as the lock service holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyCard {
    /// Who.
    pub holder: WorkerId,
    /// With which token, if there is one.
    #[serde(skip_serializing_if = "is_no_token")]
    pub token: Token,
    /// Until when, on the clock of the machine that decides; nothing while none does.
    pub deadline: Option<Deadline>,
}

/// A node of the lock service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeCard {
    /// leader, candidate or follower.
    pub role: &'static str,
    /// Whether its process runs or is frozen.
    pub up: bool,
    /// Whether it is frozen.
    pub frozen: bool,
    /// Its term.
    pub term: u32,
    /// Its log.
    pub log: Vec<LogCard>,
    /// What a crash would erase.
    pub memory: MemoryCard,
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogCard {
    /// Its index.
    pub index: u64,
    /// Its term.
    pub term: u32,
    /// What it changes.
    pub command: String,
    /// Whether it is on this node's disk.
    pub on_disk: bool,
    /// Whether this node knows it to be committed.
    pub committed: bool,
}

/// What is only in a node's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryCard {
    /// How far it knows the log to be committed.
    pub commit_index: u64,
    /// Deadlines of leases, on the leader only.
    #[serde(serialize_with = "as_map")]
    pub deadlines: LiteMap<String, Mono>,
    /// Until when nobody gets the lock, on the leader only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_until: Option<Mono>,
}

/// The store's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowCard {
    /// QUEUED, RUNNING or DONE.
    pub state: RowState,
    /// The fence.
    pub fence: Token,
    /// How tokens are compared with it.
    pub fence_mode: FenceMode,
    /// The token that claimed the row.
    pub owner_token: Option<Token>,
    /// Since when it is claimed.
    pub claimed_since: Option<Wall>,
    /// Whether the sparse index holds it.
    pub indexed: bool,
    /// Which tokens recorded each chunk; 0 for a holder without one.
    #[serde(serialize_with = "as_map")]
    pub chunks: LiteMap<u8, Vec<Token>>,
    /// Invoices charged, each counted once.
    pub invoices_charged: u64,
    /// Customers charged more than once.
    pub charged_twice: u64,
    /// What only this kind of store has.
    #[serde(flatten)]
    pub own: Option<OwnCard>,
}

/// What only one kind of store has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnCard {
    /// An SQL database.
    Sql {
        /// Which committed version of the row this is, from 1.
        row_version: u32,
        /// Who holds the row's lock.
        locked_by: Option<MachineId>,
        /// Who waits for it.
        waiting: Vec<MachineId>,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    /// A DynamoDB table.
    #[serde(rename = "dynamodb")]
    DynamoDb {
        /// How many items of invoices there are, by chunk.
        #[serde(serialize_with = "as_map")]
        invoice_items: LiteMap<u8, u32>,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
    /// An S3 bucket.
    S3 {
        /// The manifest's version: E0, E1, …
        etag: String,
        /// The objects that the manifest names.
        named: Vec<String>,
        /// Objects that no reader looks at.
        stray: Vec<String>,
        /// Whose PUTs of the manifest are in progress.
        in_progress: Vec<MachineId>,
        /// Only the labs have it.
        #[serde(skip)]
        labs: LabsOnly<()>,
    },
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InFlight {
    /// The sender.
    pub from: MachineId,
    /// The receiver.
    pub to: MachineId,
    /// What it says.
    pub what: String,
    /// When it was sent.
    pub sent: TrueTime,
}

impl Snapshot {
    /// Takes a snapshot of `world` at `t`.
    pub fn take(world: &World, t: TrueTime, name: Option<&'static str>) -> Snapshot {
        Snapshot {
            t,
            name,
            workers: map(WorkerId::ALL.into_iter().filter_map(|worker| Some((worker, worker_card(world, worker, t)?)))),
            service: service_card(world, t),
            store: row_card(world),
            machines: machine_cards(world, t),
            sweeper_saw: world.sweeper().and_then(|sweeper| sweeper.sighting()),
            in_flight: world
                .in_flight()
                .into_iter()
                .map(|envelope| InFlight {
                    from: envelope.from,
                    to: envelope.to,
                    what: envelope.message.to_string(),
                    sent: envelope.sent,
                })
                .collect(),
        }
    }
}

fn worker_card(world: &World, id: WorkerId, t: TrueTime) -> Option<WorkerCard> {
    let worker = world.worker(id)?;
    let life = world.life(id.into())?;
    let reading = world.reading(id.into(), t)?;
    let up = *life != Life::Down;
    Some(WorkerCard {
        state: match life {
            Life::Down => "crashed",
            Life::Frozen { .. } => "paused",
            Life::Up => worker.state_name(),
        },
        activity: match life {
            Life::Down => "its process has died".into(),
            Life::Frozen { vm: false } => "frozen; its clocks run on".into(),
            Life::Frozen { vm: true } => "frozen; its clocks stand still".into(),
            Life::Up => worker.activity(),
        },
        token: worker.token().filter(|token| *token != NO_TOKEN),
        stop_time: worker.stop_time(),
        believes_holding: up && worker.believes_holding(),
        mono: reading.mono,
        wall: reading.wall,
        seen: if LABS { worker.seen_item() } else { None }.map(|(rvn, since)| SeenCard {
            rvn: rvn.map(|rvn| rvn.to_string()),
            since,
            labs: labs_only(),
        }),
    })
}

/// The nodes and the Redis servers have cards of their own.
fn machine_cards(world: &World, t: TrueTime) -> LiteMap<MachineId, MachineCard> {
    let has_no_card = |id: &MachineId| {
        let servers = matches!(id, MachineId::Node(_) | MachineId::Master(_) | MachineId::Primary | MachineId::Replica);
        !servers && *id != MachineId::Tenants
    };
    map(world.infrastructure().filter(has_no_card).filter_map(|id| {
        let state = match world.life(id)? {
            Life::Down => "crashed",
            Life::Frozen { .. } => "paused",
            Life::Up => "up",
        };
        let reading = world.reading(id, t)?;
        let keeps = match id {
            MachineId::Sidecar(worker) => world.sidecar(worker).and_then(|sidecar| sidecar.keeps()),
            _ => None,
        };
        let keeps = keeps.map(|lease| lease.to_string());
        Some((id, MachineCard { state, keeps, mono: reading.mono, wall: reading.wall }))
    }))
}

/// The oldest key leads; a leader's memory says who watches which.
fn candidate_cards(world: &World, known: Option<&Node>) -> Vec<CandidateCard> {
    let Some(node) = known.filter(|_| LABS) else { return Vec::new() };
    let leader = world.leader().and_then(|leader| world.node(leader));
    let watches = |worker: WorkerId| {
        let watch = leader?.watches().find(|(client, _)| *client == MachineId::from(worker))?;
        Some(watch.1)
    };
    let card = |key: Holder| CandidateCard {
        worker: key.worker,
        token: key.token,
        watches: watches(key.worker),
        labs: labs_only(),
    };
    node.lock_state().candidates(JobId::FIRST).into_iter().map(card).collect()
}

/// A database that holds the rows and the lock: with a session, or with a version in the row and nothing else.
fn database_card(store: &SqlStore) -> ServiceCard {
    let session = store.sessions().holder(JobId::FIRST);
    ServiceCard {
        kind: "database",
        servers: LiteMap::new(),
        leader: None,
        term: 0,
        revision: 0,
        key: session.map(|(holder, deadline)| KeyCard {
            holder,
            token: NO_TOKEN,
            deadline: Some(Deadline::Mono(deadline)),
        }),
        candidates: Vec::new(),
        nodes: LiteMap::new(),
        items: LiteMap::new(),
    }
}

fn table_card(table: &Table) -> ServiceCard {
    let held = table.item(JobId::FIRST).and_then(|item| Some((item, item.holder?)));
    ServiceCard {
        kind: "lease-item",
        servers: LiteMap::new(),
        leader: None,
        term: 0,
        revision: 0,
        // Nobody will delete it when its time is over, so it has no deadline.
        key: held.map(|(item, holder)| KeyCard { holder: holder.worker, token: item.epoch, deadline: None }),
        candidates: Vec::new(),
        nodes: LiteMap::new(),
        items: map(table.items().map(|(job, item)| {
            let card = ItemCard {
                holder: item.holder.map(|holder| holder.worker),
                lease_until: item.lease_until,
                lease: item.lease,
                rvn: item.rvn.map(|rvn| rvn.to_string()),
                epoch: item.epoch,
                labs: labs_only(),
            };
            (job.0, card)
        })),
    }
}

fn service_card(world: &World, t: TrueTime) -> ServiceCard {
    let mut card = match (world.table(), world.store()) {
        (Some(table), _) => table_card(table),
        (None, Some(Store::Sql(store))) if world.plan().service == ServiceKind::Database => database_card(store),
        _ => nodes_card(world),
    };
    let kind = world.plan().service;
    card.kind = match kind {
        ServiceKind::Redis if cfg!(feature = "labs") => "redis",
        ServiceKind::Redlock if cfg!(feature = "labs") => "redlock",
        _ => return card,
    };
    card.leader = world.authority();
    let authority = card.leader.and_then(|leader| world.redis_servers().find(|(id, _)| *id == leader));
    card.servers = map(world.redis_servers().filter_map(|(id, server)| Some((id, server_card(world, id, server, t)?))));
    card.key =
        match kind {
            ServiceKind::Redis => authority.and_then(|(_, server)| server.data().lock(JobId::FIRST)).map(|entry| {
                KeyCard { holder: entry.holder(), token: entry.token, deadline: Some(Deadline::Wall(entry.expires)) }
            }),
            // As many deadlines as clocks. A token comes from elsewhere, and only the holder knows it.
            _ => majority_holder(world).map(|holder| {
                let holds = world.worker(holder).filter(|worker| worker.believes_holding());
                let token = holds.and_then(|worker| worker.token()).unwrap_or(NO_TOKEN);
                KeyCard { holder, token, deadline: None }
            }),
        };
    if kind == ServiceKind::Redlock {
        // No master decides alone; the log that gives out tokens beside them, if there is one, decides nothing here.
        (card.leader, card.term, card.revision) = (None, 0, 0);
    }
    if kind == ServiceKind::Redis {
        card.revision = authority.map_or(0, |(_, server)| server.data().counter);
    }
    card
}

/// The worker whose value a majority of the masters have that are up.
fn majority_holder(world: &World) -> Option<WorkerId> {
    let up = world.redis_servers().filter(|(id, _)| world.life(*id) != Some(&Life::Down));
    let values: Vec<LeaseId> =
        up.filter_map(|(_, server)| server.data().lock(JobId::FIRST)).map(|entry| entry.value).collect();
    let count = |value: &LeaseId| values.iter().filter(|other| *other == value).count();
    values.iter().find(|value| count(value) >= world.plan().redlock.majority()).map(|value| value.worker)
}

fn server_card(world: &World, id: MachineId, server: &Server, t: TrueTime) -> Option<ServerCard> {
    let life = world.life(id)?;
    let keys = server.data().keys.iter().map(|(key, entry)| RedisKeyCard {
        job: key.job,
        holder: entry.holder(),
        value: entry.value.to_string(),
        expires: entry.expires,
        on_disk: server.saved().keys.get(key).is_some_and(|saved| saved.value == entry.value),
        labs: labs_only(),
    });
    Some(ServerCard {
        role: match server.role() {
            Role::Master => "master",
            Role::Primary => "primary",
            Role::Replica => "replica",
        },
        up: *life != Life::Down,
        frozen: matches!(life, Life::Frozen { .. }),
        epoch: server.epoch(),
        wall: world.reading(id, t)?.wall,
        offset: server.offset(),
        counter: server.data().counter,
        keys: keys.collect(),
        labs: labs_only(),
    })
}

/// Of a log of thousands of entries only the last are shown.
const LOG_SHOWN_OF_MANY: usize = 20;

fn nodes_card(world: &World) -> ServiceCard {
    let leader = world.leader();
    let many = world.plan().trace == Trace::Outcomes;
    // What is committed is the same everywhere, but not every node knows it yet: the one that has applied most does.
    let known = world.nodes().max_by_key(|(_, node)| (node.commit_index(), node.term()));
    let key = known.and_then(|(_, node)| node.lock_state().lock(JobId::FIRST)).map(|key| KeyCard {
        holder: key.holder(),
        token: key.created,
        deadline: leader.and_then(|leader| world.node(leader)).and_then(|node| {
            node.deadlines().find(|(lease, _)| *lease == key.lease).map(|(_, deadline)| Deadline::Mono(deadline))
        }),
    });
    ServiceCard {
        kind: "consensus",
        servers: LiteMap::new(),
        leader: leader.map(MachineId::from),
        term: world.nodes().map(|(_, node)| node.term()).max().unwrap_or(0),
        revision: known.map_or(0, |(_, node)| node.lock_state().revision),
        key,
        candidates: candidate_cards(world, known.map(|(_, node)| node)),
        nodes: map(world.nodes().map(|(id, node)| {
            let life = world.life(id.into());
            let card = NodeCard {
                role: node.role_name(),
                up: life != Some(&Life::Down),
                frozen: matches!(life, Some(Life::Frozen { .. })),
                term: node.term(),
                log: (1..)
                    .zip(node.entries())
                    .skip(if many { node.entries().len().saturating_sub(LOG_SHOWN_OF_MANY) } else { 0 })
                    .map(|(index, entry)| LogCard {
                        index,
                        term: entry.term,
                        command: entry.command.to_string(),
                        on_disk: index <= node.durable_length(),
                        committed: index <= node.commit_index(),
                    })
                    .collect(),
                memory: MemoryCard {
                    commit_index: node.commit_index(),
                    deadlines: map(node
                        .deadlines()
                        .filter(|(lease, _)| !many || lease.worker <= WorkerId::D)
                        .map(|(lease, deadline)| (lease.to_string(), deadline))),
                    delayed_until: if LABS { node.delayed_until(JobId::FIRST) } else { None },
                },
            };
            (id, card)
        })),
        items: LiteMap::new(),
    }
}

fn row_card(world: &World) -> Option<RowCard> {
    let row = world.store()?.row()?;
    let (invoices_charged, charged_twice) = world.store()?.charged(world.plan().invoices_per_chunk);
    Some(RowCard {
        state: row.state,
        fence: row.fence,
        fence_mode: world.settings().fence,
        owner_token: row.owner_token.filter(|token| *token != NO_TOKEN),
        claimed_since: row.claimed_since,
        indexed: row.claimed_since.is_some(),
        chunks: row.chunks.clone(),
        invoices_charged,
        charged_twice,
        own: own_card(world.store()?),
    })
}

fn own_card(store: &Store) -> Option<OwnCard> {
    let job = JobId::FIRST;
    Some(match store {
        Store::Row(_) | Store::Contest(_) => return None,
        Store::Sql(store) => OwnCard::Sql {
            row_version: store.version(job)?,
            locked_by: store.locked_by(job),
            waiting: store.waiting(job).collect(),
            labs: labs_only(),
        },
        Store::DynamoDb(store) => OwnCard::DynamoDb {
            invoice_items: map(store.invoices(job).map(|(chunk, invoices)| (chunk, invoices.there.len()))),
            labs: labs_only(),
        },
        Store::S3(store) => {
            let folder = store.folder(job)?;
            let key = |(chunk, token): (u8, Token)| s3::object_key(chunk, token);
            OwnCard::S3 {
                etag: format!("E{}", folder.etag),
                named: folder.manifest.chunks.iter().map(|(chunk, token)| key((*chunk, *token))).collect(),
                stray: folder.stray().map(key).collect(),
                in_progress: store.in_progress(job).collect(),
                labs: labs_only(),
            }
        }
    })
}

/// An empty [`LiteMap`] alone would be printed as a list.
fn as_map<K: Serialize, V: Serialize, S: Serializer>(map: &LiteMap<K, V>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter())
}

/// A map of what comes in the order of its keys, or nearly so.
fn map<K: Ord, V>(pairs: impl Iterator<Item = (K, V)>) -> LiteMap<K, V> {
    let mut map = LiteMap::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}

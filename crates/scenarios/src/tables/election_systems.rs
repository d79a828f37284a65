//! How real systems elect a leader.

use super::{Row, Table, says, source};

const ETCD_ELECTION: usize = 0;
const ETCD_WAIT: usize = 1;
const ETCD_LESSOR: usize = 2;
const GO_TIME: usize = 3;
const ETCD_SESSION: usize = 4;
const ETCD_LEASE_CLIENT: usize = 5;
const ZK_RECIPES: usize = 6;
const ZK_PROGRAMMERS: usize = 7;
const ZK_EXPIRY: usize = 8;
const ZK_ADMIN: usize = 9;
const K8S_CLIENT: usize = 10;
const K8S_LEASES: usize = 11;
const CHUBBY: usize = 12;
const CONSUL_SESSIONS: usize = 13;
const CONSUL_ELECTION: usize = 14;
const CONSUL_TTL: usize = 15;
const CONSUL_API: usize = 16;

pub(super) static TABLE: Table = Table {
    id: "election-systems",
    title: "How real systems elect a leader",
    intro: "A leader is the holder of a lease. Systems differ in what the lease is made of, in the number that comes \
            with it, and above all in whose clock decides that it is over. Look for that clock first: an election is \
            as safe as the two clocks, of holder and judge, agree about how long a second is. The number is what \
            protects when they do not.",
    columns: &["Key", "Token", "Who judges expiry, by which clock", "What candidates watch", "Defaults"],
    rows: &[
        Row {
            name: "etcd",
            lab: Some("election"),
            cells: &[
                says(
                    "One key for each candidate: the election’s prefix and the id of the candidate’s lease, bound to \
                     that lease. The key that was created first leads.",
                    &[ETCD_ELECTION],
                ),
                says("The revision at which the leader’s key was created.", &[ETCD_ELECTION]),
                says(
                    "The etcd leader, from deadlines in its memory, by its monotonic clock. A new leader starts every \
                     lease again.",
                    &[ETCD_LESSOR, GO_TIME],
                ),
                says("The key created just before their own, until it is deleted.", &[ETCD_ELECTION, ETCD_WAIT]),
                says(
                    "Session of the Go client: 60 s, kept alive about every third of that.",
                    &[ETCD_SESSION, ETCD_LEASE_CLIENT],
                ),
            ],
        },
        Row {
            name: "ZooKeeper",
            lab: Some("herd"),
            cells: &[
                says(
                    "One ephemeral sequential node for each candidate: ZooKeeper numbers it, and deletes it when the \
                     session ends. The lowest number leads.",
                    &[ZK_RECIPES, ZK_PROGRAMMERS],
                ),
                says(
                    "None is handed out. The zxid at which the node was created (czxid) grows and can serve as one.",
                    &[ZK_PROGRAMMERS],
                ),
                says(
                    "The ensemble, not the client; in the server a session’s end is computed from elapsed time and \
                     rounded up to the next tick. A client that is cut off learns of it when it reconnects.",
                    &[ZK_EXPIRY, ZK_PROGRAMMERS],
                ),
                says("The node with the next lower number; so one deletion wakes one candidate.", &[ZK_RECIPES]),
                says(
                    "The client asks for a timeout; the server keeps it between 2 and 20 ticks, unless it is \
                     configured otherwise.",
                    &[ZK_PROGRAMMERS, ZK_ADMIN],
                ),
            ],
        },
        Row {
            name: "Kubernetes (client-go)",
            lab: Some("claim-rules"),
            cells: &[
                says(
                    "One Lease object with holder, duration and time of renewal. Of two writers that read the same \
                     version of it, one succeeds.",
                    &[K8S_LEASES, K8S_CLIENT],
                ),
                says(
                    "None: the library says of itself that it does not guarantee a single acting leader. The record \
                     counts changes of leadership (leaseTransitions), but nothing compares them.",
                    &[K8S_CLIENT],
                ),
                says(
                    "Each candidate, by its own clock, from the moment at which it saw the record change. The times in \
                     the record are not compared; so offset does not matter, and rate error does.",
                    &[K8S_CLIENT],
                ),
                says("They read the Lease again and again: every 2 s to 4.4 s with the defaults.", &[K8S_CLIENT]),
                says("Lease 15 s; the leader gives up after 10 s without a renewal; a try every 2 s.", &[K8S_CLIENT]),
            ],
        },
        Row {
            name: "Chubby",
            lab: Some("election-systems"),
            cells: &[
                says(
                    "One lock file: candidates try to lock it, and the one that succeeds writes its name into it.",
                    &[CHUBBY],
                ),
                says("A sequencer: name of the lock, mode, and the generation of the lock.", &[CHUBBY]),
                says(
                    "The master, by its own clock. The client’s own, earlier deadline allows for the way of the reply \
                     and for a master’s clock that runs faster.",
                    &[CHUBBY],
                ),
                says("Events of the lock file, such as a change of its contents.", &[CHUBBY]),
                says(
                    "A keep-alive extends the session by 12 s. After a holder’s failure the lock stays closed for the \
                     lock-delay, at most 1 minute: this narrows the window for late requests and does not close it.",
                    &[CHUBBY],
                ),
            ],
        },
        Row {
            name: "Consul",
            lab: Some("election-systems"),
            cells: &[
                says("One key, locked with a session.", &[CONSUL_ELECTION]),
                says(
                    "A sequencer of key, LockIndex and session; LockIndex grows each time the lock is acquired.",
                    &[CONSUL_SESSIONS],
                ),
                says(
                    "The Consul leader, from timers in its memory. The TTL is a lower bound: the leader waits for \
                     twice as long, and starts again after a failover. Failed health checks end a session too.",
                    &[CONSUL_SESSIONS, CONSUL_TTL],
                ),
                says("The key, with a query that waits for a change.", &[CONSUL_ELECTION]),
                says(
                    "Lock-delay 15 s. A session has no TTL unless one is set, from 10 s to 86,400 s.",
                    &[CONSUL_SESSIONS, CONSUL_API],
                ),
            ],
        },
    ],
    sources: &[
        source(
            "etcd source: client/v3/concurrency/election.go",
            "https://github.com/etcd-io/etcd/blob/main/client/v3/concurrency/election.go",
        ),
        source(
            "etcd source: client/v3/concurrency/key.go",
            "https://github.com/etcd-io/etcd/blob/main/client/v3/concurrency/key.go",
        ),
        source(
            "etcd source: server/lease/lessor.go",
            "https://github.com/etcd-io/etcd/blob/main/server/lease/lessor.go",
        ),
        source("Go documentation: package time, Monotonic Clocks", "https://pkg.go.dev/time#hdr-Monotonic_Clocks"),
        source(
            "etcd source: client/v3/concurrency/session.go",
            "https://github.com/etcd-io/etcd/blob/main/client/v3/concurrency/session.go",
        ),
        source("etcd source: client/v3/lease.go", "https://github.com/etcd-io/etcd/blob/main/client/v3/lease.go"),
        source("ZooKeeper Recipes and Solutions", "https://zookeeper.apache.org/doc/current/recipes.html"),
        source("ZooKeeper Programmer’s Guide", "https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html"),
        source(
            "ZooKeeper source: ExpiryQueue.java",
            "https://github.com/apache/zookeeper/blob/master/zookeeper-server/src/main/java/org/apache/zookeeper/server/ExpiryQueue.java",
        ),
        source(
            "ZooKeeper Administrator’s Guide: minSessionTimeout, maxSessionTimeout",
            "https://zookeeper.apache.org/doc/current/zookeeperAdmin.html",
        ),
        source(
            "Kubernetes source: client-go, tools/leaderelection/leaderelection.go",
            "https://github.com/kubernetes/client-go/blob/master/tools/leaderelection/leaderelection.go",
        ),
        source(
            "Kubernetes documentation: Coordinated Leader Election",
            "https://kubernetes.io/docs/concepts/cluster-administration/coordinated-leader-election/",
        ),
        source(
            "Burrows, The Chubby lock service for loosely-coupled distributed systems (OSDI 2006)",
            "https://research.google/pubs/the-chubby-lock-service-for-loosely-coupled-distributed-systems/",
        ),
        source(
            "Consul documentation: Sessions and distributed locks",
            "https://developer.hashicorp.com/consul/docs/automate/session",
        ),
        source(
            "Consul documentation: Application leader election",
            "https://github.com/hashicorp/consul/blob/0d43fc937ae8ce083101598bd65fddf3bfc68cee/website/content/docs/dynamic-app-config/sessions/application-leader-election.mdx",
        ),
        source(
            "Consul source: agent/consul/session_ttl.go",
            "https://github.com/hashicorp/consul/blob/main/agent/consul/session_ttl.go",
        ),
        source("Consul API: Session", "https://developer.hashicorp.com/consul/api-docs/session"),
    ],
};

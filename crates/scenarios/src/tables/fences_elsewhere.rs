//! Where the rule of the fence is found outside this course.

use super::{Row, Table, says, source};

const ZK_INTERNALS: usize = 0;
const KAFKA_KIP_588: usize = 1;
const KAFKA_PRODUCER_FENCED: usize = 2;
const KAFKA_PRODUCER_EPOCH: usize = 3;
const KAFKA_KIP_320: usize = 4;
const KAFKA_ERRORS: usize = 5;
const HDFS_MANAGER: usize = 6;
const HDFS_JOURNAL: usize = 7;
const BK_PROTOCOL: usize = 8;
const BK_FENCED: usize = 9;
const CHUBBY: usize = 10;

pub(super) static TABLE: Table = Table {
    id: "fences-elsewhere",
    title: "The same rule elsewhere",
    intro: "The rule is older than most of its names: a number grows with each change of leader, the thing that is \
            written to remembers the highest number it has seen, and lower ones are refused. A new leader raises the \
            number before it reads what the old one left. Find these three parts in each row. In the lab below, a \
            spare engine takes over a journal that is kept on three nodes.",
    columns: &["The number", "Who checks it", "What the refused one sees"],
    rows: &[
        Row {
            name: "ZooKeeper: its own leaders",
            lab: Some("minority"),
            cells: &[
                says(
                    "The zxid, 64 bits: the upper 32 are the epoch, which each new leader makes one higher than any it \
                     has seen, and the lower 32 count changes.",
                    &[ZK_INTERNALS],
                ),
                says(
                    "The followers. A leader starts only when a majority has acknowledged its first proposal, and a \
                     follower acknowledges it for one server only.",
                    &[ZK_INTERNALS],
                ),
                says(
                    "No majority acknowledges its proposals. What only a minority had stored is discarded when those \
                     servers join the new leader.",
                    &[ZK_INTERNALS],
                ),
            ],
        },
        Row {
            name: "Kafka: producer epoch",
            lab: Some("zombie"),
            cells: &[
                says(
                    "The producer epoch: raised by the transaction coordinator when a producer with the same \
                     transactional.id starts.",
                    &[KAFKA_KIP_588],
                ),
                says(
                    "The transaction coordinator, and the leader of each partition that is written to.",
                    &[KAFKA_KIP_588, KAFKA_PRODUCER_EPOCH],
                ),
                says(
                    "ProducerFencedException, after which the producer has to be closed; from a partition leader \
                     InvalidProducerEpochException.",
                    &[KAFKA_PRODUCER_FENCED, KAFKA_PRODUCER_EPOCH],
                ),
            ],
        },
        Row {
            name: "Kafka: leader epoch",
            lab: Some("minority"),
            cells: &[
                says("The leader epoch of a partition: one higher with each new leader.", &[KAFKA_KIP_320]),
                says(
                    "The broker that is asked compares the epoch in the request with the one that it knows.",
                    &[KAFKA_KIP_320],
                ),
                says(
                    "FENCED_LEADER_EPOCH (74) if its epoch is too old, UNKNOWN_LEADER_EPOCH (75) if it is newer than \
                     the broker’s.",
                    &[KAFKA_ERRORS],
                ),
            ],
        },
        Row {
            name: "HDFS: the writer of the edit log",
            lab: Some("fence-rules"),
            cells: &[
                says("The writer’s epoch; every request to a journal node carries it.", &[HDFS_JOURNAL]),
                says(
                    "Each journal node: below the highest epoch that it has promised it refuses, above it promises \
                     the new one.",
                    &[HDFS_JOURNAL],
                ),
                says(
                    "IOException: epoch 7 is less than the last promised epoch 8. Refused by a majority, the edit is \
                     not written.",
                    &[HDFS_JOURNAL, HDFS_MANAGER],
                ),
            ],
        },
        Row {
            name: "Quorum journal: taking over with epoch e + 1",
            lab: Some("fences-elsewhere"),
            cells: &[
                says(
                    "The highest epoch that a majority of the nodes reports, plus one. HDFS takes over its journal in \
                     this way.",
                    &[HDFS_MANAGER],
                ),
                says(
                    "A majority has to promise the new epoch first. Only then is the old writer’s unfinished end of \
                     the log read and completed: raise before you read.",
                    &[HDFS_MANAGER],
                ),
                says(
                    "A second spare that proposes the same number is refused: proposed epoch 8 <= last promise 8. The \
                     old writer is refused as in the row above.",
                    &[HDFS_JOURNAL],
                ),
            ],
        },
        Row {
            name: "BookKeeper",
            lab: Some("raise-first"),
            cells: &[
                says(
                    "No number but a mark: a ledger has one writer, and whoever recovers the ledger has it marked as \
                     fenced. The log goes on in a new ledger.",
                    &[BK_PROTOCOL],
                ),
                says("Each storage node (bookie) that holds entries of the ledger.", &[BK_PROTOCOL]),
                says("LedgerFencedException: nothing can be added to this ledger any more.", &[BK_FENCED]),
            ],
        },
        Row {
            name: "Chubby: sequencers",
            lab: Some("election-systems"),
            cells: &[
                says("The generation of the lock, in a sequencer with the lock’s name and mode.", &[CHUBBY]),
                says(
                    "The server that gets the request: against Chubby, or against the highest sequencer that it has \
                     seen.",
                    &[CHUBBY],
                ),
                says(
                    "Its request is rejected. A server that cannot check sequencers has only the lock-delay.",
                    &[CHUBBY],
                ),
            ],
        },
    ],
    sources: &[
        source("ZooKeeper Internals", "https://zookeeper.apache.org/doc/current/zookeeperInternals.html"),
        source(
            "Kafka KIP-588: Allow producers to recover gracefully from transaction timeouts",
            "https://cwiki.apache.org/confluence/display/KAFKA/KIP-588:+Allow+producers+to+recover+gracefully+from+transaction+timeouts",
        ),
        source(
            "Kafka Java API: ProducerFencedException",
            "https://kafka.apache.org/41/javadoc/org/apache/kafka/common/errors/ProducerFencedException.html",
        ),
        source(
            "Kafka Java API: InvalidProducerEpochException",
            "https://kafka.apache.org/41/javadoc/org/apache/kafka/common/errors/InvalidProducerEpochException.html",
        ),
        source(
            "Kafka KIP-320: Allow fetchers to detect and handle log truncation",
            "https://cwiki.apache.org/confluence/display/KAFKA/KIP-320%3A+Allow+fetchers+to+detect+and+handle+log+truncation",
        ),
        source(
            "Kafka source: Errors.java",
            "https://github.com/apache/kafka/blob/trunk/clients/src/main/java/org/apache/kafka/common/protocol/Errors.java",
        ),
        source(
            "Hadoop source: QuorumJournalManager.java",
            "https://github.com/apache/hadoop/blob/trunk/hadoop-hdfs-project/hadoop-hdfs/src/main/java/org/apache/hadoop/hdfs/qjournal/client/QuorumJournalManager.java",
        ),
        source(
            "Hadoop source: Journal.java",
            "https://github.com/apache/hadoop/blob/trunk/hadoop-hdfs-project/hadoop-hdfs/src/main/java/org/apache/hadoop/hdfs/qjournal/server/Journal.java",
        ),
        source(
            "BookKeeper documentation: The BookKeeper protocol",
            "https://bookkeeper.apache.org/docs/development/protocol/",
        ),
        source(
            "BookKeeper Java API: BookieException.LedgerFencedException",
            "https://bookkeeper.apache.org/docs/latest/api/javadoc/org/apache/bookkeeper/bookie/BookieException.LedgerFencedException.html",
        ),
        source(
            "Burrows, The Chubby lock service for loosely-coupled distributed systems (OSDI 2006)",
            "https://research.google/pubs/the-chubby-lock-service-for-loosely-coupled-distributed-systems/",
        ),
    ],
};

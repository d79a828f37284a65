//! What a condition of each store can compare.

use super::{Row, Table, says, source};

const PG_ISOLATION: usize = 0;
const PG_UPDATE: usize = 1;
const PG_ERRORS: usize = 2;
const DDB_EXPRESSIONS: usize = 3;
const DDB_UPDATE_ITEM: usize = 4;
const DDB_TRANSACT: usize = 5;
const S3_WRITES: usize = 6;
const S3_PUT: usize = 7;
const ETCD_API: usize = 8;
const ETCD_RPC: usize = 9;
const REDIS_SET: usize = 10;
const REDIS_TRANSACTIONS: usize = 11;
const REDIS_SCRIPTS: usize = 12;
const REDIS_REPLICATION: usize = 13;
const ZK_CLIENT: usize = 14;
const ZK_PROGRAMMERS: usize = 15;

pub(super) static TABLE: Table = Table {
    id: "compare",
    title: "What each store can compare",
    intro: "A fence is one comparison and one write that nothing can come between. So ask of a store what its \
            conditions may look at, and whether check and write are one step. Where a store can only say “equal”, the \
            fence is built from versions: whoever raises it changes the version, and the late writer’s version no \
            longer matches.",
    columns: &[
        "What a condition may look at",
        "Check and write in one step?",
        "What failure looks like",
        "Can it say “greater than”?",
        "As a fence",
    ],
    rows: &[
        Row {
            name: "SQL (PostgreSQL)",
            lab: Some("fence-sql"),
            cells: &[
                says("Any column of the rows that the statement touches, and other rows by a subquery.", &[PG_UPDATE]),
                says(
                    "Yes for one UPDATE. Under READ COMMITTED it waits for a transaction that is changing the row, \
                     and then tests its WHERE clause again on the new version of the row.",
                    &[PG_ISOLATION],
                ),
                says(
                    "Not an error: the command reports UPDATE 0. Under REPEATABLE READ or SERIALIZABLE a row that \
                     was changed meanwhile ends the transaction with serialization_failure (SQLSTATE 40001), and the \
                     client retries.",
                    &[PG_UPDATE, PG_ISOLATION, PG_ERRORS],
                ),
                says("Yes: fence <= 12 is an ordinary condition.", &[PG_UPDATE]),
                says(
                    "First update the fence row where fence <= the token. One row: go on with the inserts in the same \
                     transaction. No row: roll back.",
                    &[PG_UPDATE, PG_ISOLATION],
                ),
            ],
        },
        Row {
            name: "DynamoDB",
            lab: Some("fence-dynamodb"),
            cells: &[
                says(
                    "Attributes of the one item that is written: six comparisons, BETWEEN, IN, and the functions \
                     attribute_exists, attribute_not_exists, attribute_type, begins_with, contains and size. There is \
                     no function for the current time.",
                    &[DDB_EXPRESSIONS],
                ),
                says(
                    "Yes. Another item can be looked at only with a ConditionCheck in a transaction of at most 100 \
                     actions, no two of them on one item.",
                    &[DDB_UPDATE_ITEM, DDB_TRANSACT],
                ),
                says(
                    "ConditionalCheckFailedException (HTTP 400); for a transaction TransactionCanceledException, with \
                     one reason for each action, in order: ConditionalCheckFailed, None, …",
                    &[DDB_UPDATE_ITEM, DDB_TRANSACT],
                ),
                says("Yes: <, <=, > and >= on numbers.", &[DDB_EXPRESSIONS]),
                says(
                    "Raise it with an update on condition fence <= :t. Each later transaction carries a ConditionCheck \
                     on the fence item, beside its puts.",
                    &[DDB_UPDATE_ITEM, DDB_TRANSACT],
                ),
            ],
        },
        Row {
            name: "Amazon S3",
            lab: Some("fence-s3"),
            cells: &[
                says(
                    "Whether an object with this key exists (If-None-Match: *), or whether its ETag is the given one \
                     (If-Match). Nothing inside the object.",
                    &[S3_WRITES],
                ),
                says("Yes, for that one object. There is no transaction over two objects.", &[S3_WRITES]),
                says(
                    "412 Precondition Failed. 409 ConditionalRequestConflict if another request to the key came in \
                     between: read again and retry. 404 if If-Match names an object that is gone.",
                    &[S3_WRITES, S3_PUT],
                ),
                says("No: an ETag is equal or not, and has no order.", &[S3_WRITES]),
                says(
                    "A manifest names the output that counts, and the token. Raising the fence is rewriting the \
                     manifest with If-Match, which gives it a new ETag; a late writer still sends the old one.",
                    &[S3_WRITES],
                ),
            ],
        },
        Row {
            name: "etcd",
            lab: Some("acquire"),
            cells: &[
                says(
                    "Of any keys: the value, the version, the revision of creation, the revision of the last change, \
                     and the lease.",
                    &[ETCD_RPC],
                ),
                says("Yes: a transaction is If, Then and Else over many keys, applied at one revision.", &[ETCD_API]),
                says(
                    "Not an error: the answer says succeeded = false, and the operations under Else were run instead.",
                    &[ETCD_API, ETCD_RPC],
                ),
                says("Yes: EQUAL, GREATER, LESS and NOT_EQUAL.", &[ETCD_RPC]),
                says(
                    "For data in etcd itself: put the check that the lock’s key still has my revision of creation \
                     into the same transaction as the write. The token is that revision.",
                    &[ETCD_API, ETCD_RPC],
                ),
            ],
        },
        Row {
            name: "Redis",
            lab: Some("cache-failover"),
            cells: &[
                says(
                    "SET: whether the key exists (NX, XX), and from version 8.4 on whether its value or digest is the \
                     given one (IFEQ, IFNE, IFDEQ, IFDNE). WATCH: whether keys were touched. A script: whatever it \
                     reads.",
                    &[REDIS_SET, REDIS_TRANSACTIONS, REDIS_SCRIPTS],
                ),
                says(
                    "Yes, on one server: a command, a MULTI … EXEC block or a script runs while no other client is \
                     served.",
                    &[REDIS_TRANSACTIONS, REDIS_SCRIPTS],
                ),
                says(
                    "A nil reply of SET; a nil reply of EXEC, because a watched key was touched; from a script, what \
                     the script returns.",
                    &[REDIS_SET, REDIS_TRANSACTIONS, REDIS_SCRIPTS],
                ),
                says("Only in a script, which can compare numbers. SET cannot.", &[REDIS_SCRIPTS, REDIS_SET]),
                says(
                    "A script that compares, sets and writes would do, for data on that server. But replicas are \
                     written to later, so a failover can take back a fence that was already raised.",
                    &[REDIS_SCRIPTS, REDIS_REPLICATION],
                ),
            ],
        },
        Row {
            name: "ZooKeeper",
            lab: Some("election-systems"),
            cells: &[
                says(
                    "Whether a node exists, and whether the version of its data is the given one.",
                    &[ZK_CLIENT, ZK_PROGRAMMERS],
                ),
                says(
                    "Yes: setData and delete take the expected version, and multi runs several operations, checks \
                     among them, all or none.",
                    &[ZK_CLIENT],
                ),
                says(
                    "KeeperException.BadVersion, or NodeExists when the node to be created is there already.",
                    &[ZK_CLIENT],
                ),
                says("No: a version is equal or not; –1 means “any”.", &[ZK_CLIENT]),
                says(
                    "Raising the fence is setData on a fence node, which raises its version. Each later multi begins \
                     with a check of the version that my own raise returned.",
                    &[ZK_CLIENT],
                ),
            ],
        },
    ],
    sources: &[
        source(
            "PostgreSQL documentation: Transaction Isolation",
            "https://www.postgresql.org/docs/current/transaction-iso.html",
        ),
        source("PostgreSQL documentation: UPDATE", "https://www.postgresql.org/docs/current/sql-update.html"),
        source(
            "PostgreSQL documentation: Error Codes",
            "https://www.postgresql.org/docs/current/errcodes-appendix.html",
        ),
        source(
            "Amazon DynamoDB Developer Guide: condition and filter expressions",
            "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html",
        ),
        source(
            "Amazon DynamoDB API Reference: UpdateItem",
            "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html",
        ),
        source(
            "Amazon DynamoDB API Reference: TransactWriteItems",
            "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html",
        ),
        source(
            "Amazon S3 User Guide: conditional writes",
            "https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html",
        ),
        source(
            "Amazon S3 API Reference: PutObject",
            "https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html",
        ),
        source("etcd documentation: API", "https://etcd.io/docs/v3.5/learning/api/"),
        source(
            "etcd source: rpc.proto, message Compare",
            "https://github.com/etcd-io/etcd/blob/main/api/etcdserverpb/rpc.proto",
        ),
        source("Redis documentation: SET", "https://redis.io/docs/latest/commands/set/"),
        source(
            "Redis documentation: Transactions",
            "https://redis.io/docs/latest/develop/using-commands/transactions/",
        ),
        source(
            "Redis documentation: Scripting with Lua",
            "https://redis.io/docs/latest/develop/programmability/eval-intro/",
        ),
        source(
            "Redis documentation: Replication",
            "https://redis.io/docs/latest/operate/oss_and_stack/management/replication/",
        ),
        source(
            "ZooKeeper Java API: class ZooKeeper",
            "https://zookeeper.apache.org/doc/current/apidocs/zookeeper-server/org/apache/zookeeper/ZooKeeper.html",
        ),
        source("ZooKeeper Programmer’s Guide", "https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html"),
    ],
};

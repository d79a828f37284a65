//! What plays which part on AWS, and what only looks as if it did.

use super::{Row, Table, says, source};

const DDB_UPDATE_ITEM: usize = 0;
const DDB_TRANSACT: usize = 1;
const LOCK_CLIENT_README: usize = 2;
const LOCK_CLIENT_SOURCE: usize = 3;
const S3_WRITES: usize = 4;
const AURORA: usize = 5;
const PG_ISOLATION: usize = 6;
const SFN_START: usize = 7;
const SFN_SUCCESS: usize = 8;
const EKS: usize = 9;
const K8S_ELECTION: usize = 10;
const K8S_CLIENT: usize = 11;
const SQS_RECEIVE: usize = 12;
const SQS_FIFO: usize = 13;
const DDB_TTL: usize = 14;
const CACHE_REPLICATION: usize = 15;
const CACHE_CONSISTENCY: usize = 16;
const S3_OBJECT_LOCK: usize = 17;
const S3_VERSIONING: usize = 18;
const DDB_GLOBAL: usize = 19;

pub(super) static TABLE: Table = Table {
    id: "aws",
    title: "Who plays which part on AWS",
    intro: "Two parts must be filled. The authority decides who holds the lease, and must be linearizable: once it has \
            said yes to one, it never says yes to another from older knowledge. The fence sits where the data is \
            written, and compares and writes in one step. The last column lists what is often taken for one of them \
            and is neither.",
    columns: &["As the authority", "As the fence", "Only a look-alike: what breaks"],
    rows: &[
        Row {
            name: "DynamoDB: a lease in an item",
            lab: Some("lease-item"),
            cells: &[
                says(
                    "One conditional update claims the item and adds 1 to its epoch. A condition cannot read the time, \
                     so the claimant brings its own.",
                    &[DDB_UPDATE_ITEM],
                ),
                None,
                None,
            ],
        },
        Row {
            name: "DynamoDB: conditional writes",
            lab: Some("fence-dynamodb"),
            cells: &[
                None,
                says(
                    "An update on condition fence <= :t raises the fence; a ConditionCheck guards the puts of a \
                     transaction.",
                    &[DDB_UPDATE_ITEM, DDB_TRANSACT],
                ),
                None,
            ],
        },
        Row {
            name: "DynamoDB Lock Client",
            lab: Some("claim-rules"),
            cells: &[
                says(
                    "A lock is taken over only if its record version number has stayed the same for a full lease, by \
                     the observer’s own clock. No time of day is stored.",
                    &[LOCK_CLIENT_README],
                ),
                says(
                    "None of its own: the record version number is random and has no order, and by default a release \
                     deletes the item. Add a counter that stays.",
                    &[LOCK_CLIENT_README, LOCK_CLIENT_SOURCE],
                ),
                None,
            ],
        },
        Row {
            name: "S3: conditional writes",
            lab: Some("fence-s3"),
            cells: &[
                says(
                    "If-None-Match: * lets exactly one create the object. It does not expire: the object of a dead \
                     winner stays until somebody deletes it.",
                    &[S3_WRITES],
                ),
                says("A manifest that is rewritten only with If-Match on the ETag last seen.", &[S3_WRITES]),
                None,
            ],
        },
        Row {
            name: "Aurora and RDS: a transaction",
            lab: Some("fence-sql"),
            cells: &[
                says(
                    "The lock on a row, or a compare-and-set on its version, for data of the same database.",
                    &[AURORA, PG_ISOLATION],
                ),
                says(
                    "The fence row is updated on condition in the transaction that writes the data.",
                    &[AURORA, PG_ISOLATION],
                ),
                None,
            ],
        },
        Row {
            name: "Step Functions (standard workflows)",
            lab: Some("side-effects"),
            cells: &[
                says(
                    "Starting a run whose name was used already fails with ExecutionAlreadyExists, unless that run is \
                     still open and has the same input. A name is free again after 90 days.",
                    &[SFN_START],
                ),
                says(
                    "A task that answers after its time is refused with TaskTimedOut. That protects the workflow’s \
                     own state, and nothing else that the late worker writes to.",
                    &[SFN_SUCCESS],
                ),
                None,
            ],
        },
        Row {
            name: "EKS: Lease objects",
            lab: Some("election"),
            cells: &[
                says(
                    "The cluster’s API server, on three etcd instances: of two updates to one version of a Lease, one \
                     succeeds.",
                    &[EKS, K8S_ELECTION],
                ),
                says(
                    "Not part of it: the client library says that it does not guarantee a single acting leader.",
                    &[K8S_CLIENT],
                ),
                None,
            ],
        },
        Row {
            name: "SQS visibility timeout",
            lab: Some("zombie"),
            cells: &[
                None,
                None,
                says(
                    "When the timeout ends, a second consumer gets the message while the first may still be working, \
                     and your store knows nothing of either.",
                    &[SQS_RECEIVE],
                ),
            ],
        },
        Row {
            name: "SQS FIFO deduplication",
            lab: Some("side-effects"),
            cells: &[
                None,
                None,
                says(
                    "It recognises a message that is sent twice within 5 minutes; one that is sent again later, or \
                     received and worked on twice, goes through.",
                    &[SQS_FIFO, SQS_RECEIVE],
                ),
            ],
        },
        Row {
            name: "DynamoDB TTL",
            lab: Some("ttl-trap"),
            cells: &[
                None,
                None,
                says(
                    "An expired item is deleted some time within days and can be read and written until then, and if \
                     it carried the epoch, the count starts again at 1.",
                    &[DDB_TTL],
                ),
            ],
        },
        Row {
            name: "ElastiCache locks",
            lab: Some("cache-failover"),
            cells: &[
                None,
                None,
                says(
                    "With replicas that are written to later, the primary can fail before a lock has reached the one \
                     that is promoted, and then a second client gets the same lock with the same count.",
                    &[CACHE_REPLICATION, CACHE_CONSISTENCY],
                ),
            ],
        },
        Row {
            name: "S3 Object Lock",
            lab: Some("fence-s3"),
            cells: &[
                None,
                None,
                says(
                    "It keeps stored versions from being deleted or overwritten, so a zombie’s PUT to the same key is \
                     stored as the newest version, and readers get it.",
                    &[S3_OBJECT_LOCK, S3_VERSIONING],
                ),
            ],
        },
        Row {
            name: "DynamoDB global table with eventual consistency (MREC)",
            lab: Some("handover"),
            cells: &[
                None,
                None,
                says(
                    "Each Region evaluates a condition on its own copy, so two Regions can both grant, and then the \
                     later write silently replaces the other.",
                    &[DDB_GLOBAL],
                ),
            ],
        },
    ],
    sources: &[
        source(
            "Amazon DynamoDB API Reference: UpdateItem",
            "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html",
        ),
        source(
            "Amazon DynamoDB API Reference: TransactWriteItems",
            "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html",
        ),
        source(
            "Amazon DynamoDB Lock Client: README",
            "https://github.com/awslabs/amazon-dynamodb-lock-client/blob/master/README.md",
        ),
        source(
            "Amazon DynamoDB Lock Client source: ReleaseLockOptions.java",
            "https://github.com/awslabs/amazon-dynamodb-lock-client/blob/master/src/main/java/com/amazonaws/services/dynamodbv2/ReleaseLockOptions.java",
        ),
        source(
            "Amazon S3 User Guide: conditional writes",
            "https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html",
        ),
        source(
            "Amazon Aurora User Guide: Working with Amazon Aurora PostgreSQL",
            "https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraPostgreSQL.html",
        ),
        source(
            "PostgreSQL documentation: Transaction Isolation",
            "https://www.postgresql.org/docs/current/transaction-iso.html",
        ),
        source(
            "AWS Step Functions API Reference: StartExecution",
            "https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html",
        ),
        source(
            "AWS Step Functions API Reference: SendTaskSuccess",
            "https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html",
        ),
        source(
            "Amazon EKS User Guide: Amazon EKS architecture",
            "https://docs.aws.amazon.com/eks/latest/userguide/eks-architecture.html",
        ),
        source(
            "Kubernetes documentation: Coordinated Leader Election",
            "https://kubernetes.io/docs/concepts/cluster-administration/coordinated-leader-election/",
        ),
        source(
            "Kubernetes source: client-go, tools/leaderelection/leaderelection.go",
            "https://github.com/kubernetes/client-go/blob/master/tools/leaderelection/leaderelection.go",
        ),
        source(
            "Amazon SQS API Reference: ReceiveMessage",
            "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html",
        ),
        source(
            "Amazon SQS Developer Guide: FIFO queue key terms",
            "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-key-terms.html",
        ),
        source(
            "Amazon DynamoDB Developer Guide: Working with expired items",
            "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ttl-expired-items.html",
        ),
        source(
            "Amazon ElastiCache User Guide: High availability using replication groups",
            "https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/Replication.html",
        ),
        source(
            "Amazon ElastiCache User Guide: Consistency",
            "https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/Durability.Consistency.html",
        ),
        source(
            "Amazon S3 User Guide: Locking objects with Object Lock",
            "https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html",
        ),
        source(
            "Amazon S3 User Guide: How S3 Versioning works",
            "https://docs.aws.amazon.com/AmazonS3/latest/userguide/versioning-workflows.html",
        ),
        source(
            "Amazon DynamoDB Developer Guide: How global tables work",
            "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html",
        ),
    ],
};

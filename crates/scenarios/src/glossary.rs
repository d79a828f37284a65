//! The words of the course, each in one or two sentences.

/// A word and what it means here.
#[derive(Debug)]
pub struct Entry {
    /// The word, as it stands in the middle of a sentence.
    pub term: &'static str,
    /// What it means, as plain text.
    pub meaning: &'static str,
}

/// The entry for this word.
pub fn find(term: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.term == term)
}

const fn entry(term: &'static str, meaning: &'static str) -> Entry {
    Entry { term, meaning }
}

/// Every word, in alphabetical order whatever the case of its letters.
pub static ALL: [Entry; 47] = [
    entry(
        "AOF",
        "The append-only file in which Redis logs its writes, so that a restart finds them again. How much a crash \
         loses depends on how often the file is fsynced; the default is once a second.",
    ),
    entry("candidate", "A machine that waits to become the holder of a lease, or the leader."),
    entry(
        "compare-and-set",
        "A conditional write that succeeds only if the value, or its version, is still the one that the writer read.",
    ),
    entry(
        "conditional write",
        "A request that compares and writes in one step, so that nothing can happen in between.",
    ),
    entry(
        "deadline",
        "When the lock service lets a lease expire, on the monotonic clock of its leader. It is kept only in the \
         leader’s memory.",
    ),
    entry(
        "drift",
        "What a clock that runs at a slightly wrong rate adds up to: the longer the time measured, the larger the \
         error.",
    ),
    entry(
        "epoch",
        "A number that grows with each holder or leader. Other systems call it term or generation; it does the work of \
         a fencing token.",
    ),
    entry(
        "ETag",
        "The label that S3 gives to the content of an object. It can be compared for being equal, and has no order.",
    ),
    entry("expiry", "The end of a lease whose deadline has passed; the service deletes the keys that are bound to it."),
    entry("fence", "The highest token that the store has accepted; the store refuses writes with lower ones."),
    entry("fencing token", "A number that grows with every grant and that the resource checks with every write."),
    entry("fsync", "The call that waits until data has reached the disk. What was not fsynced can be lost in a crash."),
    entry("grant", "The act by which the lock service gives a lease to a holder, with a new token."),
    entry("herd", "Many candidates that all wake up because of one change, although only one of them can win."),
    entry("holder", "The machine to which the lease was granted, as long as the service lets it run."),
    entry(
        "idempotency key",
        "A name for one intended effect, sent with the request and stored with the effect, so that a second request of \
         the same name is recognised and dropped.",
    ),
    entry("keep-alive", "A request that renews a lease: the leader moves the deadline. It is also called a renewal."),
    entry("lease", "A lock that expires by itself unless it is renewed."),
    entry("lock", "A promise that one holder at a time may act."),
    entry("lock service", "The authority that grants leases."),
    entry(
        "lock-delay",
        "A time for which a lock stays closed after its holder has failed. It gives late requests time to arrive, and \
         does not exclude that one arrives later still.",
    ),
    entry(
        "log",
        "The list of changes that the nodes of a lock service copy from their leader. What is in it on a majority of \
         the disks survives the leader.",
    ),
    entry(
        "majority",
        "More than half of the nodes, also called a quorum. Any two majorities have a node in common, so neither can \
         decide without the knowledge of the other.",
    ),
    entry(
        "margin",
        "How much earlier than the deadline a holder stops. It covers delay and rate error, and no pause between check \
         and action.",
    ),
    entry("monotonic clock", "A clock that is never set and only runs, at its own rate. Use it to measure durations."),
    entry("offset", "The difference between a wall clock and true time. It differs from drift: it need not grow."),
    entry(
        "orphan",
        "A claim in the store whose holder is gone: the row says that somebody runs the job, and nobody does.",
    ),
    entry(
        "process pause",
        "A process stands still, for a garbage collection for example, while the clocks of its machine run on. A check \
         of the stop time after waking up notices it.",
    ),
    entry(
        "raising the fence",
        "The first conditional write of a new holder: it sets the fence to the new token, before the holder reads or \
         writes anything else.",
    ),
    entry(
        "release",
        "Giving a lease back before it expires. A revoke deletes only the keys that are bound to that lease, so it \
         cannot free a lock that is somebody else’s by now.",
    ),
    entry("resource", "What is protected. Here it is the store, which is also where the token is checked."),
    entry("revision", "The lock service’s counter: one more with each committed change of keys."),
    entry(
        "sequencer",
        "The form that the fencing token has in Chubby: name of the lock, mode and generation, to be sent along with \
         each request.",
    ),
    entry(
        "sparse index",
        "An index that holds only the rows that have a certain attribute. A row that is no longer claimed drops out of \
         it, so the index of claims stays small.",
    ),
    entry("step", "A sudden change of a wall clock, forwards or backwards, because somebody or something set it."),
    entry(
        "stop time",
        "When a holder must stop acting, on its own monotonic clock: when it sent the last request that succeeded, \
         plus the length of the lease, minus the margin.",
    ),
    entry("store", "Where the job’s data is, and where the fence is kept and compared."),
    entry(
        "sweeper",
        "A process that looks for orphans and puts them back into the queue, on the condition that nothing has changed \
         since it looked.",
    ),
    entry(
        "term",
        "The period of one leader of the lock service. Each election starts a higher term, and a node ignores leaders of \
         lower ones.",
    ),
    entry("true time", "The simulator’s own clock, which no machine can read."),
    entry(
        "TTL",
        "Time to live: how long a lease lasts without a renewal. In DynamoDB it means something weaker: an item may be \
         deleted some time after it.",
    ),
    entry(
        "two sightings",
        "The sweeper acts only when it has seen the same claim twice, with some time in between. That avoids needless \
         work, and is not what makes it safe.",
    ),
    entry(
        "VM pause",
        "A whole virtual machine stands still, and its clocks with it. After waking up, even a check of the stop time \
         passes; only the fence helps.",
    ),
    entry(
        "WAIT",
        "A Redis command that waits until some replicas have acknowledged earlier writes, and returns how many did. It \
         makes a loss in a failover less likely, and does not exclude it.",
    ),
    entry("wall clock", "The clock that tells the time of day. It can be set, so it steps, and it has an offset."),
    entry("watch", "A request to be told when a key changes, so that nobody needs to ask again and again."),
    entry("zombie", "A machine that acts on a lock it no longer holds, and does not know it."),
];

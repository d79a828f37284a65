//! The twelve parts of the course, in order, each with a reason to be there.

/// A part of the course.
#[derive(Debug)]
pub struct Part {
    /// Its number, from 1.
    pub number: u8,
    /// What it is called.
    pub name: &'static str,
    /// Why it exists, what its new words mean and what to try: paragraphs of plain text.
    pub intro: &'static [&'static str],
}

/// The part with this number.
pub fn find(number: u8) -> Option<&'static Part> {
    ALL.iter().find(|part| part.number == number)
}

/// Every part, in order.
pub static ALL: [Part; 12] = [
    Part {
        number: 1,
        name: "The model",
        intro: &[
            "Several machines could do a job, and exactly one of them may. A lock is the promise that one holder at a \
             time acts. If its holder dies, a plain lock blocks everybody for ever. A lease is a lock that expires by \
             itself unless it is renewed. But a holder that was only paused does not notice that its lease is over. \
             For that case there is the fencing token: a number that grows with every grant, and that the protected \
             store compares.",
            "Try the same crash and the same pause on a lock, a timeout, a lease, and a lease with a fence.",
        ],
    },
    Part {
        number: 2,
        name: "Acquire, renew, release",
        intro: &[
            "A lease is three requests. A grant gives the lease and creates a key that is bound to it. The lock \
             service, the authority that grants leases, stores this in a log that is copied to a majority of its \
             nodes. A keep-alive renews the lease: the service’s leader moves the deadline in its memory, and nothing \
             is written. A release deletes the key.",
            "The holder counts its stop time, after which it must not act, from before it sent the request. Follow \
             each request to see what is stored where. Then release a lock in the wrong way, and free somebody else’s.",
        ],
    },
    Part {
        number: 3,
        name: "Time",
        intro: &[
            "A lease is about time, and no machine knows the true time. Each has two clocks. The wall clock tells the \
             time of day; it can be set, so it steps, and it has an offset: the difference from true time. The \
             monotonic clock cannot be set; it only runs, at a rate that is slightly wrong. The margin is how much \
             earlier than the deadline a holder stops.",
            "Step B’s wall clock back, and see how late B would stop by it. Then find out what a margin covers, and \
             why no margin covers a pause between the check and the action.",
        ],
    },
    Part {
        number: 4,
        name: "Pause, zombie, fence",
        intro: &[
            "Here is the story that the whole course refers to. A worker freezes with a write in its hands. Its lease \
             expires, another worker takes over, and the first one wakes up: a zombie, which acts on a lock that it no \
             longer holds. The store refuses its write, because the store remembers the fence, the highest token that \
             it has accepted. The new holder raised the fence with its first write, before it read anything.",
            "Switch the fence off and count the customers who pay twice. Then raise late, check in two steps, or move \
             the data to S3, and find the gap each time.",
        ],
    },
    Part {
        number: 5,
        name: "Conditional writes",
        intro: &[
            "A fence needs a conditional write: one step that compares and writes, with nothing in between. Every \
             store has one, and each can compare something else. SQL and DynamoDB can say “at most 12”. S3 can only \
             ask whether an object is still the one whose ETag, the label of its content, you saw. A number that \
             grows with each holder is called an epoch here.",
            "Write the fence for each store, and look at the real requests and errors. Then keep a lease in an item, \
             give D a clock that is 3 s fast, and see which rule for claiming survives that.",
        ],
    },
    Part {
        number: 6,
        name: "Crashes and orphans",
        intro: &[
            "A lease that expires frees the lock. It does not finish the job. When B dies, the row still says that B \
             runs it: an orphan, a claim in the store whose holder is gone. Something must look for orphans, and that \
             is the sweeper. It reads a sparse index, which lists only rows that are claimed, and puts an orphan back \
             into the queue, on the condition that nothing has changed.",
            "Let the sweeper be wrong, and see that this costs work and never data. Then expire a thousand leases at \
             once, and stop it from causing a storm.",
        ],
    },
    Part {
        number: 7,
        name: "Elections and single writers",
        intro: &[
            "A leader is the holder of a lease, and its epoch is a fencing token under another name. Candidates wait \
             until the leader’s key is gone. They do so with a watch: the service tells them when a key changes. If \
             all of them watch one key, its deletion wakes the whole herd, and one of them wins.",
            "Elect a leader, let it die, and count who wakes up. Compare the clocks by which real systems judge that \
             a leader is gone. Then hand a single writer over to another Region, a site of its own far away, and \
             work out how long nobody may write.",
        ],
    },
    Part {
        number: 8,
        name: "The lock service fails",
        intro: &[
            "The lock service is made of machines, too. A service with a replicated log survives the loss of a \
             minority of its nodes, because each promise is on a majority; each leader rules for one term, and terms \
             only grow. A cache with a replica answers before the replica knows, so a failover forgets. Redlock asks \
             five independent servers, and trusts their wall clocks and their memory.",
            "Kill the leader, cut the network, lose the primary, and restart a server without its memory. Note who \
             holds the lock each time, and with which token. Then run the same faults with a fence.",
        ],
    },
    Part {
        number: 9,
        name: "Do you need a lock?",
        intro: &[
            "A lock service is one more thing that can fail. If all that you protect is in one database, a condition \
             on the write is authority and fence in one. Compare-and-set is such a write: it succeeds only if the \
             value is still the one you read. An efficiency lock saves work that could be done twice without harm. A \
             correctness lock guards what must not be, and only that one needs a fence.",
            "Do one job in three ways, and count what is charged, refused and wasted. Then compare four designs under \
             the same faults.",
        ],
    },
    Part {
        number: 10,
        name: "From your code to the disk",
        intro: &[
            "A call in your code passes through many hands: library, network, leader, log, disk. The log counts as \
             written after an fsync, the call that waits until the disk has the data. The leader answers when a \
             majority has done that, and does not wait for the rest. A keep-alive needs none of it, which is why it \
             is cheap, and why deadlines do not survive a leader.",
            "Trace three requests down and back. Slow the disk until the leader is lost. Then let a second process \
             renew for your application, freeze the application, and see what protects you.",
        ],
    },
    Part {
        number: 11,
        name: "On AWS",
        intro: &[
            "Names on a price list say little about guarantees. So ask two things of each service. Is it the \
             authority: does it decide who holds the lease, and never contradict itself? Is it the fence: does it \
             refuse a late write in the very step that would apply it? Several services answer yes to one of the two. \
             Others only look like it: they hide, delete, expire or deduplicate after a while, and then let the late \
             writer through.",
            "Read what breaks for each look-alike, and open the lab that shows it.",
        ],
    },
    Part {
        number: 12,
        name: "What you have learned",
        intro: &[
            "Three rules carry all of this. Act only before your own stop time. Let the store refuse lower tokens. \
             Raise the fence before you read or write. Everything else in the course is a way in which one of them is \
             broken by accident.",
            "Read the story once more, beat by beat, and open any beat in the lab. Take the card with you. Put the \
             eleven questions to a system of your own, and follow the link of each question that you cannot answer. \
             Come back to the drills in a few days: recalling teaches more than reading again.",
        ],
    },
];

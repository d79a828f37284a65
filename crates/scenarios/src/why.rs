//! One sentence for each event: what happened and why.

use lease_lab_sim::event::{Act, Event, GaveUpBecause, Kind, LostBecause, RefusedBecause, RestartedLease};
use lease_lab_sim::machine::MachineId;
use lease_lab_sim::message::{LeaseId, NO_TOKEN, Token};
use lease_lab_sim::settings::{Limit, Plan, Renewer, ServiceKind};
use lease_lab_sim::time::{Mono, Span, grouped};

/// Whether this build has more than the billing story.
const LABS: bool = cfg!(feature = "labs");

/// What happened and why, in one sentence of plain English.
pub fn why(event: &Event, plan: &Plan) -> String {
    let machine = event.machine;
    if LABS && let Some(sentence) = redis(event, plan) {
        return sentence;
    }
    match &event.kind {
        // A session lock is in the database, which tells of the same events in other words.
        Kind::LeaseGranted { worker, deadline, .. } if machine == MachineId::Store => format!(
            "{worker}’s session gets the lock. The server will end the session if it hears nothing from it until {}; \
             {worker} has no token and no stop time.",
            deadline.told()
        ),
        Kind::LeaseRenewed { worker, deadline, .. } if machine == MachineId::Store => {
            format!("The server hears from {worker}’s session, and lets it live until {}.", deadline.told())
        }
        Kind::RenewalRefused { worker, .. } if machine == MachineId::Store => {
            format!("{worker}’s session has ended, and its lock with it; {worker} learns it now.")
        }
        Kind::LeaseExpired { worker, .. } if machine == MachineId::Store => format!(
            "The server has heard nothing from {worker}’s session for too long: it ends the session, and the lock is \
             free. It cannot tell {worker}."
        ),
        Kind::LockReleased { worker, .. } if machine == MachineId::Store => {
            format!("{worker} closes its session, and the lock is free.")
        }
        Kind::LockBusy { worker, holder, .. } if plan.service == ServiceKind::Database => {
            format!("{worker} finds that {holder}’s session holds the lock, and waits.")
        }
        Kind::LockUnreachable { worker } if plan.service == ServiceKind::Database => {
            format!("{worker} gets no answer from the database in time.")
        }
        Kind::LockAcquired { worker, stop_time, .. }
            if plan.lock_rules.limit != Limit::Lease && stop_time.is_never() =>
        {
            format!("{worker} learns that it holds the lock, without any limit that the service knows of.")
        }
        Kind::LockAcquired { worker, token: NO_TOKEN, stop_time: Mono::NEVER, .. } => {
            format!("{worker} learns that it holds the lock. It knows no time at which it must stop, and has no token.")
        }
        Kind::LockAcquired { worker, token, stop_time: Mono::NEVER, .. } => {
            format!("{worker} has set the row’s version to {token} and owns the row until somebody sets another.")
        }
        Kind::RenewalConfirmed { worker, stop_time: Mono::NEVER, .. } => {
            format!("{worker} learns that its session is alive.")
        }
        // A table of lease items decides nothing by itself, so it tells of the same events in other words.
        Kind::LeaseGranted { worker, token, deadline, stop_time, .. } if machine == MachineId::Table => {
            let stops = stop_time.map_or(String::new(), |stop| format!(" and {worker} must stop at {}", stop.told()));
            format!(
                "{worker}’s claim passes its condition: the item’s epoch becomes {token}, which is {worker}’s token; \
                 lease_until says {},{stops}.",
                deadline.told()
            )
        }
        Kind::LeaseRenewed { worker, deadline, stop_time, .. } if machine == MachineId::Table => format!(
            "{worker} renews by a write to its item: lease_until says {}, the record version number is new, and \
             {worker}’s stop time becomes {}.",
            deadline.told(),
            stop_time.told()
        ),
        Kind::RenewalRefused { worker, .. } if machine == MachineId::Table => {
            format!("{worker}’s renewal fails its condition: the item is no longer of {worker}’s claim.")
        }
        Kind::LockReleased { worker, token, .. } if machine == MachineId::Table => format!(
            "{worker} releases its claim: holder is removed and lease_until is zero; the item stays, because it carries \
             the epoch, {}.",
            token.unwrap_or(0)
        ),
        Kind::ConditionChecked { worker, condition, passed, .. } if LABS => {
            let outcome = if *passed { "holds, so the item changes" } else { "does not hold, so nothing changes" };
            format!("{worker} sends a conditional write; its condition “{condition}” {outcome}.")
        }
        Kind::ClaimReplaced { worker, token, lease_until, by, .. } if LABS => format!(
            "{by} replaces {worker}’s claim of epoch {token}, whose lease_until says {}: nobody expires a lease here, \
             the next claimant overwrites it.",
            lease_until.told()
        ),
        Kind::ItemDeleted { epoch, lease_until, .. } if LABS => format!(
            "The table’s background process deletes the item, whose lease_until {} has been over for long enough; the \
             epoch, {epoch}, is gone with it.",
            lease_until.told()
        ),
        Kind::ItemRestored { was, epoch: 0, .. } if LABS => {
            format!("The table is restored to a time before the item was first written; its epoch was {was}.")
        }
        Kind::ItemRestored { was: 0, lease: None, epoch, .. } if LABS => {
            format!("There is no item yet; one without a holder is made, so that the next epoch is above {epoch}.")
        }
        Kind::ItemRestored { was, epoch, .. } if LABS => {
            format!("The table is restored from an earlier time: the item’s epoch was {was} and is now {epoch}.")
        }
        Kind::LeaseGranted { worker, token, revision, deadline, .. } if revision > token => format!(
            "The key before {worker}’s is gone, so {worker}’s own key is the oldest now: it leads, and its token is \
             still the revision at which it queued, {token}; its lease runs until {}.",
            deadline.told()
        ),
        Kind::LeaseGranted { worker, token, deadline, .. } if deadline.is_never() => format!(
            "{worker} acquires the lock: its key is created at revision {token}, and the service will never delete it by \
             itself."
        ),
        Kind::LeaseGranted { worker, token, deadline, stop_time, .. } => {
            let stops = stop_time.map_or(String::new(), |stop| format!(", and {worker} must stop at {}", stop.told()));
            format!(
                "{worker} acquires the lock: its key is created at revision {token}, so its token is {token}; the lease \
                 runs until {}{stops}.",
                deadline.told()
            )
        }
        Kind::LeaseRenewed { worker, deadline, .. } if plan.lock_rules.renewer == Renewer::Sidecar => format!(
            "{worker}’s sidecar renews: the leader moves the deadline to {}. Whether {worker} itself still does anything, \
             nobody asks.",
            deadline.told()
        ),
        Kind::LeaseRenewed { worker, deadline, stop_time, .. } => format!(
            "{worker} renews: the leader moves the deadline to {} in its memory; {worker}’s stop time becomes {}.",
            deadline.told(),
            stop_time.told()
        ),
        Kind::RenewalRefused { worker, .. } => {
            format!("{worker} wants to renew, but its lease has run out; an expired lease is not revived.")
        }
        Kind::LeaseExpired { worker, token, revision, .. } => format!(
            "{worker}’s lease expires: no renewal came in time, so the service deletes the key of token {token} \
             (revision {revision})."
        ),
        Kind::UnusedLeaseExpired { worker, .. } => format!("A lease of {worker} that no key was bound to expires."),
        Kind::LockReleased { worker, released_by, revision, .. } if worker != released_by => format!(
            "{released_by} deletes the key without a condition, and the key is {worker}’s: the lock is free although \
             {worker} counts on it (revision {revision})."
        ),
        Kind::LockReleased { worker, revision, .. } => {
            format!("{worker} releases the lock: its key is deleted at once (revision {revision}).")
        }
        Kind::TenantCommitted { revision } => {
            format!("Another tenant of the lock service commits a change: the revision is now {revision}.")
        }
        Kind::LeaderElected { node, term, leases, .. } => {
            let restarted = match leases.first() {
                Some(RestartedLease { worker, deadline, checkpoint: Some(left), .. }) => format!(
                    " It has {worker}’s grant and token from the log, and a checkpoint of the time that was left: {} s. \
                     So the lease runs until {}.",
                    left.told(),
                    deadline.told()
                ),
                Some(lease) => format!(
                    " It has {}’s grant and token from the log but not the deadline, so the lease starts again at \
                     full length and runs until {}.",
                    lease.worker,
                    lease.deadline.told()
                ),
                None => " No lease is running.".into(),
            };
            format!("{node} is elected leader in term {term}.{restarted}")
        }
        Kind::ElectionStarted { term } => {
            format!("{machine} has not heard from a leader for its election timeout and stands for term {term}.")
        }
        Kind::SteppedDown { term } => format!(
            "{machine} has not heard from a majority in time, or has met a newer term: it no longer leads in term {term}."
        ),
        Kind::EntriesDiscarded { from_index, count } => format!(
            "{machine} drops {count} log {} from index {from_index} on: no majority ever had {}.",
            if *count == 1 { "entry" } else { "entries" },
            if *count == 1 { "it" } else { "them" }
        ),
        Kind::Heartbeat { term } => format!("{machine} tells the other nodes that it still leads in term {term}."),

        Kind::CandidateQueued { worker, token, ahead, .. } if LABS => format!(
            "{worker} queues for the lock: its own key is created at revision {token}, and {} before it.",
            if *ahead == 1 { "one key was created".into() } else { format!("{ahead} keys were created") }
        ),
        Kind::CandidateLeft { worker, token, .. } if LABS => {
            format!("{worker}’s key of revision {token} is gone: it no longer queues for the lock.")
        }
        Kind::LeaseCheckpointed { worker, remaining: Some(left), .. } if LABS => format!(
            "A checkpoint: the log now knows that {worker}’s lease had {} s left, so a new leader would start from there.",
            left.told()
        ),
        Kind::LeaseCheckpointed { worker, .. } if LABS => format!(
            "{worker} has renewed, so the checkpoint of its lease is taken back in the log: a new leader would give it \
             its full length."
        ),
        Kind::LockDelayBegan { until, .. } if LABS => format!(
            "Lock-delay: the lease was not released but ran out, so {machine} gives the lock to nobody until {}, in case \
             its last holder still acts. Only {machine} remembers this.",
            until.told()
        ),
        Kind::HistoryRestored { revision, was, continues_from, watchers_told, .. } if LABS => {
            let jump = match continues_from > revision {
                true => format!(
                    " It goes on from revision {}, so that no number comes twice, and {} that the history it knew is gone.",
                    grouped(*continues_from),
                    match watchers_told {
                        1 => "one watcher is told".into(),
                        _ => format!("{watchers_told} watchers are told"),
                    }
                ),
                false => String::new(),
            };
            format!(
                "The lock service is restored from a snapshot of revision {revision}: what came after it, up to revision \
                 {was}, never happened for it.{jump}"
            )
        }
        Kind::EntryLogged { index, command, .. } if LABS => {
            format!("{machine} takes entry {index} into its log: {command}.")
        }
        Kind::EntryOnDisk { index, .. } if LABS => format!("{machine} has its log on the disk up to entry {index}."),
        Kind::EntryAcknowledged { node, index, .. } if LABS => {
            format!("{machine} learns that {node} has the log on its disk up to entry {index}.")
        }
        Kind::EntryCommitted { index, .. } if LABS => {
            format!("A majority has entry {index} on disk: {machine} knows the log to be committed up to there.")
        }
        Kind::EntryApplied { index, .. } if LABS => format!("{machine} applies entry {index}."),

        Kind::LockDelayed { worker, .. } if LABS => {
            format!("{worker} finds the lock free but cannot have it yet: lock-delay. It asks again later.")
        }
        Kind::CandidateWaits { worker, token, watches, .. } if LABS => format!(
            "{worker}’s key of revision {token} is not the oldest; it watches the key of revision {watches} and waits."
        ),
        Kind::CandidateWoken { worker, watched, .. } if LABS => {
            format!(
                "{worker} is told that the key of revision {watched} is gone, and looks which key is the oldest now."
            )
        }
        Kind::WatchLost { worker, history_gone: true, .. } if LABS => format!(
            "{worker} is told that the history it knows is not the lock service’s any more: it reads everything again."
        ),
        Kind::WatchLost { worker, .. } if LABS => format!(
            "Another leader answers {worker}, and it knows nothing of {worker}’s watch: {worker} looks again and sets a \
             new one."
        ),
        Kind::HandedToSidecar { worker, .. } if LABS => {
            format!("{worker} leaves it to its sidecar to keep the lease alive.")
        }

        Kind::Started => format!("{machine} starts."),
        Kind::LockBusy { worker, holder, token } if plan.service == ServiceKind::LeaseItem => {
            format!("{worker} may not claim the item, which says that {holder} holds it with epoch {token}, and waits.")
        }
        Kind::LockBusy { worker, holder, token: NO_TOKEN } => {
            format!("{worker} finds that {holder} holds the key, and waits.")
        }
        Kind::LockBusy { worker, holder, token } => {
            format!("{worker} finds that {holder} holds the key with token {token}, and waits.")
        }
        Kind::LockUnreachable { worker } if plan.service == ServiceKind::LeaseItem => {
            format!("{worker} gets no answer from the table in time.")
        }
        Kind::LockUnreachable { worker } => format!("{worker} reaches no lock node that can answer."),
        Kind::LockAcquired { worker, token: NO_TOKEN, stop_time, .. } => {
            format!("{worker} learns that it holds the lock; it may act until {}. It has no token.", stop_time.told())
        }
        Kind::LockAcquired { worker, token, stop_time, .. } => {
            format!("{worker} learns that it holds the lock with token {token}; it may act until {}.", stop_time.told())
        }
        Kind::RenewalConfirmed { worker, stop_time, .. } => {
            format!("{worker} learns that its renewal worked; it may act until {}.", stop_time.told())
        }
        Kind::RenewalFailed { worker, node, timed_out: true, .. } => format!(
            "{worker}’s renewal gets no answer from {node} within {} ms.",
            match node {
                MachineId::Master(_) => plan.redlock.node_timeout,
                _ => plan.latency.lock_timeout,
            }
            .as_micros()
                / 1000
        ),
        Kind::RenewalFailed { worker, node: MachineId::Master(_), timed_out: false, .. } => {
            format!("{worker}’s renewal finds no majority of masters that still have its key.")
        }
        Kind::RenewalFailed { worker, node: MachineId::Replica, timed_out: false, .. } => {
            format!("{worker}’s renewal fails: the replica takes no commands of clients.")
        }
        Kind::RenewalFailed { worker, node, .. } => {
            format!("{worker}’s renewal fails: {node} answers that it does not lead.")
        }
        Kind::StopTimeChecked { worker, act, chunk, mono, stop_time, wall, stop_on_wall, passed, .. } => {
            let what = match (act, chunk) {
                (Act::Chunk, Some(chunk)) => format!("chunk {chunk}"),
                (Act::Done, _) => "setting DONE".into(),
                _ => "raising the fence".into(),
            };
            // So close together that they are told alike, they are told exactly.
            let (clock, stop_time, name) = match (wall, stop_on_wall) {
                (Some(wall), Some(stop)) => {
                    (Span::micros(wall.as_micros()), Span::micros(stop.as_micros()), "wall clock")
                }
                _ => (Span::micros(mono.as_micros()), Span::micros(stop_time.as_micros()), "clock"),
            };
            let (clock, stop_time) = match (clock.told(), stop_time.told()) {
                (told, stop) if told == stop => (clock.to_string(), stop_time.to_string()),
                told => told,
            };
            let check = format!("{worker} checks its stop time before {what}: its {name} says {clock}, which is");
            if *passed {
                format!("{check} before {stop_time}.")
            } else {
                format!("{check} not before {stop_time}, so it does not act.")
            }
        }
        Kind::RaiseSent { worker, token: NO_TOKEN, .. } => {
            format!("{worker} asks the store for the row; it has no token with which to raise the fence.")
        }
        Kind::RaiseSent { worker, token, .. } => format!("{worker} asks the store to raise the fence to {token}."),
        Kind::WriteSent { worker, token, chunk, mono, stop_time } if mono >= stop_time => format!(
            "{worker} sends chunk {chunk}{}: its check had passed, and it does not know that its stop \
             time {} is over.",
            with_token(*token),
            stop_time.told()
        ),
        Kind::WriteSent { worker, token, chunk, .. } => {
            format!("{worker} sends chunk {chunk}{}.", with_token(*token))
        }
        Kind::DoneSent { worker, .. } => format!("Every chunk is recorded; {worker} asks the store to set DONE."),
        Kind::RowReturned { worker, chunks_done, state } => match chunks_done {
            0 => format!("{worker} gets the row back: {state}, no chunk is recorded yet."),
            _ => format!("{worker} gets the row back: {state}, {chunks_done} of {} chunks are recorded.", plan.chunks),
        },
        Kind::NoQueuedJob { worker, state, .. } => {
            format!(
                "{worker} looks for a queued job and finds none: the row is {state}. It looks again every now and then."
            )
        }
        Kind::StoreTimedOut { worker } => format!(
            "The store has not answered {worker} in time; before it sends anything again, {worker} reads the row by \
             raising the fence with its own token."
        ),
        Kind::ReleaseSent { worker, .. } => format!("{worker} asks the lock service to end its lease."),
        Kind::GaveUp { worker, because, stop_time, .. } => match because {
            GaveUpBecause::StopTimePassed => format!(
                "{worker}’s stop time {} has passed by its own clock: it lets go and tells nobody.",
                stop_time.told()
            ),
            GaveUpBecause::Refused => {
                format!("{worker} learns that the store has refused it: it throws its work away and lets go.")
            }
            GaveUpBecause::FenceAbove => {
                format!("{worker} reads a fence above its own token: a newer holder exists, so it lets go.")
            }
            GaveUpBecause::LeaseNotFound => {
                format!("{worker} learns that the lock service no longer knows its lease, and lets go.")
            }
        },
        Kind::OwnTimeout { worker, .. } if LABS => format!(
            "The timer in {worker}’s own process runs out, and {worker} gives the lock back; nobody else knew of the timer."
        ),
        Kind::WorkKept { worker, chunk, spent, .. } if LABS => format!(
            "{worker} has its own job back, and the fence was still its own old token: nobody has written since, so the \
             {} s of work on chunk {chunk} that it kept are good.",
            spent.told()
        ),
        Kind::WorkDropped { worker, chunk, spent, .. } if LABS => format!(
            "{worker} drops {} s of work on a chunk {chunk} that it had kept: the job has gone to somebody else, or it has \
             taken another one.",
            spent.told()
        ),
        Kind::WorkerDone { worker } => format!("{worker} has finished and ends."),

        Kind::FenceRaised { worker, token: NO_TOKEN, .. } => {
            format!("{worker} takes the row; it has no token, so nothing is compared and the fence stays where it is.")
        }
        Kind::FenceRaised { worker, token, compared: false, .. } => {
            format!(
                "{worker} takes the row and leaves its token {token} in it; the fence is off, so nothing is compared."
            )
        }
        Kind::FenceRaised { worker, token, fence_before, .. } if fence_before < token => {
            format!(
                "{worker} raises the fence from {fence_before} to {token} and takes the row; from now on lower tokens are refused."
            )
        }
        Kind::FenceRaised { worker, token, .. } => {
            format!("{worker} raises the fence with its own token {token} again, to read the row.")
        }
        Kind::RaiseRefused { worker, token, fence, because } => {
            format!("The store refuses {worker}’s raise: {}.", refused(*because, *token, *fence))
        }
        Kind::ChunkWritten { worker, token, chunk, charged, times_charged, .. } => match (charged, times_charged) {
            (0, _) => {
                format!(
                    "The store recognises chunk {chunk} from {worker}: it is recorded already, and nobody is charged again."
                )
            }
            (_, 1) => format!(
                "The store records {worker}’s chunk {chunk}{} and charges {} invoices.",
                with_token(*token),
                grouped((*charged).into())
            ),
            _ => format!(
                "The store records {worker}’s chunk {chunk}{} although it was recorded before: {} customers are \
                 charged twice.",
                with_token(*token),
                grouped((*charged).into())
            ),
        },
        Kind::WriteRefused { worker, token, fence, chunk, because } => {
            format!("The store refuses {worker}’s chunk {chunk}: {}.", refused(*because, *token, *fence))
        }
        Kind::JobDone { worker, .. } => {
            format!("{worker} sets the row to DONE; it leaves the index, because it is no longer claimed.")
        }
        Kind::DoneRefused { worker, token, fence, because } => {
            format!("The store refuses to set DONE for {worker}: {}.", refused(*because, *token, *fence))
        }
        Kind::InvoicesRecorded { worker, token, chunk, transactions, charged, again, .. } if LABS => {
            let many = if *transactions == 1 { "1 transaction".into() } else { format!("{transactions} transactions") };
            let twice = match again {
                0 => String::new(),
                _ => format!(
                    "; {} of them were there already, and these customers are charged twice",
                    grouped((*again).into())
                ),
            };
            format!(
                "{many} of {worker}’s chunk {chunk} with token {token} go through, each checked against the fence, and \
                 charge {} invoices{twice}.",
                grouped((*charged).into())
            )
        }
        Kind::ObjectStored { worker, token, chunk, .. } if LABS => format!(
            "{worker}’s object for chunk {chunk} is stored under a key with its token {token}; as long as no manifest \
             names it, nobody reads it."
        ),
        Kind::RowLockAwaited { from, holder, .. } if LABS => {
            format!("{from}’s transaction waits: {holder}’s open transaction holds the lock of the row.")
        }
        Kind::SerializationFailed { from, .. } if LABS => format!(
            "The row has changed since {from}’s transaction began, so at this isolation level it fails with 40001; \
             {from} tries again."
        ),
        Kind::ContestWon { worker, .. } if LABS => format!("{worker} is the one who may do the job."),
        Kind::ContestLost { worker, .. } if LABS => format!("{worker} does not get the job: somebody else has it."),
        Kind::SessionEnded { worker, .. } if LABS => format!(
            "{worker}’s connection is closed, so its session ends, its transaction is rolled back, and the lock of the \
             row is free."
        ),
        Kind::WorkRefused { worker, .. } if LABS => {
            format!("{worker}’s work is not recorded: what it got the job with does not hold any more.")
        }
        Kind::EffectDone { worker, chunk, customers, times, .. } if LABS => {
            let again = match times {
                1 => String::new(),
                _ => format!(", for the {} time: it knows no fence, and nothing takes this back", ordinal(*times)),
            };
            format!(
                "The partner tells {} customers of chunk {chunk}, as {worker} asks{again}.",
                grouped((*customers).into())
            )
        }
        Kind::EffectRecognised { worker, chunk, .. } if LABS => format!(
            "The partner recognises the key of {worker}’s call for chunk {chunk}: it has done this already, and does \
             nothing."
        ),
        Kind::ChecksServed { accepted, throttled, .. } if LABS => match throttled {
            0 => format!("{accepted} checks of the fence item are served."),
            1 => format!("{accepted} checks of the fence item are served, and one is throttled."),
            _ => format!("{accepted} checks of the fence item are served, and {throttled} are throttled."),
        },
        Kind::ChecksGivenUp { count, .. } if LABS => format!(
            "{count} checks were throttled at their last attempt: their writers are told that the write has failed."
        ),
        Kind::RowLookedAt { worker, state, .. } => format!("{worker} looks at the row: it is {state}."),
        Kind::RowRequeued { owner_token: NO_TOKEN, .. } => {
            "The sweeper re-queues the row, which is still as it saw it twice, and nobody holds the key.".into()
        }
        Kind::RowRequeued { owner_token, fence, .. } => format!(
            "The sweeper re-queues the row, which is still as it saw it{}: owner {owner_token}, fence {fence}, and \
             nobody holds the key.",
            if plan.sweeping.sightings > 1 { " twice" } else { "" }
        ),
        Kind::RequeueRefused { .. } => "The row is no longer as the sweeper saw it, so it stays as it is.".into(),
        Kind::OrphanSeen { owner_token: NO_TOKEN, .. } => {
            "The sweeper finds the row claimed while nobody holds the key: an orphan, seen for the first time.".into()
        }
        Kind::OrphanSeen { owner_token, .. } => format!(
            "The sweeper finds the row claimed by token {owner_token} while nobody holds the key: an orphan, seen for \
             the first time."
        ),
        Kind::ClaimHeld { holder, .. } => {
            format!("The sweeper finds the row claimed and {holder} holding the key: all is well.")
        }

        Kind::SweepHeldOff { until, .. } if LABS => format!(
            "The lock service could not be reached and answers again: the sweeper judges nobody until {}, one whole lease \
             later, so that healthy holders can come back first.",
            until.told()
        ),
        Kind::SweepPaused { orphans, claims, .. } if LABS => format!(
            "{} of {} claims seem to be orphaned: so many holders do not die at once, so the sweeper re-queues none of \
             them.",
            grouped((*orphans).into()),
            grouped((*claims).into())
        ),
        Kind::SweepCapped { orphans, cap, .. } if LABS => format!(
            "The sweeper re-queues {} of {} orphans and leaves the others for its next sweeps.",
            grouped((*cap).into()),
            grouped((*orphans).into())
        ),

        Kind::QuotaGranted { worker, units, until, in_all, .. } => {
            format!("{worker} has {units} units until {}; {in_all} are granted in all.", until.told())
        }
        Kind::QuotaExpired { worker, units, in_all, .. } => {
            format!("{worker} has not asked again in time, so its {units} units are free; {in_all} are granted in all.")
        }
        Kind::UnitsUsed { worker, units, .. } => {
            format!("{worker} begins a piece of work that uses its {units} units.")
        }
        Kind::UnitsFree { worker, units, .. } => {
            format!("{worker} is done with it and uses the {units} units no more.")
        }
        Kind::IdsReserved { worker, first, last, .. } => format!(
            "{worker} gets the numbers {first} to {last} by one atomic addition; nobody will ever get them again."
        ),
        Kind::IdUsed { worker, id, .. } => format!("{worker} uses the number {id}."),
        Kind::JournalFenced { worker, epoch, entries, .. } => {
            format!("{machine} promises {worker} to refuse every epoch below {epoch}; it has {entries} entries.")
        }
        Kind::JournalWritten { entries, .. } => format!("{machine} has {entries} entries on its disk."),
        Kind::JournalRefused { worker, epoch, promised, .. } => {
            format!("{machine} refuses {worker}’s epoch {epoch}: it has promised epoch {promised}.")
        }
        Kind::EngineReplayed { worker, epoch, entries, .. } => {
            format!("{worker} has replayed {entries} entries and goes on in epoch {epoch}.")
        }
        Kind::EntryCounted { worker, place, entry, .. } => {
            format!("{worker}’s entry {entry} counts as number {place} of the journal: two of three nodes have it.")
        }
        Kind::EngineHalted { worker, epoch, promised, .. } => {
            format!("{worker} halts: a majority refuses its epoch {epoch}, because it has promised epoch {promised}.")
        }

        Kind::Paused { vm, lasts, .. } => {
            let length = lasts.map_or("until it is resumed".into(), |span| format!("for {} s", span.told()));
            match vm {
                false => format!("{machine}’s process freezes {length}; its clocks run on."),
                true => format!("{machine}’s virtual machine freezes {length}; its clocks stand still."),
            }
        }
        Kind::Resumed { mono, .. } => {
            format!("{machine} goes on and knows nothing of the pause; its own clock says {}.", mono.told())
        }
        Kind::Crashed { worker: Some(worker) } => format!("{worker}’s process dies; it can release nothing any more."),
        Kind::Crashed { .. } => format!("{machine} dies; what was only in its memory is gone."),
        Kind::Restarted { worker: Some(worker) } => format!("{worker} starts as a new process without memory."),
        Kind::Restarted { .. } if machine == MachineId::Sweeper => "The sweeper starts again without memory.".into(),
        Kind::Restarted { .. } => format!("{machine} starts again with what its disk holds."),
        Kind::WallStepped { by, wall } => {
            format!(
                "{machine}’s wall clock steps by {} s to {}; its monotonic clock does not notice.",
                by.told(),
                wall.told()
            )
        }
        Kind::OffsetSet { offset, wall } => {
            format!("{machine}’s wall clock is set {} s from true time, to {}.", offset.told(), wall.told())
        }
        Kind::RateSet { rate } => {
            format!("From now on {machine}’s clocks run {} times as fast as true time.", Span::micros(rate.0))
        }
        Kind::Partitioned { groups } => {
            let sides: Vec<String> = groups
                .iter()
                .map(|group| group.iter().map(MachineId::to_string).collect::<Vec<_>>().join(", "))
                .collect();
            format!("The network splits: {}.", sides.join(" | "))
        }
        Kind::Isolated => format!("{machine} is cut off from everyone."),
        Kind::OutageBegan if LABS => {
            "The whole lock service is cut off from its clients; its nodes still reach each other.".into()
        }
        Kind::OutageEnded if LABS => "The lock service can be reached again.".into(),
        Kind::Healed => "The network is whole again.".into(),
        Kind::SettingChanged { setting } => format!("From now on: {setting}."),
        Kind::NoEffect { intervention, because } => format!("“{intervention}” has no effect: {because}."),

        Kind::MessageSent { to, what, .. } => format!("{machine} sends to {to}: “{what}”."),
        Kind::MessageReceived { from, what, .. } => format!("{machine} receives from {from}: “{what}”."),
        Kind::MessageLost { to, what, because, .. } => {
            let how = match because {
                LostBecause::Dropped => "an intervention drops it".into(),
                LostBecause::Partitioned => "the network is cut between them".into(),
                LostBecause::ReceiverDown => format!("{to} is down"),
            };
            format!("A message from {machine} to {to} is lost, {how}: “{what}”.")
        }
        Kind::MessageDelayed { to, what, by, .. } => {
            format!("A message from {machine} to {to} is held up for {} s: {what}.", by.told())
        }
        Kind::MessageDuplicated { to, what, .. } => {
            format!("A message from {machine} to {to} will arrive twice: “{what}”.")
        }
        // What only labs have is told only where there are labs.
        _ => String::new(),
    }
}

/// What happens on Redis servers, and to clients that count their answers.
fn redis(event: &Event, plan: &Plan) -> Option<String> {
    let machine = match event.machine {
        MachineId::Primary => "the primary".to_owned(),
        MachineId::Replica => "the replica".to_owned(),
        other => other.to_string(),
    };
    let on_server = matches!(event.machine, MachineId::Primary | MachineId::Replica | MachineId::Master(_));
    let sentence = match &event.kind {
        Kind::LeaseGranted { worker, token, deadline, stop_time, .. } if on_server => {
            let stops = stop_time.map_or(String::new(), |stop| format!(", and {worker} must stop at {}", stop.told()));
            format!(
                "{worker} acquires the lock: the key did not exist, so SET NX PX sets it, and INCR gives token {token}; \
                 the key expires when {machine}’s wall clock says {}{stops}.",
                deadline.told()
            )
        }
        Kind::LeaseRenewed { worker, deadline, stop_time, .. } if on_server => format!(
            "{worker} renews: the key still has its value, so {machine} moves the expiry to {} on its wall clock; \
             {worker}’s stop time becomes {}.",
            deadline.told(),
            stop_time.told()
        ),
        Kind::RenewalRefused { worker, .. } if on_server => {
            format!("{worker} wants to renew, but {machine} has no key with its value: there is nothing to extend.")
        }
        Kind::LeaseExpired { worker, token, .. } if on_server => {
            format!("{worker}’s key with token {token} expires: {machine}’s wall clock has reached its expiry.")
        }
        Kind::LockReleased { worker, released_by, .. } if on_server && worker != released_by => {
            format!("{released_by} deletes the key without looking whose it is: it is {worker}’s.")
        }
        Kind::LockReleased { worker, .. } if on_server => {
            format!("{worker} releases the lock: the key has its value, so it is deleted.")
        }
        Kind::TenantCommitted { revision } if on_server => {
            format!("Another tenant draws a number: the counter is now {revision}.")
        }
        Kind::Restarted { .. } if on_server => format!("{machine} starts again."),
        Kind::KeySet { worker, deadline, .. } if !matches!(event.machine, MachineId::Master(_)) => {
            format!("{machine} copies: the key is set for {worker}, until {}.", deadline.told())
        }
        Kind::KeySet { worker, deadline, .. } => format!(
            "{machine} sets the key for {worker}; it expires when {machine}’s own wall clock says {}.",
            deadline.told()
        ),
        Kind::KeyRefused { worker, holder, .. } => {
            format!("{machine} does not set the key for {worker}: it exists, and {holder} has it.")
        }
        Kind::KeyExtended { worker, deadline, .. } => {
            format!("{machine} moves the expiry of {worker}’s key to {} on its own wall clock.", deadline.told())
        }
        Kind::KeyExpired { worker, .. } => {
            format!("{worker}’s key expires on {machine}, whose own wall clock has reached its expiry.")
        }
        Kind::KeyDeleted { worker, deleted_by, .. } if worker == deleted_by => {
            format!("{machine} deletes {worker}’s key.")
        }
        Kind::KeyDeleted { worker, deleted_by, .. } => {
            format!("{deleted_by} deletes {worker}’s key on {machine} without looking whose it is.")
        }
        Kind::DataLoaded { leases, .. } if leases.is_empty() => {
            format!("{machine} finds no key on its disk; whatever it had is forgotten.")
        }
        Kind::DataLoaded { leases, .. } => {
            format!("{machine} loads from its disk {}.", keys_of(leases))
        }
        Kind::Promoted { leases, counter, .. } => format!(
            "{machine} is promoted: the other server has left the monitor’s pings unanswered for {} s. It has {}, \
             and its counter stands at {counter}.",
            plan.redis.promotion_after.told(),
            keys_of(leases)
        ),
        Kind::Demoted { .. } => {
            format!("{machine} hears that it has been replaced: it is the replica now, and will take a full copy.")
        }
        Kind::FullyCopied { leases, lost, counter } => {
            let lost = match lost.len() {
                0 => String::new(),
                _ => format!(" What only it had is gone: {}.", keys_of(lost)),
            };
            format!("{machine} takes a full copy: {}, counter {counter}.{lost}", keys_of(leases))
        }
        Kind::ReplicasCounted { worker, acknowledged, wanted, .. } if acknowledged >= wanted => {
            format!("WAIT tells {worker} that {acknowledged} of {wanted} replicas have its key.")
        }
        Kind::ReplicasCounted { worker, acknowledged, wanted, .. } => format!(
            "{worker} learns of {acknowledged} of {wanted} replicas that have its key; it gives the key back and does \
             not take itself for the holder."
        ),
        Kind::MajorityCounted { worker, renewal, agreed, refused, unanswered, elapsed, validity, .. } => {
            let masters = plan.redlock.masters;
            let counted = format!(
                "{worker} counts after {} ms: {agreed} of {masters} masters {}, {refused} refused, {unanswered} did not \
                 answer",
                elapsed.as_micros() / 1_000,
                if *renewal { "extended its key" } else { "set its key" }
            );
            match (validity, renewal) {
                (Some(validity), _) => {
                    format!(
                        "{counted}. That is a majority in time: the lock is valid for another {} s.",
                        validity.told()
                    )
                }
                (None, true) => format!("{counted}. The renewal has not worked."),
                (None, false) => {
                    format!("{counted}. It does not hold the lock, and deletes what it has set on all {masters}.")
                }
            }
        }
        Kind::TokenIssued { worker, token, .. } => {
            format!("The replicated log commits {worker}’s put; its revision is {worker}’s token: {token}.")
        }
        Kind::Crashed { .. } if on_server => format!("{machine} dies; what was only in its memory is gone."),
        _ => return None,
    };
    Some(capitalised(&sentence))
}

/// With a capital letter at the start, unless it is the name of a machine.
fn capitalised(sentence: &str) -> String {
    match sentence.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => sentence.to_owned(),
    }
}

/// "A’s key", or "no key".
fn keys_of(leases: &[LeaseId]) -> String {
    let names: Vec<String> = leases.iter().map(|lease| format!("{}’s key", lease.worker)).collect();
    if names.is_empty() { "no key".into() } else { names.join(" and ") }
}

/// " with token 7", or nothing for a holder that has none.
fn with_token(token: Token) -> String {
    if token == NO_TOKEN { String::new() } else { format!(" with token {token}") }
}

fn ordinal(times: u32) -> String {
    match times {
        2 => "second".into(),
        3 => "third".into(),
        _ => format!("{times}th"),
    }
}

fn refused(because: RefusedBecause, token: Token, fence: Token) -> String {
    match because {
        RefusedBecause::TokenBelowFence => format!("its token {token} is below the fence, {fence}"),
        RefusedBecause::TokenEqualsFence => {
            format!("its token {token} equals the fence, and this fence refuses equal tokens too")
        }
        RefusedBecause::JobDone => "the job is DONE".into(),
        RefusedBecause::SessionEnded => "the session on which it travels has ended".into(),
        RefusedBecause::RowChanged => "the row has changed".into(),
        RefusedBecause::AlreadyRecorded => {
            "something that must not be there yet is there already: it was recorded before".into()
        }
        RefusedBecause::ETagChanged => {
            format!("the manifest is no longer the version that its writer saw; its token is {fence} by now")
        }
        RefusedBecause::WriteInProgress => {
            "another conditional write of the manifest is in progress; its writer reads it and tries again".into()
        }
    }
}

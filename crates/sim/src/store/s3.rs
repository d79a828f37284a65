//! An S3 bucket: one manifest for each job, and one object for each chunk and token.
//!
//! S3 cannot compare numbers; a write can only demand that an object is absent (If-None-Match: *) or still the version
//! that its writer saw (If-Match with its ETag).
//! A write whose condition is not true gets 412; one whose condition is true, but that comes while another conditional
//! write of the same key is in progress, gets 409: its sender fetches the ETag and tries again (Amazon S3 API,
//! PutObject, If-Match).
//! Rewriting the manifest takes a while; an object lies under a key of its own, where no other write can be in progress.
//! So a holder raises the fence by rewriting the manifest with its own token, and records a chunk by uploading an
//! object under a key of its own and rewriting the manifest so that it names the object.
//! Readers trust only what the manifest names: that charges the customers.

use litemap::LiteMap;

use super::update::Purpose;
use super::{Row, RowState, claim};
use crate::actor::{Actions, Context, Input, TimerKey};
use crate::event::{Kind, RefusedBecause};
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{CallId, Claim, Message, StoreReply, StoreRequest, Token};
use crate::settings::Plan;
use crate::time::{Mono, Wall};

/// Names a version of a manifest: E0 is what the enqueuer wrote, and each rewriting adds 1.
/// Real ETags are opaque; all that a client does with one is to send it back.
pub type ETag = u32;

/// The key of a chunk's object within the job's folder.
pub fn object_key(chunk: u8, token: Token) -> String {
    format!("chunk-{chunk:02}/token-{token}")
}

/// A manifest's content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Manifest {
    /// The state of the job.
    pub state: RowState,
    /// The highest token that has written it.
    pub token: Token,
    /// The token that claims the job.
    pub owner: Option<Token>,
    /// Since when, by the claimant's wall clock.
    pub claimed_since: Option<Wall>,
    /// The chunks that are recorded: the token in the key of each one's object.
    pub chunks: LiteMap<u8, Token>,
}

/// What a bucket is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// GET the manifest.
    GetManifest,
    /// PUT the manifest.
    PutManifest(Box<PutManifest>),
    /// PUT a chunk's object, If-None-Match: *.
    PutObject {
        /// The chunk.
        chunk: u8,
        /// The token in its key.
        token: Token,
    },
}

/// A rewriting of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PutManifest {
    /// The new content.
    pub manifest: Manifest,
    /// Only if this is still its version.
    pub if_match: Option<ETag>,
    /// What for; the bucket does not decide by it, it only gives the event its name.
    pub purpose: Purpose,
}

/// What a bucket answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// 200 with the manifest and its ETag.
    Manifest(ETag, Box<Manifest>),
    /// 200; the manifest has this ETag now.
    Rewritten(ETag),
    /// 200; the object is there.
    Stored,
    /// 412 Precondition Failed.
    PreconditionFailed,
    /// 409 ConditionalRequestConflict.
    Conflict,
}

/// The bucket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct S3Store {
    jobs: Vec<Folder>,
    /// Rewritings of manifests that are in progress, in the order in which they end.
    in_progress: Vec<InProgress>,
}

/// A rewriting that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct InProgress {
    from: MachineId,
    call: CallId,
    job: JobId,
    put: PutManifest,
    ends: Mono,
}

/// What the bucket has of one job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Folder {
    /// The version of the manifest.
    pub etag: ETag,
    /// The manifest.
    pub manifest: Manifest,
    /// The chunks' objects, in the order in which they were stored: chunk and token.
    pub objects: Vec<(u8, Token)>,
    /// The job as observers see it: the manifest's state, and all that it ever charged.
    row: Row,
}

impl Folder {
    fn new(row: Row) -> Folder {
        let chunks: LiteMap<u8, Token> =
            row.chunks.iter().filter_map(|(chunk, tokens)| Some((*chunk, *tokens.last()?))).collect();
        let objects = chunks.iter().map(|(chunk, token)| (*chunk, *token)).collect();
        let Row { state, fence, owner_token, claimed_since, .. } = row;
        let manifest = Manifest { state, token: fence, owner: owner_token, claimed_since, chunks };
        Folder { etag: 0, manifest, objects, row }
    }

    /// The objects that the manifest does not name: no reader looks at them.
    pub fn stray(&self) -> impl Iterator<Item = (u8, Token)> + '_ {
        let named = |chunk: &u8, token: &Token| self.manifest.chunks.get(chunk) == Some(token);
        self.objects.iter().copied().filter(move |(chunk, token)| !named(chunk, token))
    }

    /// Customers are charged for each object that a committed manifest names for the first time.
    /// Returns how many chunks were charged now.
    fn charge(&mut self, idempotent: bool) -> u32 {
        let mut charged = 0;
        for (chunk, token) in self.manifest.chunks.iter() {
            let records = self.row.chunks.entry(*chunk).or_default();
            if (records.is_empty() || !idempotent) && !records.contains(token) {
                records.push(*token);
                charged += 1;
            }
        }
        let Manifest { state, token, owner, claimed_since, .. } = self.manifest;
        let chunks = std::mem::take(&mut self.row.chunks);
        self.row = Row { state, fence: token, owner_token: owner, claimed_since, chunks };
        charged
    }
}

impl Manifest {
    /// The row that a client reads out of it.
    pub fn row(&self) -> Row {
        Row {
            state: self.state,
            fence: self.token,
            owner_token: self.owner,
            claimed_since: self.claimed_since,
            chunks: self.chunks.iter().map(|(chunk, token)| (*chunk, vec![*token])).collect(),
        }
    }

    /// The claim that it holds, for the sweeper.
    pub fn claim(&self, job: JobId) -> Option<Claim> {
        claim(job, self.owner, self.claimed_since, self.token)
    }
}

impl S3Store {
    pub(super) fn new(plan: &Plan) -> S3Store {
        S3Store { jobs: super::rows_at_start(plan).into_iter().map(Folder::new).collect(), in_progress: Vec::new() }
    }

    pub(super) fn row(&self, job: JobId) -> Option<&Row> {
        self.folder(job).map(|folder| &folder.row)
    }

    /// What it has of a job.
    pub fn folder(&self, job: JobId) -> Option<&Folder> {
        self.jobs.get(usize::from(job.0))
    }

    /// Who is rewriting the job’s manifest, in the order in which they end.
    pub fn in_progress(&self, job: JobId) -> impl Iterator<Item = MachineId> + '_ {
        self.in_progress.iter().filter(move |begun| begun.job == job).map(|begun| begun.from)
    }

    /// What was in progress never happens.
    pub(super) fn crash(&mut self) {
        self.in_progress.clear();
    }

    pub(super) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        match input {
            Input::Message { from, message: Message::StoreRequest(call, job, StoreRequest::S3(request, ..)) } => {
                if let Some(reply) = self.serve(context, from, call, job, *request, actions) {
                    actions.send(from, Message::StoreReply(call, StoreReply::S3(reply, labs_only())));
                }
            }
            Input::Timer { key: TimerKey::Commit, .. } => self.finish(context, actions),
            _ => {}
        }
    }

    /// The answer, if there is one at once.
    fn serve(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        call: CallId,
        job: JobId,
        request: Request,
        actions: &mut Actions,
    ) -> Option<Reply> {
        let folder = self.jobs.get_mut(usize::from(job.0))?;
        Some(match request {
            Request::GetManifest => {
                if let Some(worker) = from.worker() {
                    actions.record(Kind::RowLookedAt { worker, state: folder.manifest.state });
                }
                Reply::Manifest(folder.etag, Box::new(folder.manifest.clone()))
            }
            Request::PutObject { chunk, token } => {
                if folder.objects.contains(&(chunk, token)) {
                    Reply::PreconditionFailed
                } else {
                    folder.objects.push((chunk, token));
                    if let Some(worker) = from.worker() {
                        actions.record(Kind::ObjectStored { job, worker, token, chunk, labs: labs_only() });
                    }
                    Reply::Stored
                }
            }
            Request::PutManifest(put) => {
                let ends = context.mono() + context.plan.stores.put_takes;
                return self.begin(InProgress { from, call, job, put: *put, ends }, actions);
            }
        })
    }

    /// Begins to rewrite a manifest, or says why not.
    fn begin(&mut self, begun: InProgress, actions: &mut Actions) -> Option<Reply> {
        let folder = self.jobs.get(usize::from(begun.job.0))?;
        let conditional = |other: &InProgress| other.job == begun.job && other.put.if_match.is_some();
        let (because, reply) = if folder.has_changed_since(&begun.put) {
            (RefusedBecause::ETagChanged, Reply::PreconditionFailed)
        } else if begun.put.if_match.is_some() && self.in_progress.iter().any(conditional) {
            (RefusedBecause::WriteInProgress, Reply::Conflict)
        } else {
            self.in_progress.push(begun);
            self.set_timer(actions);
            return None;
        };
        begun.put.purpose.refused(begun.from.worker(), folder.manifest.token, because, actions);
        Some(reply)
    }

    fn set_timer(&self, actions: &mut Actions) {
        if let Some(begun) = self.in_progress.first() {
            actions.set_timer(TimerKey::Commit, begun.ends);
        }
    }

    /// The oldest rewriting is done.
    fn finish(&mut self, context: Context<'_>, actions: &mut Actions) {
        if self.in_progress.is_empty() {
            return;
        }
        // They all take the same time, so the oldest ends first.
        let InProgress { from, call, job, put, .. } = self.in_progress.remove(0);
        self.set_timer(actions);
        let Some(folder) = self.jobs.get_mut(usize::from(job.0)) else { return };
        let reply = folder.rewrite(context, from, job, put, actions);
        actions.send(from, Message::StoreReply(call, StoreReply::S3(reply, labs_only())));
    }
}

impl Folder {
    /// Whether the version that the writer saw is gone.
    fn has_changed_since(&self, put: &PutManifest) -> bool {
        put.if_match.is_some_and(|etag| etag != self.etag)
    }

    /// The version may have changed while the rewriting was in progress, by one without a condition.
    fn rewrite(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        job: JobId,
        put: PutManifest,
        actions: &mut Actions,
    ) -> Reply {
        if self.has_changed_since(&put) {
            put.purpose.refused(from.worker(), self.manifest.token, RefusedBecause::ETagChanged, actions);
            return Reply::PreconditionFailed;
        }
        let PutManifest { manifest, if_match, purpose } = put;
        let before = self.row.clone();
        self.manifest = manifest;
        self.etag += 1;
        let charged = self.charge(context.settings.idempotent) * context.plan.invoices_per_chunk;
        if let (Purpose::Chunk(token, chunk), Some(worker)) = (purpose, from.worker()) {
            let times_charged = self.row.chunks.get(&chunk).map_or(0, |tokens| tokens.len() as u32);
            let fence = self.manifest.token;
            actions.record(Kind::ChunkWritten { job, worker, token, fence, chunk, charged, times_charged });
        }
        purpose.accepted(context, job, from.worker(), (&before, &self.row), if_match.is_some(), actions);
        Reply::Rewritten(self.etag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Action;
    use crate::clock::Reading;
    use crate::machine::WorkerId;
    use crate::settings::Settings;
    use crate::time::Span;

    /// A bucket with one job, and the context of an input at the reading `mono` of its clock.
    struct Bench {
        plan: Plan,
        store: S3Store,
        calls: u32,
    }

    impl Bench {
        fn new() -> Bench {
            let plan = Plan::default();
            Bench { store: S3Store::new(&plan), plan, calls: 0 }
        }

        fn handle(&mut self, mono: Mono, input: Input) -> Actions {
            let settings = Settings::default();
            let reading = Reading { mono, wall: Wall::ZERO };
            let context = Context { reading, settings: &settings, plan: &self.plan, seed: 0 };
            let mut actions = Actions::default();
            self.store.handle(context, input, &mut actions);
            actions
        }

        fn put(&mut self, mono: Mono, token: Token, chunk: u8, if_match: Option<ETag>) -> Option<Reply> {
            self.calls += 1;
            let mut manifest = self.folder().manifest.clone();
            manifest.token = token;
            manifest.chunks.insert(chunk, token);
            let put = PutManifest { manifest, if_match, purpose: Purpose::Chunk(token, chunk) };
            let request = StoreRequest::S3(Box::new(Request::PutManifest(Box::new(put))), labs_only());
            let call = CallId { incarnation: 0, number: self.calls };
            let message = Message::StoreRequest(call, JobId::FIRST, request);
            reply_in(self.handle(mono, Input::Message { from: WorkerId::A.into(), message }))
        }

        /// The answer to the oldest write in progress.
        fn finish(&mut self, mono: Mono) -> Option<Reply> {
            reply_in(self.handle(mono, Input::Timer { key: TimerKey::Commit, due: mono }))
        }

        /// A write with nothing else in progress.
        fn put_alone(&mut self, token: Token, chunk: u8, if_match: Option<ETag>) -> Option<Reply> {
            let at_once = self.put(Mono::ZERO, token, chunk, if_match);
            at_once.or_else(|| self.finish(Mono::ZERO + self.plan.stores.put_takes))
        }

        fn folder(&mut self) -> &mut Folder {
            &mut self.store.jobs[0]
        }
    }

    fn reply_in(mut actions: Actions) -> Option<Reply> {
        actions.drain().find_map(|action| match action {
            Action::Send { message: Message::StoreReply(_, StoreReply::S3(reply, ..)), .. } => Some(reply),
            _ => None,
        })
    }

    #[test]
    fn a_write_on_condition_of_an_old_version_gets_412() {
        let mut bench = Bench::new();
        assert_eq!(bench.folder().etag, 0);
        assert_eq!(bench.put_alone(7, 1, Some(0)), Some(Reply::Rewritten(1)));
        assert_eq!(bench.put_alone(9, 1, Some(0)), Some(Reply::PreconditionFailed));
        assert_eq!((bench.folder().etag, bench.folder().manifest.token), (1, 7), "a loser changes nothing");
        assert_eq!(bench.put_alone(7, 2, Some(1)), Some(Reply::Rewritten(2)));
    }

    #[test]
    fn a_conditional_write_that_meets_another_in_progress_gets_409() {
        let takes = Plan::default().stores.put_takes;
        let within = Mono::ZERO + takes - Span::micros(1);
        // The conditions of the first and the second write, and what comes of them.
        for (first, second, at_once, then) in [
            (Some(0), Some(0), Some(Reply::Conflict), [Some(Reply::Rewritten(1)), None]),
            (Some(0), Some(5), Some(Reply::PreconditionFailed), [Some(Reply::Rewritten(1)), None]),
            (None, Some(0), None, [Some(Reply::Rewritten(1)), Some(Reply::PreconditionFailed)]),
            (Some(0), None, None, [Some(Reply::Rewritten(1)), Some(Reply::Rewritten(2))]),
        ] {
            let mut bench = Bench::new();
            assert_eq!(bench.put(Mono::ZERO, 7, 1, first), None, "it takes its time");
            assert_eq!(bench.put(within, 9, 1, second), at_once, "{first:?}, {second:?}");
            let ends = [bench.finish(Mono::ZERO + takes), bench.finish(within + takes)];
            assert_eq!(ends, then, "{first:?}, {second:?}");
        }
        let mut bench = Bench::new();
        bench.put(Mono::ZERO, 7, 1, Some(0));
        bench.store.crash();
        assert_eq!(bench.finish(Mono::ZERO + takes), None);
        assert_eq!(bench.folder().etag, 0, "what was in progress never happens");
    }

    #[test]
    fn only_what_the_manifest_names_is_charged() {
        let mut bench = Bench::new();
        bench.folder().objects = vec![(1, 7), (1, 9)];
        bench.put_alone(7, 1, Some(0));
        assert_eq!(bench.folder().stray().collect::<Vec<_>>(), [(1, 9)]);
        assert_eq!(bench.folder().row.chunks[&1], [7]);
        bench.put_alone(9, 1, None);
        assert_eq!(bench.folder().stray().collect::<Vec<_>>(), [(1, 7)]);
        assert_eq!(bench.folder().row.chunks[&1], [7, 9], "named later, it charges again");
        bench.put_alone(7, 1, None);
        assert_eq!(bench.folder().row.chunks[&1], [7, 9], "an object charges once");
    }
}

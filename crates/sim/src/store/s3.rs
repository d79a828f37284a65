//! An S3 bucket: one manifest for each job, and one object for each chunk and token.
//!
//! S3 cannot compare numbers; a write can only demand that an object is absent (If-None-Match: *) or still the version
//! that its writer saw (If-Match with its ETag).
//! The first to finish wins, all others get 412 (Amazon S3 User Guide, conditional writes).
//! So a holder raises the fence by rewriting the manifest with its own token, and records a chunk by uploading an
//! object under a key of its own and rewriting the manifest so that it names the object.
//! Readers trust only what the manifest names: that charges the customers.

use litemap::LiteMap;

use super::update::Purpose;
use super::{Row, RowState, claim};
use crate::actor::{Actions, Context, Input};
use crate::event::{Kind, RefusedBecause};
use crate::labs_only::labs_only;
use crate::machine::{JobId, MachineId};
use crate::message::{Claim, Message, StoreReply, StoreRequest, Token};
use crate::settings::Plan;
use crate::time::Wall;

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
}

/// The bucket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct S3Store {
    jobs: Vec<Folder>,
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
        S3Store { jobs: super::rows_at_start(plan).into_iter().map(Folder::new).collect() }
    }

    pub(super) fn row(&self, job: JobId) -> Option<&Row> {
        self.folder(job).map(|folder| &folder.row)
    }

    /// What it has of a job.
    pub fn folder(&self, job: JobId) -> Option<&Folder> {
        self.jobs.get(usize::from(job.0))
    }

    pub(super) fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let Input::Message { from, message: Message::StoreRequest(call, job, StoreRequest::S3(request, ..)) } = input
        else {
            return;
        };
        let Some(folder) = self.jobs.get_mut(usize::from(job.0)) else { return };
        let reply = match *request {
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
            Request::PutManifest(put) => folder.rewrite(context, from, job, *put, actions),
        };
        actions.send(from, Message::StoreReply(call, StoreReply::S3(reply, labs_only())));
    }
}

impl Folder {
    fn rewrite(
        &mut self,
        context: Context<'_>,
        from: MachineId,
        job: JobId,
        put: PutManifest,
        actions: &mut Actions,
    ) -> Reply {
        let PutManifest { manifest, if_match, purpose } = put;
        if if_match.is_some_and(|etag| etag != self.etag) {
            purpose.refused(from.worker(), self.manifest.token, RefusedBecause::ETagChanged, actions);
            return Reply::PreconditionFailed;
        }
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
    use crate::clock::Reading;
    use crate::machine::WorkerId;
    use crate::settings::Settings;
    use crate::time::Mono;

    fn put(folder: &mut Folder, token: Token, chunk: u8, if_match: Option<ETag>) -> Reply {
        let (plan, settings) = (Plan::default(), Settings::default());
        let reading = Reading { mono: Mono::ZERO, wall: Wall::ZERO };
        let context = Context { reading, settings: &settings, plan: &plan, seed: 0 };
        let mut manifest = folder.manifest.clone();
        manifest.token = token;
        manifest.chunks.insert(chunk, token);
        let put = PutManifest { manifest, if_match, purpose: Purpose::Chunk(token, chunk) };
        folder.rewrite(context, WorkerId::A.into(), JobId::FIRST, put, &mut Actions::default())
    }

    #[test]
    fn the_first_to_finish_wins_and_the_others_get_412() {
        let mut folder = Folder::new(Row::default());
        assert_eq!(folder.etag, 0);
        assert_eq!(put(&mut folder, 7, 1, Some(0)), Reply::Rewritten(1));
        assert_eq!(put(&mut folder, 9, 1, Some(0)), Reply::PreconditionFailed);
        assert_eq!((folder.etag, folder.manifest.token), (1, 7), "a loser changes nothing");
        assert_eq!(put(&mut folder, 7, 2, Some(1)), Reply::Rewritten(2));
    }

    #[test]
    fn only_what_the_manifest_names_is_charged() {
        let mut folder = Folder::new(Row::default());
        folder.objects = vec![(1, 7), (1, 9)];
        put(&mut folder, 7, 1, Some(0));
        assert_eq!(folder.stray().collect::<Vec<_>>(), [(1, 9)]);
        assert_eq!(folder.row.chunks[&1], [7]);
        put(&mut folder, 9, 1, None);
        assert_eq!(folder.stray().collect::<Vec<_>>(), [(1, 7)]);
        assert_eq!(folder.row.chunks[&1], [7, 9], "named later, it charges again");
        put(&mut folder, 7, 1, None);
        assert_eq!(folder.row.chunks[&1], [7, 9], "an object charges once");
    }
}

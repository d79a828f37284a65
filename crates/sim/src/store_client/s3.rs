//! The client of an S3 bucket: reads the manifest, and rewrites it on condition that nobody else has meanwhile.
//!
//! S3 compares versions, not tokens, so the client compares the tokens: a writer that finds a higher one in the
//! manifest ends.

use super::{Calls, StoreOutcome};
use crate::actor::{Actions, Context};
use crate::labs_only::labs_only;
use crate::machine::JobId;
use crate::message::{CallId, Claim, NO_TOKEN, StoreReply, StoreRequest, Token};
use crate::settings::{FenceMode, Settings};
use crate::store::RowState;
use crate::store::s3::{ETag, Manifest, PutManifest, Reply, Request};
use crate::store::update::Purpose;

/// The client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct S3Client {
    calls: Calls,
    /// The manifest as the client saw it last, with its ETag.
    seen: Option<(ETag, Manifest)>,
    upload: Upload,
    task: Task,
}

/// The object of the chunk that its worker builds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Upload {
    Nothing,
    /// It is on its way; the worker may be ready before the answer comes.
    Underway(CallId, u8, Option<Change>),
    /// It is there.
    Stored(u8),
}

/// What the answer that is awaited is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Task {
    Nothing,
    ReadRow,
    ReadFence,
    /// Reads one manifest after another; these claims were found so far.
    ReadIndex(JobId, Vec<Claim>),
    /// Reads the manifest in order to rewrite it.
    Read(Change),
    /// Rewrites it with this content.
    Rewrite(Change, Box<Manifest>),
}

/// A change of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Change {
    job: JobId,
    purpose: Purpose,
    /// Whether versions and tokens are compared.
    compares: bool,
}

impl S3Client {
    pub(super) fn new(incarnation: u32) -> S3Client {
        S3Client { calls: Calls::new(incarnation), seen: None, upload: Upload::Nothing, task: Task::Nothing }
    }

    pub(super) fn reset(&mut self) {
        self.calls.awaited = None;
        self.upload = Upload::Nothing;
        self.task = Task::Nothing;
    }

    fn ask(&mut self, context: Context<'_>, job: JobId, request: Request, task: Task, actions: &mut Actions) {
        self.calls.ask(context, job, StoreRequest::S3(Box::new(request), labs_only()), actions);
        self.task = task;
    }

    fn read(&mut self, context: Context<'_>, job: JobId, task: Task, actions: &mut Actions) {
        self.ask(context, job, Request::GetManifest, task, actions);
    }

    pub(super) fn read_row(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        self.read(context, job, Task::ReadRow, actions);
    }

    pub(super) fn read_fence(&mut self, context: Context<'_>, job: JobId, actions: &mut Actions) {
        self.read(context, job, Task::ReadFence, actions);
    }

    pub(super) fn read_index(&mut self, context: Context<'_>, actions: &mut Actions) {
        self.read(context, JobId::FIRST, Task::ReadIndex(JobId::FIRST, Vec::new()), actions);
    }

    pub(super) fn raise(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        let change = Change { job, purpose: Purpose::Raise(token), compares: compares(context.settings) };
        self.read(context, job, Task::Read(change), actions);
    }

    pub(super) fn requeue(&mut self, context: Context<'_>, claim: Claim, actions: &mut Actions) {
        let change = Change { job: claim.job, purpose: Purpose::Requeue(claim), compares: true };
        self.read(context, claim.job, Task::Read(change), actions);
    }

    pub(super) fn build_chunk(
        &mut self,
        context: Context<'_>,
        job: JobId,
        token: Token,
        chunk: u8,
        actions: &mut Actions,
    ) {
        let call = self.calls.number();
        let request = Request::PutObject { chunk, token };
        self.calls.send(context, call, job, StoreRequest::S3(Box::new(request), labs_only()), actions);
        self.upload = Upload::Underway(call, chunk, None);
    }

    pub(super) fn write_chunk(
        &mut self,
        context: Context<'_>,
        job: JobId,
        token: Token,
        chunk: u8,
        unconditional: bool,
        actions: &mut Actions,
    ) {
        let compares = compares(context.settings) && !unconditional;
        let change = Change { job, purpose: Purpose::Chunk(token, chunk), compares };
        match &mut self.upload {
            Upload::Stored(stored) if *stored == chunk => self.rewrite(context, change, actions),
            Upload::Underway(_, _, ready) => {
                *ready = Some(change);
                self.calls.wait(context, actions);
            }
            // A worker that raises late builds its chunk from what it read before.
            _ => {
                self.build_chunk(context, job, token, chunk, actions);
                if let Upload::Underway(_, _, ready) = &mut self.upload {
                    *ready = Some(change);
                }
            }
        }
    }

    pub(super) fn set_done(&mut self, context: Context<'_>, job: JobId, token: Token, actions: &mut Actions) {
        let change = Change { job, purpose: Purpose::Done(token), compares: compares(context.settings) };
        self.rewrite(context, change, actions);
    }

    /// Rewrites the manifest as it was seen last.
    fn rewrite(&mut self, context: Context<'_>, change: Change, actions: &mut Actions) {
        let Some((etag, seen)) = &self.seen else {
            self.read(context, change.job, Task::Read(change), actions);
            return;
        };
        let if_match = change.compares.then_some(*etag);
        let manifest = change.of(seen, context);
        let task = Task::Rewrite(change, Box::new(manifest.clone()));
        let put = PutManifest { manifest, if_match, purpose: change.purpose };
        self.ask(context, change.job, Request::PutManifest(Box::new(put)), task, actions);
    }

    pub(super) fn answered(
        &mut self,
        context: Context<'_>,
        call: CallId,
        reply: StoreReply,
        actions: &mut Actions,
    ) -> Option<StoreOutcome> {
        let StoreReply::S3(reply, ..) = reply else { return None };
        if let Upload::Underway(asked, chunk, ready) = self.upload
            && asked == call
        {
            self.upload = Upload::Stored(chunk);
            // 412 means that an earlier attempt of its own has stored it: nobody else writes under this key.
            match ready {
                Some(change) => self.rewrite(context, change, actions),
                None => self.calls.quiet(actions),
            }
            return None;
        }
        if !self.calls.answered(call, actions) {
            return None;
        }
        let task = std::mem::replace(&mut self.task, Task::Nothing);
        match (task, reply) {
            (Task::ReadRow, Reply::Manifest(_, manifest)) => Some(StoreOutcome::Row(Box::new(manifest.row()))),
            (Task::ReadFence, Reply::Manifest(etag, manifest)) => {
                let fence = manifest.token;
                self.seen = Some((etag, *manifest));
                Some(StoreOutcome::Fence(fence))
            }
            (Task::ReadIndex(job, mut claims), Reply::Manifest(_, manifest)) => {
                claims.extend(manifest.claim(job));
                let next = JobId(job.0 + 1);
                if next.0 >= context.plan.jobs {
                    return Some(StoreOutcome::Claims(claims));
                }
                self.read(context, next, Task::ReadIndex(next, claims), actions);
                None
            }
            (Task::Read(change), Reply::Manifest(etag, manifest)) => {
                let outcome = change.outcome_of_reading(&manifest);
                self.seen = Some((etag, *manifest));
                if outcome.is_some() {
                    return outcome;
                }
                self.rewrite(context, change, actions);
                matches!(change.purpose, Purpose::Raise(_)).then_some(StoreOutcome::Underway)
            }
            (Task::Rewrite(change, written), Reply::Rewritten(etag)) => {
                let (_, before) = self.seen.replace((etag, *written))?;
                Some(match change.purpose {
                    Purpose::Raise(_) => StoreOutcome::Row(Box::new(before.row())),
                    _ => StoreOutcome::Accepted,
                })
            }
            // Somebody was faster or is at it, or an answer was lost: the manifest tells.
            (Task::Rewrite(change, _), Reply::PreconditionFailed | Reply::Conflict) => {
                self.read(context, change.job, Task::Read(change), actions);
                None
            }
            _ => None,
        }
    }
}

/// Whether versions and tokens are compared at all; a fence that refuses equal tokens cannot be had here, because S3
/// compares no tokens.
fn compares(settings: &Settings) -> bool {
    settings.fence != FenceMode::Off
}

impl Change {
    /// The manifest after the change.
    fn of(self, seen: &Manifest, context: Context<'_>) -> Manifest {
        let mut manifest = seen.clone();
        match self.purpose {
            Purpose::Raise(token) => {
                manifest.state = RowState::Running;
                manifest.token = token;
                manifest.owner = Some(token);
                manifest.claimed_since = Some(context.wall());
            }
            Purpose::Chunk(token, chunk) => {
                manifest.chunks.insert(chunk, token);
            }
            Purpose::Done(_) => {
                manifest.state = RowState::Done;
                manifest.claimed_since = None;
            }
            Purpose::Requeue(_) => {
                manifest.state = RowState::Queued;
                manifest.owner = None;
                manifest.claimed_since = None;
            }
        }
        manifest
    }

    /// What a manifest that was read means for the change; nothing if it can be made.
    fn outcome_of_reading(self, manifest: &Manifest) -> Option<StoreOutcome> {
        let done = manifest.state == RowState::Done;
        let (token, outcome) = match self.purpose {
            Purpose::Raise(token) => (token, done.then(|| StoreOutcome::Row(Box::new(manifest.row())))),
            Purpose::Chunk(token, chunk) => {
                let own = manifest.chunks.get(&chunk) == Some(&token);
                (token, own.then_some(StoreOutcome::Accepted))
            }
            Purpose::Done(token) => (token, None),
            Purpose::Requeue(claim) => {
                let as_seen = manifest.state == RowState::Running
                    && manifest.owner == Some(claim.owner)
                    && manifest.token == claim.fence;
                return (!as_seen).then_some(StoreOutcome::Refused);
            }
        };
        if outcome.is_some() {
            return outcome;
        }
        if done {
            return Some(StoreOutcome::Refused);
        }
        let superseded = self.compares && token != NO_TOKEN && manifest.token > token;
        superseded.then_some(StoreOutcome::Superseded)
    }
}

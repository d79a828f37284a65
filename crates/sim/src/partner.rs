//! A partner outside: an e-mail service, a payment API, somebody's webhook.
//!
//! It knows no fence: it carries out what it is asked.
//! All that it can do against a second call for the same thing is to store a key with the effect, and recognise the
//! key.

use litemap::LiteMap;

use crate::actor::{Actions, Context, Input};
use crate::event::Kind;
use crate::labs_only::labs_only;
use crate::machine::JobId;
use crate::message::{Message, PartnerCall, PartnerReply};

/// The partner and what it has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Partner {
    /// How often it has done what was asked for each chunk.
    done: LiteMap<(JobId, u8), u32>,
    /// The keys that it stores with what it has done.
    keys: Vec<(JobId, u8)>,
}

impl Partner {
    /// A partner that has done nothing yet.
    pub fn new() -> Partner {
        Partner::default()
    }

    /// How often it has done what was asked for each chunk of a job.
    pub fn done(&self, job: JobId) -> impl Iterator<Item = (u8, u32)> + '_ {
        self.done.iter().filter(move |((of, _), _)| *of == job).map(|((_, chunk), times)| (*chunk, *times))
    }

    /// Takes one input.
    pub fn handle(&mut self, context: Context<'_>, input: Input, actions: &mut Actions) {
        let Input::Message { from, message: Message::PartnerCall(call, ..) } = input else { return };
        let Some(worker) = from.worker() else { return };
        let PartnerCall { job, chunk, keyed } = call;
        let known = keyed && self.keys.contains(&(job, chunk));
        if known {
            actions.record(Kind::EffectRecognised { job, worker, chunk, labs: labs_only() });
        } else {
            let times = self.done.entry((job, chunk)).or_default();
            *times += 1;
            let (times, customers) = (*times, context.plan.invoices_per_chunk);
            actions.record(Kind::EffectDone { job, worker, chunk, customers, times, labs: labs_only() });
            if keyed {
                self.keys.push((job, chunk));
            }
        }
        actions.send(from, Message::PartnerReply(PartnerReply { job, chunk, known }, labs_only()));
    }
}

//! What a drill is made of.
//!
//! The build script reads the files in `content` into these types and prints them as Rust, with `Debug`: so everything
//! here is plain data whose `Debug` is derived.
//! Times are microseconds of true time; interventions, patterns, values and conditions are text in their grammars.

/// A drill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drill {
    /// The name in links, in the learner’s progress and on the command line: a-z, 0-9 and -.
    pub id: &'static str,
    /// What it is called; gives nothing away.
    pub title: &'static str,
    /// The part of the course that it belongs to, 1 to 12.
    pub part: u8,
    /// What it proves that the learner can do: numbers of [`OUTCOMES`](crate::OUTCOMES), from 1.
    pub outcomes: &'static [u8],
    /// The rules that it is about: numbers of [`RULES`](crate::RULES), from 1.
    pub rules: &'static [u8],
    /// What the learner must know, in paragraphs; no answer in it.
    pub situation: &'static [&'static str],
    /// The run that it is about.
    pub setup: Setup,
    /// Further runs, shown together with the first.
    pub also: &'static [Also],
    /// What is asked.
    pub task: Task,
    /// Why it comes out as it does, in paragraphs; shown after the run.
    pub why: &'static [&'static str],
    /// Patterns of the events that show it.
    pub shows: &'static [&'static str],
    /// What to try next.
    pub variation: Option<Variation>,
}

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The id of the scenario.
    pub lab: &'static str,
    /// The complete list of interventions; `None`: the scenario’s own.
    pub interventions: Option<&'static str>,
    /// The seed.
    pub seed: u64,
}

/// A further run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Also {
    /// Its name in conditions.
    pub name: &'static str,
    /// What is different in it, for the learner.
    pub text: &'static str,
    /// What is run.
    pub setup: Setup,
}

/// Something to try after the why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variation {
    /// What to try and what to watch.
    pub text: &'static str,
    /// What is run.
    pub setup: Setup,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Say what happens before it is run.
    Predict {
        /// Nothing later than this is shown before the commitment.
        hide_micros: i64,
        /// The question.
        ask: Ask,
    },
    /// Bring something about by interventions.
    BreakIt {
        /// What to bring about.
        task: &'static str,
        /// Conditions that must all hold.
        goal: &'static [&'static str],
        /// The most interventions that may be added.
        limit: u8,
        /// The fewest that reach the goal.
        par: u8,
        /// Changes that count here and nowhere else, such as `fence off`, `set` and `restore`.
        allow: &'static [&'static str],
        /// Interventions that reach the goal, as many as `par`.
        solution: &'static str,
        /// Hints, from the faintest to the plainest.
        hints: &'static [&'static str],
        /// What is said to a run that does not win: the first whose conditions hold.
        mistakes: &'static [Mistake],
        /// What is said when none of them holds.
        otherwise: &'static str,
        /// What is searched to show that fewer interventions than `par` do not suffice.
        bounds: Bounds,
    },
    /// Change the fewest things so that no attack works.
    FixIt {
        /// What to bring about.
        task: &'static str,
        /// What can be changed.
        changes: &'static [Offer],
        /// What it must withstand, each in a run of its own.
        attacks: &'static [Attack],
        /// Conditions that must hold under each attack.
        goal: &'static [&'static str],
        /// Conditions that must hold without any.
        works: &'static [&'static str],
        /// The fewest changes that suffice.
        par: u8,
    },
    /// Explain it in a few sentences, then compare with the model answer.
    Explain {
        /// The question.
        question: &'static str,
        /// The model answer, one sentence each.
        answer: &'static [&'static str],
        /// What a good answer has in it, for the learner to tick.
        check: &'static [&'static str],
    },
}

/// A question before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Choose one of several.
    Choose {
        /// The question.
        question: &'static str,
        /// What can be chosen.
        options: &'static [Choice],
    },
    /// Bring events into their order.
    Order {
        /// The question.
        question: &'static str,
        /// The events, in the order in which they are offered.
        items: &'static [Item],
        /// What is said to a wrong order: the first that fits.
        mistakes: &'static [Swap],
        /// What is said when none of them fits.
        otherwise: &'static str,
    },
    /// Type a number.
    Number {
        /// The question.
        question: &'static str,
        /// Its unit: “s”, or what is counted; may be empty.
        unit: &'static str,
        /// The number that is right, as a value to be read off the run.
        value: &'static str,
        /// How far off is still right, in millionths.
        tolerance_micros: i64,
        /// The least that can be typed, in millionths.
        min_micros: i64,
        /// The most that can be typed, in millionths.
        max_micros: i64,
        /// What is said to a wrong number: the first that is near.
        mistakes: &'static [Near],
        /// What is said when none of them is near.
        otherwise: &'static str,
    },
    /// Mark an instant on the timeline.
    Mark {
        /// The question.
        question: &'static str,
        /// The instant that is right, as a value to be read off the run.
        value: &'static str,
        /// How far off is still right.
        tolerance_micros: i64,
        /// What is said to a wrong instant: the first that is near.
        mistakes: &'static [Near],
        /// What is said when none of them is near.
        otherwise: &'static str,
    },
}

/// Something to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What it says.
    pub text: &'static str,
    /// Conditions: it is right if all of them hold.
    pub when: &'static [&'static str],
    /// What is said to who chooses it.
    pub feedback: &'static str,
    /// The misconception behind it, in a few words; empty only if it is right.
    pub misconception: &'static str,
}

/// Something to put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it says.
    pub text: &'static str,
    /// The pattern of the event that it is.
    pub event: &'static str,
}

/// A wrong order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swap {
    /// The item, from 0, that the learner has put earlier …
    pub before: usize,
    /// … than this one.
    pub after: usize,
    /// What is said.
    pub feedback: &'static str,
    /// The misconception behind it.
    pub misconception: &'static str,
}

/// A wrong number or instant that many take for the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Near {
    /// The value.
    pub value: &'static str,
    /// How far off still counts as this, in millionths.
    pub tolerance_micros: i64,
    /// What is said.
    pub feedback: &'static str,
    /// The misconception behind it.
    pub misconception: &'static str,
}

/// A run that does not win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Conditions that all hold.
    pub when: &'static [&'static str],
    /// What is said.
    pub feedback: &'static str,
    /// The misconception behind it; may be empty.
    pub misconception: &'static str,
}

/// A change that is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What it is.
    pub text: &'static str,
    /// Its interventions.
    pub interventions: &'static str,
    /// What it does not cover; said when it was taken in vain.
    pub feedback: &'static str,
    /// The misconception behind it; may be empty.
    pub misconception: &'static str,
}

/// What a setting must withstand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attack {
    /// What it is called.
    pub name: &'static str,
    /// Its interventions.
    pub interventions: &'static str,
}

/// What the search for a shorter way goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The verbs; empty: all of them.
    pub verbs: &'static [&'static str],
    /// The step between two instants that are tried.
    pub step_micros: i64,
    /// The first of them.
    pub from_micros: i64,
    /// The last of them.
    pub to_micros: i64,
    /// The lengths that are tried for pauses, outages, delays and steps of clocks.
    pub lengths_micros: &'static [i64],
}

/// The four kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Say what happens before it is run.
    Predict,
    /// Bring something about by interventions.
    BreakIt,
    /// Change the fewest things so that no attack works.
    FixIt,
    /// Explain it in a few sentences.
    Explain,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Predict, Kind::BreakIt, Kind::FixIt, Kind::Explain];

    /// The folder of its files.
    pub const fn folder(self) -> &'static str {
        match self {
            Kind::Predict => "predict",
            Kind::BreakIt => "break-it",
            Kind::FixIt => "fix-it",
            Kind::Explain => "explain",
        }
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Predict => "Predict",
            Kind::BreakIt => "Break it",
            Kind::FixIt => "Fix it",
            Kind::Explain => "Explain",
        }
    }
}

impl Drill {
    /// Its kind.
    pub const fn kind(&self) -> Kind {
        match self.task {
            Task::Predict { .. } => Kind::Predict,
            Task::BreakIt { .. } => Kind::BreakIt,
            Task::FixIt { .. } => Kind::FixIt,
            Task::Explain { .. } => Kind::Explain,
        }
    }

    /// What is asked, in a sentence or two.
    pub const fn question(&self) -> &'static str {
        match self.task {
            Task::Predict {
                ask:
                    Ask::Choose { question, .. }
                    | Ask::Order { question, .. }
                    | Ask::Number { question, .. }
                    | Ask::Mark { question, .. },
                ..
            }
            | Task::Explain { question, .. } => question,
            Task::BreakIt { task, .. } | Task::FixIt { task, .. } => task,
        }
    }
}

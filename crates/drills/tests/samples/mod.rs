//! Drills for tests: the text of a file that is right, to be changed.
#![allow(dead_code, unreachable_pub, reason = "each test uses some of them")]

use lease_lab_drills::{Drill, Kind, format};

pub const CHOOSE: &str = r#"
title = "A title"
part = 4
outcomes = [4]
lab = "zombie"
situation = ["A freezes."]
hide = 18.0
why = ["A fence."]
shows = ["write-refused worker=A"]

[choose]
question = "What happens?"

[[choose.option]]
text = "Refused"
when = ["happens write-refused worker=A"]
feedback = "So it is."

[[choose.option]]
text = "Recorded"
when = ["happens chunk-written worker=A after 18"]
feedback = "No."
misconception = "Late is fine"

[variation]
text = "Try it."
do = ""
"#;

pub const ORDER: &str = r#"
title = "A title"
part = 4
outcomes = [4]
lab = "zombie"
situation = ["A freezes."]
hide = 12.0
why = ["A fence."]
shows = ["lease-expired worker=A"]

[order]
question = "In which order?"
otherwise = "No."

[[order.item]]
text = "B raises"
event = "fence-raised worker=B"

[[order.item]]
text = "A’s lease ends"
event = "lease-expired worker=A"

[[order.item]]
text = "B gets the lock"
event = "lease-granted worker=B"

[[order.mistake]]
before = 3
after = 2
feedback = "Not before the lease ends."
misconception = "A lock can be taken away"

[variation]
text = "Try it."
do = ""
"#;

pub const NUMBER: &str = r#"
title = "A title"
part = 4
outcomes = [4]
lab = "zombie"
situation = ["A freezes."]
hide = 12.0
why = ["A fence."]
shows = ["lease-expired worker=A"]

[number]
question = "How long?"
unit = "s"
value = "time gave-up worker=A - time lease-expired worker=A"
tolerance = 0.5
min = 0
max = 60
otherwise = "No."

[[number.mistake]]
value = 15
tolerance = 1
feedback = "That is the pause."
misconception = "The lease ends at once"

[variation]
text = "Try it."
do = ""
"#;

pub const MARK: &str = r#"
title = "A title"
part = 4
outcomes = [4]
lab = "zombie"
situation = ["A freezes."]
hide = 12.0
why = ["A fence."]
shows = ["lease-expired worker=A"]

[mark]
question = "When?"
value = "time lease-expired worker=A"
tolerance = 0.5
otherwise = "No."

[[mark.mistake]]
value = "time resumed worker=A"
tolerance = 1
feedback = "That is when it wakes up."
misconception = "The lease waits for A"

[variation]
text = "Try it."
do = ""
"#;

pub const BREAK_IT: &str = r#"
title = "A title"
part = 4
outcomes = [4]
lab = "billing-story"
do = "0 fence off"
situation = ["The fence is off."]
task = "Make somebody pay twice."
goal = ["broken charged-once"]
limit = 2
par = 1
solution = "4 pause A 15"
hints = ["A pause."]
otherwise = "No."
why = ["A zombie."]
shows = ["chunk-written worker=A chunk=2"]

[[mistake]]
when = ["happens crashed worker=A"]
feedback = "The dead write nothing."
misconception = "A crash does harm"

[variation]
text = "Try it."
do = ""
"#;

pub const FIX_IT: &str = r#"
title = "A title"
part = 4
outcomes = [4]
lab = "raise-first"
do = "0 raise late"
situation = ["B raises late."]
task = "Close the gap."
goal = ["holds charged-once"]
works = ["holds job-finishes"]
par = 1
why = ["A read that is final."]
shows = ["fence-raised worker=B"]

[[change]]
text = "A margin of 4 s"
do = "0 margin 4"
feedback = "A frozen A looks at no clock."
misconception = "A margin covers a pause"

[[change]]
text = "Raise first"
do = "0 raise first"
feedback = "It closes the gap."

[[attack]]
name = "A pause"
do = "4 pause A 9.7"

[variation]
text = "Try it."
do = "4 pause A 9.7"
"#;

pub const EXPLAIN: &str = r#"
title = "A title"
part = 1
outcomes = [1]
lab = "zombie"
question = "Why?"
answer = ["One.", "Two.", "Three."]
check = ["One.", "Two.", "Three."]
"#;

/// A sample of each sort.
pub const ALL: [(Kind, &str); 7] = [
    (Kind::Predict, CHOOSE),
    (Kind::Predict, ORDER),
    (Kind::Predict, NUMBER),
    (Kind::Predict, MARK),
    (Kind::BreakIt, BREAK_IT),
    (Kind::FixIt, FIX_IT),
    (Kind::Explain, EXPLAIN),
];

/// The drill of a sample in which one text takes the place of another, every time that it occurs.
pub fn changed(kind: Kind, sample: &str, from: &str, to: &str) -> Result<Drill, String> {
    assert!(sample.contains(from), "the sample has no “{from}”");
    format::read("sample", kind, &sample.replace(from, to))
}

/// The drill of a sample.
pub fn drill(kind: Kind, sample: &str) -> Drill {
    format::read("sample", kind, sample).expect("the sample can be read")
}

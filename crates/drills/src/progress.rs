//! What a learner has answered, and when it comes back.
//!
//! Nothing here knows what time it is: a day is a number of days since 1970, and the caller hands it in.
//! An attempt is never changed or overwritten, so the first answer can be shown honestly later.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use crate::all;
use crate::drill::{Drill, Kind};

/// The version of the exported format.
pub const VERSION: u64 = 1;
/// The longest text that is imported, in bytes.
pub const IMPORT_BYTES_MAX: usize = 2_000_000;
/// After a right answer a drill comes back after so many days; after the last of these it is finished.
pub const INTERVALS: [u32; 3] = [1, 3, 7];
/// A wrong answer comes back after so many days.
const AFTER_A_MISTAKE: u32 = 1;
/// More attempts at one drill are not kept: the second oldest makes room, never the first.
const ATTEMPTS_MAX: usize = 500;
const ITEMS_MAX: usize = 5_000;
const ID_BYTES_MAX: usize = 80;
const ANSWER_BYTES_MAX: usize = 20_000;
/// The year 4707: as late as dates that people type can be.
const DAY_MAX: u32 = 1_000_000;
/// A session mixes the kinds of as many of the next new drills, so that it does not run ahead of the course.
const AHEAD: usize = 10;

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The day, counted from 1970.
    pub day: u32,
    /// Whether it was right.
    pub right: bool,
    /// From 0 to 100.
    pub score: u8,
    /// What was answered, as [`Answer`](crate::grade::Answer) prints and reads it.
    pub answer: String,
}

/// Everything that a learner has answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Sorted by id. Ids that no drill has any more are kept.
    items: Vec<(String, Vec<Attempt>)>,
}

/// When a drill comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// It was never answered.
    New,
    /// On this day, or on any day after it.
    On(u32),
    /// Not any more: it was right after each of the intervals.
    Finished,
}

impl Progress {
    /// Adds an answer.
    pub fn record(&mut self, id: &str, attempt: Attempt) {
        let place = match self.items.binary_search_by(|(other, _)| other.as_str().cmp(id)) {
            Ok(place) => place,
            Err(place) => {
                self.items.insert(place, (id.to_owned(), Vec::new()));
                place
            }
        };
        if let Some((_, attempts)) = self.items.get_mut(place) {
            if attempts.len() >= ATTEMPTS_MAX {
                attempts.remove(1);
            }
            attempts.push(attempt);
        }
    }

    /// The answers to a drill, the first one first.
    pub fn attempts(&self, id: &str) -> &[Attempt] {
        match self.items.binary_search_by(|(other, _)| other.as_str().cmp(id)) {
            Ok(place) => &self.items[place].1,
            Err(_) => &[],
        }
    }

    /// When a drill comes back.
    ///
    /// A right answer counts if the drill was due; sooner, it shows a fresh memory only. A wrong one always counts.
    pub fn due(&self, id: &str) -> Due {
        let mut due = Due::New;
        let mut rights = 0;
        for Attempt { day, right, .. } in self.attempts(id) {
            let early = match due {
                Due::New => false,
                Due::On(due) => *day < due,
                Due::Finished => true,
            };
            if !right {
                rights = 0;
                due = Due::On(day.saturating_add(AFTER_A_MISTAKE));
            } else if !early {
                due = INTERVALS.get(rights).map_or(Due::Finished, |days| Due::On(day.saturating_add(*days)));
                rights += 1;
            }
        }
        due
    }

    /// The drills that come back on `today`, the longest due first.
    pub fn due_today(&self, today: u32) -> Vec<&'static Drill> {
        let mut due: Vec<(u32, &'static Drill)> = Vec::new();
        for drill in all() {
            if let Due::On(day) = self.due(drill.id)
                && day <= today
            {
                // What is due on the same day stays in the order of the course.
                let place = due.partition_point(|(other, _)| *other <= day);
                due.insert(place, (day, drill));
            }
        }
        due.into_iter().map(|(_, drill)| drill).collect()
    }

    /// The next day after `today` on which a drill comes back.
    pub fn next_day(&self, today: u32) -> Option<u32> {
        let days = all().filter_map(|drill| match self.due(drill.id) {
            Due::On(day) if day > today => Some(day),
            _ => None,
        });
        days.min()
    }

    /// On how many days in a row something was answered, up to today or yesterday.
    pub fn streak(&self, today: u32) -> u32 {
        let answered =
            |day: u32| self.items.iter().any(|(_, attempts)| attempts.iter().any(|attempt| attempt.day == day));
        let mut day = if answered(today) { Some(today) } else { today.checked_sub(1) };
        let mut streak = 0;
        while let Some(this) = day.filter(|day| answered(*day)) {
            streak += 1;
            day = this.checked_sub(1);
        }
        streak
    }

    /// Of the drills that prove an outcome, numbered from 1: how many were right when they were last answered, and
    /// how many there are.
    pub fn proved(&self, outcome: u8) -> (usize, usize) {
        let of_it = || all().filter(|drill| drill.outcomes.contains(&outcome));
        let right = of_it().filter(|drill| self.attempts(drill.id).last().is_some_and(|attempt| attempt.right));
        (right.count(), of_it().count())
    }

    /// Up to `count` drills for today: first what is due and was right the last time, then what is due and was wrong,
    /// then new ones in the order of the course, with their kinds mixed. The same every time it is asked.
    pub fn session(&self, today: u32, count: usize) -> Vec<&'static Drill> {
        let was_right = |drill: &&'static Drill| self.attempts(drill.id).last().is_some_and(|attempt| attempt.right);
        let (mut session, missed): (Vec<&'static Drill>, Vec<_>) =
            self.due_today(today).into_iter().partition(was_right);
        session.extend(missed);
        session.truncate(count);
        let mut new: Vec<&'static Drill> = all().filter(|drill| self.due(drill.id) == Due::New).collect();
        while session.len() < count && !new.is_empty() {
            let seen = |kind: Kind| session.iter().filter(|drill| drill.kind() == kind).count();
            // The first of those whose kind is rarest so far.
            let ahead = new.iter().take(AHEAD).enumerate();
            let rarest = ahead.min_by_key(|(place, drill)| (seen(drill.kind()), *place));
            let place = rarest.map_or(0, |(place, _)| place);
            session.push(new.remove(place));
        }
        session
    }

    /// Everything as JSON, the same for the same answers, for a file or the browser’s storage.
    pub fn export(&self) -> String {
        // Writing to a string cannot fail, and a text can always be written as JSON.
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let mut json = format!("{{\n  \"version\": {VERSION},\n  \"items\": {{");
        for (place, (id, attempts)) in self.items.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let _ = write!(json, "{comma}\n    {}: {{\n      \"attempts\": [", quoted(id));
            for (place, Attempt { day, right, score, answer }) in attempts.iter().enumerate() {
                let comma = if place == 0 { "" } else { "," };
                let answer = quoted(answer);
                let _ = write!(
                    json,
                    "{comma}\n        {{ \"day\": {day}, \"right\": {right}, \"score\": {score}, \"answer\": {answer} }}"
                );
            }
            json.push_str("\n      ]\n    }");
        }
        json.push_str(if self.items.is_empty() { "}\n}\n" } else { "\n  }\n}\n" });
        json
    }

    /// Reads what was exported. Whoever calls this replaces the progress by what comes back, or leaves it as it is.
    ///
    /// # Errors
    /// One sentence: what is wrong, where, and what was expected.
    pub fn import(text: &str) -> Result<Progress, String> {
        if text.len() > IMPORT_BYTES_MAX {
            return Err(format!("the file has {} bytes; expected at most {IMPORT_BYTES_MAX}", text.len()));
        }
        let json: Json = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            format!("the file is not JSON from line {line}, column {column} on; expected a file that was exported here")
        })?;
        let file = object(&json, "the file", &["version", "items"])?;
        match file.get("version").map(Json::as_u64) {
            Some(Some(VERSION)) => {}
            _ => return Err(format!("“version” in the file is not {VERSION}; expected a file that was exported here")),
        }
        let items = file.get("items").and_then(Json::as_object);
        let items = items.ok_or("“items” is missing in the file; expected an object with an entry for each drill")?;
        if items.len() > ITEMS_MAX {
            return Err(format!("“items” has {} entries; expected at most {ITEMS_MAX}", items.len()));
        }
        let mut progress = Progress::default();
        for (id, item) in items {
            let short: String = id.chars().take(ID_BYTES_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
            if id.is_empty() || id.len() > ID_BYTES_MAX || id.contains(char::is_control) {
                return Err(format!("“{short}” in “items” is not the id of a drill; expected one such as late-write"));
            }
            let place = format!("“{short}”");
            let attempts = object(item, &place, &["attempts"])?.get("attempts").and_then(Json::as_array);
            let attempts = attempts.filter(|attempts| (1..=ATTEMPTS_MAX).contains(&attempts.len()));
            let attempts =
                attempts.ok_or_else(|| format!("{place} has no “attempts”; expected a list of 1 to {ATTEMPTS_MAX}"))?;
            for (number, attempt) in attempts.iter().enumerate() {
                progress.record(id, read_attempt(attempt, &format!("attempt {} of {place}", number + 1))?);
            }
        }
        Ok(progress)
    }
}

fn object<'a>(json: &'a Json, place: &str, keys: &[&str]) -> Result<&'a Map<String, Json>, String> {
    let expected = keys.join(", ");
    let object = json.as_object().ok_or_else(|| format!("{place} is not an object; expected one with {expected}"))?;
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(_) => Err(format!("{place} has a key that is not known here; expected {expected}")),
        None => Ok(object),
    }
}

fn read_attempt(json: &Json, place: &str) -> Result<Attempt, String> {
    let object = object(json, place, &["day", "right", "score", "answer"])?;
    let number = |key: &str, max: u32| {
        let number = object.get(key).and_then(Json::as_u64).and_then(|number| u32::try_from(number).ok());
        number
            .filter(|number| *number <= max)
            .ok_or_else(|| format!("“{key}” in {place} is wrong; expected a whole number from 0 to {max}"))
    };
    let right = object.get("right").and_then(Json::as_bool);
    let answer = object.get("answer").and_then(Json::as_str).filter(|answer| answer.len() <= ANSWER_BYTES_MAX);
    Ok(Attempt {
        day: number("day", DAY_MAX)?,
        right: right.ok_or_else(|| format!("“right” in {place} is wrong; expected true or false"))?,
        score: number("score", 100)? as u8,
        answer: answer
            .ok_or_else(|| {
                format!("“answer” in {place} is wrong; expected a text of at most {ANSWER_BYTES_MAX} bytes")
            })?
            .to_owned(),
    })
}

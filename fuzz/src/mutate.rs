//! The same targets without cargo-fuzz: seeds, mutated by chance, and plain chance; the same texts for the same seed.
//!
//! `mutate COUNT [TARGET] [SEED]` runs every target, or one, on so many texts; `mutate seeds FOLDER` writes the seeds
//! as files, one folder for each target, for cargo-fuzz to begin with.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, panic};

use lease_lab_fuzz::{TARGETS, Target, seeds};

/// A text that takes longer is reported as one that hangs.
const LONG: Duration = Duration::from_secs(2);
/// Texts do not grow beyond this; links end at 16,384.
const LENGTH_MAX: usize = 20_000;

/// The text that is being read, to be told when it ends in a panic.
static PRESENT: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["seeds", folder] => write_seeds(Path::new(folder)),
        [count, ref rest @ ..] if rest.len() <= 2 => run(count, rest),
        _ => Err("expected COUNT [TARGET] [SEED], or seeds FOLDER".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

fn write_seeds(folder: &Path) -> Result<(), String> {
    for (name, _) in TARGETS {
        let folder = folder.join(name);
        let place = folder.display().to_string();
        let wrong = |error| format!("{place} cannot be written: {error}");
        fs::create_dir_all(&folder).map_err(wrong)?;
        for (number, text) in seeds::of(name).iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:04}")), text).map_err(wrong)?;
        }
    }
    Ok(())
}

fn run(count: &str, rest: &[&str]) -> Result<(), String> {
    let count: u64 = count.parse().map_err(|_| format!("“{count}” is no number of texts"))?;
    let seed = rest.get(1).map_or(Ok(1), |text| text.parse()).map_err(|_| "the seed is no number".to_owned())?;
    let wanted = |name: &str| rest.first().is_none_or(|only| *only == name || *only == "all");
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if let Ok(text) = PRESENT.lock() {
            eprintln!("with the text {:?}:", *text);
        }
        tell(info);
    }));
    for (name, target) in TARGETS.into_iter().filter(|(name, _)| wanted(name)) {
        try_many(name, target, count, seed)?;
    }
    Ok(())
}

fn try_many(name: &str, target: Target, count: u64, seed: u64) -> Result<(), String> {
    let seeds = seeds::of(name);
    let mut chance = Chance(seed);
    let (from, mut slowest, mut bytes) = (Instant::now(), (Duration::ZERO, 0), 0_u64);
    for number in 0..count {
        let text = match usize::try_from(number).ok().and_then(|place| seeds.get(place)) {
            Some(seed) => seed.clone(),
            None => chance.text(&seeds),
        };
        bytes += text.len() as u64;
        let length = text.len();
        if let Ok(mut present) = PRESENT.lock() {
            present.clone_from(&text);
        }
        let from = Instant::now();
        target(&text);
        let took = from.elapsed();
        if took > LONG {
            return Err(format!("{name} took {took:?} with the text {text:?}"));
        }
        slowest = slowest.max((took, length));
    }
    println!(
        "{name}: {count} texts from {} seeds, {} MB, in {:.1} s; the slowest took {:?} with {} bytes",
        seeds.len(),
        bytes / 1_000_000,
        from.elapsed().as_secs_f64(),
        slowest.0,
        slowest.1
    );
    Ok(())
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Plain chance now and then, otherwise a seed that was changed in some places.
    fn text(&mut self, seeds: &[String]) -> String {
        if self.below(16) == 0 {
            let length = self.below(64);
            return (0..length).map(|_| self.letter()).collect();
        }
        let place = self.below(seeds.len());
        let mut letters: Vec<char> = seeds.get(place).map_or(Vec::new(), |seed| seed.chars().collect());
        // Small changes find what large ones miss, and the other way round.
        let changes = 1 + self.below(4) * self.below(4);
        for _ in 0..changes {
            self.change(&mut letters, seeds);
        }
        letters.truncate(LENGTH_MAX);
        letters.into_iter().collect()
    }

    fn change(&mut self, letters: &mut Vec<char>, seeds: &[String]) {
        let from = self.below(letters.len() + 1);
        let end = (from + self.below(12)).min(letters.len());
        match self.below(8) {
            0 => letters.insert(from, self.letter()),
            1 => drop(letters.drain(from..end)),
            2 => {
                let letter = self.letter();
                if let Some(old) = letters.get_mut(from) {
                    *old = letter;
                }
            }
            // A piece once more, or many times.
            3 | 4 => {
                let times = if self.below(64) == 0 { self.below(1_000) } else { self.below(3) };
                let piece: Vec<char> = letters.get(from..end).unwrap_or_default().repeat(times);
                letters.splice(from..from, piece);
            }
            // The end of another seed.
            5 => {
                let other = self.below(seeds.len());
                let other: Vec<char> = seeds.get(other).map_or(Vec::new(), |seed| seed.chars().collect());
                let rest = self.below(other.len() + 1);
                letters.truncate(from);
                letters.extend(other.get(rest..).unwrap_or_default());
            }
            6 => {
                let number = ["0", "-1", "18446744073709551615", "999999999.999999", "1e9", "0.0000001", "200"];
                let number = number.get(self.below(number.len())).copied().unwrap_or_default();
                letters.splice(from..end, number.chars());
            }
            _ => {
                let to = self.below(letters.len() + 1);
                if from < letters.len() && to < letters.len() {
                    letters.swap(from, to);
                }
            }
        }
    }

    fn letter(&mut self) -> char {
        const MARKS: &[u8] = b" ;:=&%+-.,|#\"'{}[]\\/?0123456789ABnrs\n\t\0";
        match self.below(8) {
            0 => char::from_u32(self.below(0x11_0000) as u32).unwrap_or('\u{fffd}'),
            1 | 2 => char::from(b' ' + self.below(95) as u8),
            _ => MARKS.get(self.below(MARKS.len())).map_or(' ', |mark| char::from(*mark)),
        }
    }
}

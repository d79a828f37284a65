//! What a margin covers.

use super::{Calculator, Input, ONE, Output, over, seconds, times, told, wide};

const S: i64 = ONE;
const HUNDRED: i128 = 100 * ONE as i128;

pub(super) static CALCULATOR: Calculator = Calculator {
    id: "margin",
    title: "How much of the margin is left",
    intro: "All times count from the moment at which the holder sent the request that gave it the lease, in seconds of \
            the lock service’s clock. The service counts from a little later, when it applied the request: that is on \
            the safe side.",
    inputs: &[
        Input::seconds("lease", "Lease length T", (S, 60 * S), S / 2, 10 * S),
        Input::seconds("margin", "Margin", (0, 30 * S), S / 10, 2 * S),
        Input::seconds("delay", "A write’s way to the store", (0, 20 * S), S / 20, S / 20),
        Input {
            key: "rate-error",
            label: "The holder’s clock is slower than the service’s by",
            unit: "%",
            min: 0,
            max: 50 * S,
            step: S / 20,
            default: S / 10,
        },
        Input::seconds("offset", "The holder’s wall clock is off by", (-60 * S, 60 * S), S / 2, 3 * S),
        Input::seconds("pause", "From the check to the send, pauses included", (0, 60 * S), S / 20, S / 10),
    ],
    work_out,
};

fn work_out(values: &[i64]) -> Vec<Output> {
    let [lease, margin, delay, error, offset, pause] = wide(values);
    // A margin longer than the lease leaves no time at all.
    let right = (lease - margin).max(0);
    let speed = HUNDRED - error;
    let stops = over(times(right, HUNDRED), speed);
    let arrives = stops + pause + delay;
    let left = lease - arrives;
    let needed = lease - times((lease - delay).max(0), speed) * i128::from(ONE) / HUNDRED;
    let without_pause = lease - stops - delay;
    let too_late = (left < 0).then(|| {
        if without_pause >= 0 {
            "Only the pause makes it too late. A pause has no largest length, so no margin covers it: the fence must."
        } else {
            "The write can arrive after the lease has ended. A wider margin covers this much delay and rate error."
        }
        .to_owned()
    });
    let never = (margin >= lease).then(|| "The margin takes the whole lease: the holder may never act.".to_owned());
    vec![
        Output::new(
            "stops",
            "The last check passes until",
            seconds(stops),
            format!("({} − {}) ÷ (1 − {} ÷ 100) = {}", told(lease), told(margin), told(error), told(stops)),
        )
        .warned(never),
        Output::new(
            "arrives",
            "The last write arrives by",
            seconds(arrives),
            format!("{} + {} + {} = {}", told(stops), told(pause), told(delay), told(arrives)),
        ),
        Output::new(
            "left",
            "What is left before the lease ends",
            seconds(left),
            format!("{} − {} = {}", told(lease), told(arrives), told(left)),
        )
        .of_limit(arrives, lease)
        .warned(too_late),
        Output::new(
            "needed",
            "The least margin for this delay and rate error",
            seconds(needed),
            format!(
                "{} − ({} − {}) × (1 − {} ÷ 100) = {}",
                told(lease),
                told(lease),
                told(delay),
                told(error),
                told(needed)
            ),
        ),
        Output::new(
            "offset",
            "What the offset takes from it",
            seconds(0),
            format!("{} × 0 = 0: nobody compares one machine’s wall clock with another’s", super::operand(offset)),
        ),
    ]
}

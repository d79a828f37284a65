//! The earliest moment at which somebody else may take over.

use super::{Calculator, Input, ONE, Output, operand, seconds, told, wide};

const S: i64 = ONE;

pub(super) static CALCULATOR: Calculator = Calculator {
    id: "takeover",
    title: "Earliest safe takeover",
    intro: "What counts is the last renewal that the authority applied, not the last one that was sent. If the \
            authority itself says that the lease is over, nothing is added. Only a claimant that judges by its own \
            clock has to add a claim margin.",
    inputs: &[
        Input::seconds("renewal", "The last renewal was applied at", (0, 60 * S), S / 2, 3 * S),
        Input::seconds("lease", "Lease length", (S, 60 * S), S / 2, 10 * S),
        Input::seconds("margin", "The holder stops earlier by", (0, 30 * S), S / 2, 2 * S),
        Input::seconds("claim-margin", "Claim margin", (0, 30 * S), S / 2, 5 * S),
        Input::seconds("offset", "The claimant’s clock is fast by", (-30 * S, 30 * S), S / 2, 3 * S),
    ],
    work_out,
};

fn work_out(values: &[i64]) -> Vec<Output> {
    let [renewal, lease, margin, claim_margin, offset] = wide(values);
    let over_at = renewal + lease;
    let right_ends = over_at - margin.min(lease);
    let claims = over_at + claim_margin - offset;
    let distance = claims - right_ends;
    let too_early = (claims < over_at).then(|| {
        format!(
            "The clock is fast by more than the claim margin, so the claim comes {} before the lease is over.",
            seconds(over_at - claims)
        )
    });
    let overlap = (distance < 0).then(|| "Two workers may act at the same time, each in good faith.".to_owned());
    vec![
        Output::new(
            "right-ends",
            "The holder’s right to act ends at",
            seconds(right_ends),
            format!("{} + {} − {} = {}", told(renewal), told(lease), told(margin), told(right_ends)),
        ),
        Output::new(
            "authority",
            "If the authority judges: not before",
            seconds(over_at),
            format!("{} + {} = {}", told(renewal), told(lease), told(over_at)),
        ),
        Output::new(
            "own-clock",
            "If the claimant judges by its own clock: it claims at",
            seconds(claims),
            format!("{} + {} − {} = {}", told(over_at), told(claim_margin), operand(offset), told(claims)),
        )
        .warned(too_early),
        Output::new(
            "gap",
            "From the end of the holder’s right to that claim",
            seconds(distance),
            format!("{} − {} = {}", told(claims), told(right_ends), told(distance)),
        )
        .warned(overlap),
    ]
}

//! A row's states, the arrows between them, and when a run took which.

use lease_lab_sim::event::{Event, Kind};
use lease_lab_sim::machine::{JobId, MachineId};
use lease_lab_sim::message::Token;
use lease_lab_sim::store::RowState;
use lease_lab_sim::time::TrueTime;

/// An arrow from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// From.
    pub from: RowState,
    /// To.
    pub to: RowState,
    /// What it is, in a few words.
    pub name: &'static str,
    /// On which condition the store takes it.
    pub condition: &'static str,
    /// When this run took it.
    pub taken: Vec<Taken>,
    /// When somebody wanted to take it, and the store refused.
    pub refused: Vec<Taken>,
}

/// An arrow taken, or wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// When.
    pub at: TrueTime,
    /// By whom.
    pub by: MachineId,
    /// The token that it came with; of a re-queue, the owner that was seen.
    pub token: Token,
    /// The fence right after.
    pub fence: Token,
}

impl Arrow {
    /// Whether it raises the fence: every arrow into RUNNING does.
    pub fn raises(&self) -> bool {
        self.to == RowState::Running
    }
}

/// The places of the arrows in [`arrows`].
const CLAIM: usize = 0;
const TAKE_OVER: usize = 1;
const REQUEUE: usize = 2;
const FINISH: usize = 3;

/// Every arrow that there is, with those that the row of `job` took.
pub fn arrows(events: &[Event], job: JobId) -> Vec<Arrow> {
    use RowState::{Done, Queued, Running};
    let arrow = |from, to, name, condition| Arrow { from, to, name, condition, taken: Vec::new(), refused: Vec::new() };
    let mut arrows = vec![
        arrow(Queued, Running, "a holder claims the job", "fence ≤ token; raises the fence to it"),
        arrow(Running, Running, "a new holder takes over", "fence ≤ token; raises the fence to it"),
        arrow(Running, Queued, "the sweeper re-queues it", "RUNNING, and owner and fence exactly as seen"),
        arrow(Running, Done, "the holder finishes", "fence ≤ token"),
    ];
    let mut state = Queued;
    let mut fence: Token = 0;
    for event in events {
        let at = event.t;
        match event.kind {
            Kind::FenceRaised { job: of, worker, token, .. } if of == job => {
                fence = fence.max(token);
                let place = if state == Queued { CLAIM } else { TAKE_OVER };
                state = Running;
                arrows[place].taken.push(Taken { at, by: worker.into(), token, fence });
            }
            Kind::RaiseRefused { worker, token, fence, .. } if job.is_first() => {
                let place = if state == Queued { CLAIM } else { TAKE_OVER };
                arrows[place].refused.push(Taken { at, by: worker.into(), token, fence });
            }
            Kind::RowRequeued { job: of, owner_token, fence } if of == job => {
                state = Queued;
                arrows[REQUEUE].taken.push(Taken { at, by: MachineId::Sweeper, token: owner_token, fence });
            }
            Kind::RequeueRefused { owner_token, fence, .. } if job.is_first() => {
                arrows[REQUEUE].refused.push(Taken { at, by: MachineId::Sweeper, token: owner_token, fence });
            }
            Kind::JobDone { job: of, worker, token, .. } if of == job => {
                state = Done;
                arrows[FINISH].taken.push(Taken { at, by: worker.into(), token, fence });
            }
            Kind::DoneRefused { worker, token, fence, .. } if job.is_first() => {
                arrows[FINISH].refused.push(Taken { at, by: worker.into(), token, fence });
            }
            _ => {}
        }
    }
    arrows
}

#[cfg(test)]
mod tests {
    use super::*;
    use lease_lab_scenarios::Run;
    use lease_lab_scenarios::run::Input;
    use lease_lab_sim::intervention::parse_list;

    fn arrows_of(id: &str, list: &str) -> Vec<Arrow> {
        let scenario = lease_lab_scenarios::find(id).expect("it is a lab");
        let mut interventions = scenario.own_interventions();
        interventions.extend(parse_list(list).expect("the list can be read"));
        let input = Input { interventions: Some(interventions), ..Input::default() };
        arrows(&Run::new(scenario, input).expect("it makes sense").events, JobId::FIRST)
    }

    fn taken(arrow: &Arrow) -> Vec<(String, Token, Token)> {
        arrow.taken.iter().map(|taken| (taken.by.to_string(), taken.token, taken.fence)).collect()
    }

    #[test]
    fn the_orphan_takes_every_arrow() {
        let arrows = arrows_of("orphan", "");
        let expected: [&[(&str, Token, Token)]; 4] =
            [&[("A", 7, 7), ("C", 15, 15)], &[("B", 12, 12)], &[("sweeper", 12, 12)], &[("C", 15, 15)]];
        for (arrow, expected) in arrows.iter().zip(expected) {
            let expected: Vec<_> =
                expected.iter().map(|(by, token, fence)| ((*by).to_owned(), *token, *fence)).collect();
            assert_eq!(taken(arrow), expected, "{}", arrow.name);
            assert!(arrow.refused.is_empty());
        }
    }

    #[test]
    fn a_requeue_that_comes_too_late_changes_nothing() {
        let arrows = arrows_of("orphan", "40.003 delay sweeper store 1; 40.1 acquire D");
        assert!(arrows[REQUEUE].taken.is_empty());
        assert_eq!(arrows[REQUEUE].refused.len(), 1);
        assert_eq!(arrows[TAKE_OVER].taken.len(), 2);
    }

    #[test]
    fn every_arrow_into_running_raises_the_fence() {
        for list in ["", "31 restart B", "25 acquire D", "0 set sightings 1"] {
            let mut raises: Vec<&Taken> = Vec::new();
            let arrows = arrows_of("orphan", list);
            for arrow in arrows.iter().filter(|arrow| arrow.raises()) {
                raises.extend(&arrow.taken);
            }
            raises.sort_by_key(|taken| taken.at);
            assert!(raises.len() >= 3, "“{list}”");
            assert!(raises.is_sorted_by(|one, next| one.fence < next.fence), "“{list}”: {raises:?}");
        }
    }
}

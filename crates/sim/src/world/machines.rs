//! All machines of a world, found by name.

use super::machine::Machine;
use crate::machine::MachineId;

/// The machines, in the order of their names: workers first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Machines {
    list: Vec<(MachineId, Machine)>,
    /// How many of them are workers.
    workers: usize,
}

impl Machines {
    /// Where `id` is, or would be.
    fn place(&self, id: MachineId) -> Result<usize, usize> {
        let Some(worker) = id.worker() else {
            let place = self.list[self.workers..].binary_search_by(|(other, _)| other.cmp(&id));
            return place.map(|place| place + self.workers).map_err(|place| place + self.workers);
        };
        // Workers are numbered, almost always without a gap.
        let guess = usize::from(worker.0);
        if guess < self.workers && self.list[guess].0 == id {
            return Ok(guess);
        }
        self.list[..self.workers].binary_search_by(|(other, _)| other.cmp(&id))
    }

    pub(super) fn insert(&mut self, id: MachineId, machine: Machine) {
        match self.place(id) {
            Ok(place) => self.list[place].1 = machine,
            Err(place) => {
                self.list.insert(place, (id, machine));
                self.workers += usize::from(id.worker().is_some());
            }
        }
    }

    pub(super) fn get(&self, id: MachineId) -> Option<&Machine> {
        self.place(id).ok().map(|place| &self.list[place].1)
    }

    pub(super) fn get_mut(&mut self, id: MachineId) -> Option<&mut Machine> {
        self.place(id).ok().map(|place| &mut self.list[place].1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(MachineId, Machine)> + '_ {
        self.list.iter()
    }

    /// Those that are not workers.
    pub(super) fn infrastructure(&self) -> impl Iterator<Item = &(MachineId, Machine)> + '_ {
        self.list[self.workers..].iter()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

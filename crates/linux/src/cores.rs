//! The cores that threads may run on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that this thread may run on, ascending; none if the system does not say.
pub fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()
}

/// Keeps this thread on one core, a number of [`allowed`]; returns whether it is.
pub fn pin(core: usize) -> bool {
    if core >= CpuSet::MAX_CPU {
        return false;
    }
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_be_kept_on_a_core() {
        let before = allowed();
        let Some(&core) = before.last() else { return };
        let on_core = std::thread::spawn(move || (pin(core), allowed())).join().unwrap();
        assert_eq!(on_core, (true, vec![core]));
        assert_eq!(allowed(), before, "other threads stay where they are");
        assert!(!pin(usize::MAX));
    }
}

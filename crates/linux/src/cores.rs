//! The cores that threads may run on, and before which others.

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

/// Lets this thread run before all threads of ordinary priority on its core, at the lowest real-time priority (`SCHED_FIFO`, 1). Returns whether the
/// system allows that; otherwise the thread takes turns as before.
///
/// It asks the kernel itself: `sched_setscheduler` of musl always refuses.
pub fn go_first() -> bool {
    // The kernel's `struct sched_param`: the priority, and nothing else.
    let priority: libc::c_int = 1;
    // SAFETY: the call reads the priority, which lives on the stack meanwhile, and 0 is the calling thread.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const priority) == 0 }
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

    #[test]
    fn a_thread_goes_first_where_the_system_allows_it() {
        std::thread::spawn(|| {
            let allowed = go_first();
            // SAFETY: 0 is the calling thread.
            let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
            assert_eq!(
                policy,
                libc::c_long::from(if allowed { libc::SCHED_FIFO } else { libc::SCHED_OTHER })
            );
        })
        .join()
        .unwrap();
    }
}

//! The cores that threads may run on.

use std::mem;

/// The cores that this thread may run on, ascending; none if the system does not say.
pub fn allowed() -> Vec<usize> {
    // SAFETY: a set of cores is plain bits, for which all zeros is a value.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the set is as large as the call is told, and 0 is the calling thread.
    let status = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
    if status != 0 {
        return Vec::new();
    }
    let most = 8 * size_of::<libc::cpu_set_t>();
    // SAFETY: every number is one of the set's bits.
    (0..most).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// Keeps this thread on one core, a number of [`allowed`]; returns whether it is.
pub fn pin(core: usize) -> bool {
    if core >= 8 * size_of::<libc::cpu_set_t>() {
        return false;
    }
    // SAFETY: as above.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the number is one of the set's bits.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: the set is as large as the call is told, and 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0 }
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

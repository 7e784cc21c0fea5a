//! Code of which the n-th call to the kernel fails, without anything that the code itself would know of it.
//!
//! A seccomp filter of a thread stops the calls that change something, and a supervisor lets each go on or fail (seccomp(2),
//! seccomp_unotify(2)). Calls that only look are not counted: to open and read files, to receive answers, to lock.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::sync::mpsc;
use std::thread;

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, EIO, SECCOMP_FILTER_FLAG_NEW_LISTENER,
    SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND, SECCOMP_RET_ALLOW, SECCOMP_RET_USER_NOTIF,
    SECCOMP_SET_MODE_FILTER, SECCOMP_USER_NOTIF_FLAG_CONTINUE, seccomp_notif, seccomp_notif_resp,
    sock_filter, sock_fprog,
};

/// Calls that are counted: those on eBPF objects and their pins, and those that talk to the network.
const COUNTED: &[libc::c_long] = &[
    libc::SYS_bpf,
    libc::SYS_socket,
    libc::SYS_bind,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
];

/// Runs `work` on a thread of its own whose call number `nth`, from 1, fails with an input/output error; with 0, none does. Returns what
/// the work returns, and how many calls it made.
///
/// # Panics
/// If the kernel has no such filters, or if `work` panics.
pub(crate) fn failing<T: Send>(nth: usize, work: impl FnOnce() -> T + Send) -> (T, usize) {
    let (to, from) = mpsc::channel();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            to.send(listen()).expect("somebody waits for it");
            work()
        });
        let listener = from.recv().expect("the thread has begun").expect("the kernel takes the filter");
        let calls = supervise(&listener, nth).expect("the calls can be supervised");
        (worker.join().expect("the work does not panic"), calls)
    })
}

/// Has this thread, and those that it starts, ask before each counted call; the descriptor is where they ask.
fn listen() -> io::Result<OwnedFd> {
    let instruction = |code: u32, k: u32, jt: u8| sock_filter { code: code as u16, jt, jf: 0, k };
    // The number of the call is the first word of what the filter sees.
    let mut filter = vec![instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0)];
    for (at, &call) in COUNTED.iter().enumerate() {
        // Over the comparisons that are left, and over the return behind them.
        filter.push(instruction(BPF_JMP | BPF_JEQ | BPF_K, call as u32, (COUNTED.len() - at) as u8));
    }
    filter.push(instruction(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0));
    filter.push(instruction(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF, 0));
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // Without it, only root may set a filter.
    // SAFETY: it concerns this thread alone, and takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the program and its instructions live as long as the call lasts.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SECCOMP_SET_MODE_FILTER,
            SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Answers until no thread is left that could ask; how often one did.
fn supervise(listener: &OwnedFd, nth: usize) -> io::Result<usize> {
    let mut calls = 0;
    loop {
        let mut poll = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, in a structure that lives as long as the call lasts.
        if unsafe { libc::poll(&raw mut poll, 1, -1) } < 0 {
            return Err(io::Error::last_os_error());
        }
        if poll.revents & libc::POLLIN == 0 {
            return Ok(calls);
        }
        // SAFETY: all bytes zero are a notification, and the kernel asks for one that is.
        let mut asked: seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is of the type that the request fills.
        if unsafe { libc::ioctl(listener.as_raw_fd(), SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) } < 0 {
            return Err(io::Error::last_os_error());
        }
        calls += 1;
        let (error, flags) =
            if calls == nth { (-EIO, 0) } else { (0, SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32) };
        let mut answer = seccomp_notif_resp { id: asked.id, val: 0, error, flags };
        // SAFETY: the structure is of the type that the request reads.
        if unsafe { libc::ioctl(listener.as_raw_fd(), SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
}

#[test]
fn the_call_that_is_meant_fails_and_no_other() {
    let sockets = || (0..3).map(|_| std::net::UdpSocket::bind("127.0.0.1:0").is_ok()).collect::<Vec<_>>();
    // Each is made by two calls.
    assert_eq!(failing(0, sockets), (vec![true; 3], 6));
    assert_eq!(failing(3, sockets), (vec![true, false, true], 5));
    assert_eq!(failing(6, sockets), (vec![true, true, false], 6));
    assert_eq!(failing(7, sockets), (vec![true; 3], 6));
}

//! Timers of a server, as a program outside this crate has them.

use std::collections::HashMap;

use trueplane_pqueue::window::Beyond;
use trueplane_pqueue::{Handle, Refused, RollingWindow, TimerQueue};

/// What a timer is for. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// A connection was silent for too long.
    Close { connection: u32 },
    /// Certificates are renewed once a month.
    Renew,
}

const IDLE_MS: u64 = 30_000;
const MONTH_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// A server that closes connections which were silent for [`IDLE_MS`].
struct Server {
    timers: TimerQueue<Due>,
    idle: HashMap<u32, Handle>,
    closed: Vec<(u64, u32)>,
    renewed: u32,
}

impl Server {
    fn new(now: u64) -> Self {
        let mut timers = TimerQueue::new(now, 100).unwrap();
        timers.insert(now + MONTH_MS, Due::Renew).unwrap();
        Self { timers, idle: HashMap::new(), closed: Vec::new(), renewed: 0 }
    }

    /// A connection said something: its timer begins anew.
    fn hears(&mut self, connection: u32, now: u64) {
        if let Some(&timer) = self.idle.get(&connection) {
            assert!(self.timers.reschedule(timer, now + IDLE_MS).is_some());
            return;
        }
        let timer = self.timers.insert(now + IDLE_MS, Due::Close { connection }).unwrap();
        self.idle.insert(connection, timer);
    }

    fn tick(&mut self, now: u64) {
        while let Some((deadline, due)) = self.timers.pop_due(now) {
            match due {
                Due::Close { connection } => {
                    self.idle.remove(&connection);
                    self.closed.push((deadline, connection));
                }
                Due::Renew => {
                    self.renewed += 1;
                    self.timers.insert(deadline + MONTH_MS, Due::Renew).unwrap();
                }
            }
        }
    }
}

#[test]
fn silent_connections_are_closed_and_others_are_not() {
    let start = 1_700_000_000_000;
    let mut server = Server::new(start);
    for connection in 0..5 {
        server.hears(connection, start + u64::from(connection));
    }
    // One of them says something every 20 s.
    let mut now = start;
    while now < start + 120_000 {
        now += 20_000;
        server.hears(3, now);
        server.tick(now);
    }
    assert_eq!(server.closed, [0, 1, 2, 4].map(|id| (start + IDLE_MS + u64::from(id), id)));
    assert_eq!((server.idle.len(), server.timers.len()), (1, 2));
    // A loop that sleeps until it is told to wake comes to every deadline, on time.
    let mut wakes = 0;
    while server.renewed < 3 {
        let wake_at = server.timers.wake_at().expect("one timer is always there");
        assert!(wake_at > now && Some(wake_at) <= server.timers.next_deadline());
        now = wake_at;
        wakes += 1;
        server.tick(now);
    }
    assert_eq!(now, start + 3 * MONTH_MS);
    assert_eq!(server.closed.last(), Some(&(start + 120_000 + IDLE_MS, 3)));
    // Four timers were waited for.
    assert!(wakes <= 4 * 11, "{wakes} wakes");
}

/// The first timers of a queue are a far one and then a near one.
#[test]
fn a_far_timer_does_not_move_a_near_one() {
    let mut timers = TimerQueue::new(0, 10).unwrap();
    for (deadline, item) in [(600_000, "far"), (1_000, "near"), (u64::MAX, "never"), (1_000, "near, too")] {
        timers.insert(deadline, item).unwrap();
    }
    assert_eq!(timers.expire(999).next(), None);
    assert_eq!(timers.expire(1_000).collect::<Vec<_>>(), [(1_000, "near"), (1_000, "near, too")]);
    assert_eq!((timers.next_deadline(), timers.len()), (Some(600_000), 2));
    // It is late, and keeps the deadline that it was given.
    timers.insert(10, "late").unwrap();
    assert_eq!(timers.expire(600_000).collect::<Vec<_>>(), [(10, "late"), (600_000, "far")]);
    assert_eq!(timers.expire(u64::MAX).collect::<Vec<_>>(), [(u64::MAX, "never")]);
}

/// A timer that gets another deadline, or the same one again, is behind the others of that deadline, and its handle names it.
#[test]
fn a_timer_that_is_rescheduled_is_behind_the_others_of_its_deadline() {
    for deadline in [70, 5_000, u64::MAX] {
        let mut timers = TimerQueue::new(0, 4).unwrap();
        let handles = ["a", "b", "c", "d"].map(|item| timers.insert(deadline, item).unwrap());
        assert_eq!(timers.reschedule(handles[0], deadline), Some(deadline));
        assert_eq!(timers.reschedule(handles[2], 3), Some(deadline));
        *timers.get_mut(handles[1]).unwrap().1 = "B";
        assert_eq!(timers.expire(10).collect::<Vec<_>>(), [(3, "c")]);
        assert_eq!((timers.reschedule(handles[2], 20), timers.get_mut(handles[2])), (None, None));
        // Late: it is due now, and keeps the deadline that it was given.
        assert_eq!(timers.reschedule(handles[3], 2), Some(deadline));
        assert_eq!((timers.wake_at(), timers.pop_due(10)), (Some(10), Some((2, "d"))));
        assert_eq!(timers.expire(deadline).collect::<Vec<_>>(), [(deadline, "B"), (deadline, "a")]);
        assert_eq!(timers.reschedule(handles[0], deadline), None);
    }
}

#[test]
fn a_full_queue_gives_the_timer_back() {
    let mut timers = TimerQueue::new(0, 1).unwrap();
    let first = timers.insert(5, "first").unwrap();
    assert_eq!(timers.insert(6, "second"), Err(Refused::Full("second")));
    assert_eq!(timers.cancel(first), Some((5, "first")));
    assert_eq!(timers.cancel(first), None);
    assert!(timers.insert(6, "second").is_ok());
    assert!(TimerQueue::<()>::new(0, 0).is_err());
}

/// A window with a clock, for deadlines that are bounded.
#[test]
fn an_anchored_window_stays_where_time_is() {
    let mut queue: RollingWindow<&str> = RollingWindow::starting_at(0, 1024, 10, Beyond::Refuse).unwrap();
    assert_eq!(queue.insert(600_000, "far"), Err(Refused::OutOfSpan("far")));
    assert_eq!(queue.insert(1_000, "near"), Ok(None));
    assert_eq!(queue.window(), (0, 2_048));
    // What is due holds the window.
    queue.advance(600_000);
    assert_eq!(queue.window(), (0, 2_048));
    assert_eq!(queue.extract_min(), Some((1_000, "near")));
    queue.advance(600_000);
    assert_eq!(queue.window(), (599_040, 2_048));
    assert_eq!(queue.insert(601_000, "soon"), Ok(None));
    assert_eq!(queue.insert(1_000, "late"), Ok(None));
    assert_eq!(queue.insert(700_000, "far"), Err(Refused::OutOfSpan("far")));
    // Time that goes back is the latest time.
    queue.advance(0);
    assert_eq!(queue.insert(602_000, "later"), Err(Refused::OutOfSpan("later")));
    let order: Vec<_> = queue.drain().collect();
    assert_eq!(order, [(599_040, "late"), (601_000, "soon")]);
}

/// Once what held the window has left, the next insertion moves it, whether or not anybody tells the time again.
#[test]
fn an_anchored_window_follows_when_what_held_it_has_left() {
    for is_removed in [false, true] {
        let mut queue: RollingWindow<&str> = RollingWindow::starting_at(0, 10, 10, Beyond::Refuse).unwrap();
        let held = queue.insert_named(5, "held").unwrap();
        queue.advance(25);
        assert_eq!(queue.insert(26, "soon"), Err(Refused::OutOfSpan("soon")));
        assert_eq!(if is_removed { queue.remove(held) } else { queue.extract_min() }, Some((5, "held")));
        assert_eq!(queue.insert(26, "soon"), Ok(None));
        assert_eq!((queue.window(), queue.extract_min()), ((20, 20), Some((26, "soon"))));
    }
}

/// Timers keep their handles and their order when time brings them nearer.
#[test]
fn a_timer_can_be_cancelled_wherever_time_has_brought_it() {
    for cancelled in 0..4 {
        for wait_until in [0, 4_100, 4_990, 5_000] {
            let mut timers = TimerQueue::new(0, 10).unwrap();
            let handles: Vec<Handle> = (0..4).map(|item| timers.insert(5_000, item).unwrap()).collect();
            timers.insert(wait_until, 9).unwrap();
            // The timer comes before the others, and what else is due stays.
            assert_eq!(
                timers.expire(wait_until).next(),
                Some((wait_until, if wait_until == 5_000 { 0 } else { 9 }))
            );
            let is_there = wait_until != 5_000 || cancelled > 0;
            assert_eq!(timers.cancel(handles[cancelled]), is_there.then_some((5_000, cancelled)));
            timers.insert(5_000, 4).unwrap();
            let rest: Vec<usize> = timers.expire(5_000).map(|(_, item)| item).collect();
            let expected = if wait_until == 5_000 { vec![1, 2, 3, 9, 4] } else { vec![0, 1, 2, 3, 4] };
            let expected: Vec<usize> = expected.into_iter().filter(|&item| item != cancelled).collect();
            assert_eq!(rest, expected, "{cancelled} cancelled at {wait_until}");
        }
    }
}

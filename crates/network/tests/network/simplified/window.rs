//! The window and DCTCP's estimate, against floating-point numbers as the published simulator has them.

use proptest::prelude::*;
use trueplane_network::transport::simplified::Window;

use super::PLAIN;

const SEGMENT: f64 = 1_000.0;

/// What happens to a window.
#[derive(Clone, Copy, Debug)]
enum Step {
    Grow,
    BeginRecovery(u64),
    Inflate,
    Deflate(u64),
    EndRecovery(u64),
    TimeOut(u64),
    Mark(u64, bool),
}

/// The same in floating-point numbers.
struct Naive {
    cwnd: f64,
    ssthresh: f64,
    alpha: f64,
    acked: f64,
    marked: f64,
    window_end: f64,
}

impl Naive {
    fn step(&mut self, step: Step, ack: u64) {
        match step {
            Step::Grow => {
                self.cwnd += if self.cwnd < self.ssthresh { SEGMENT } else { SEGMENT * SEGMENT / self.cwnd };
                self.cwnd = self.cwnd.min(65_535.0);
            }
            Step::BeginRecovery(flight) => {
                self.ssthresh = ((flight / 2) as f64).max(2.0 * SEGMENT);
                self.cwnd = self.ssthresh + 3.0 * SEGMENT;
            }
            Step::Inflate => self.cwnd += SEGMENT,
            Step::Deflate(acked) => self.cwnd = (self.cwnd - acked as f64 + SEGMENT).max(SEGMENT),
            Step::EndRecovery(flight) => self.cwnd = self.ssthresh.min(flight as f64 + SEGMENT),
            Step::TimeOut(flight) => {
                self.ssthresh = (flight as f64 / 2.0).max(2.0 * SEGMENT);
                self.cwnd = SEGMENT;
            }
            Step::Mark(acked, is_marked) => {
                self.acked += acked as f64;
                self.marked += if is_marked { acked as f64 } else { 0.0 };
                if ack as f64 >= self.window_end {
                    let share = self.marked / self.acked;
                    self.alpha = if self.acked > 0.0 { self.alpha * 15.0 / 16.0 + share / 16.0 } else { 0.0 };
                    (self.acked, self.marked) = (0.0, 0.0);
                    self.window_end = ack as f64 + self.cwnd.floor();
                }
                if is_marked {
                    self.cwnd = (self.cwnd * (1.0 - self.alpha / 2.0)).max(SEGMENT);
                    self.ssthresh = self.cwnd.max(2.0 * SEGMENT);
                }
            }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || 0..70_000_u64;
    prop_oneof![
        6 => Just(Step::Grow),
        1 => bytes().prop_map(Step::BeginRecovery),
        1 => Just(Step::Inflate),
        1 => bytes().prop_map(Step::Deflate),
        1 => bytes().prop_map(Step::EndRecovery),
        1 => bytes().prop_map(Step::TimeOut),
        4 => (0..3_000_u64, any::<bool>()).prop_map(|(acked, is_marked)| Step::Mark(acked, is_marked)),
    ]
}

proptest! {
    /// Windows without marks are the same to a byte. With marks, half a byte may decide when the estimate is renewed, so that they run for
    /// fewer steps.
    #[test]
    fn integers_do_what_floating_point_numbers_do(steps in prop::collection::vec(step(), 1..60)) {
        let mut window = Window::new(&PLAIN);
        let mut naive =
            Naive { cwnd: 3_000.0, ssthresh: 8_000.0, alpha: 0.0, acked: 0.0, marked: 0.0, window_end: 0.0 };
        let mut ack = 1;
        for step in steps {
            if let Step::Mark(acked, _) = step {
                ack += acked;
            }
            match step {
                Step::Grow => window.grow(),
                Step::BeginRecovery(flight) => window.begin_recovery(flight),
                Step::Inflate => window.inflate(),
                Step::Deflate(acked) => window.deflate(acked),
                Step::EndRecovery(flight) => window.end_recovery(flight),
                Step::TimeOut(flight) => window.time_out(flight),
                Step::Mark(acked, is_marked) => window.hear_mark(ack, acked, is_marked),
            }
            naive.step(step, ack);
            let near = |ours: u64, theirs: f64| (ours as f64 - theirs).abs() <= 1.0 + theirs / 500.0;
            if (naive.window_end - ack as f64).abs() < 100.0 {
                return Ok(());
            }
            prop_assert!(near(window.cwnd(), naive.cwnd), "{step:?}: {} and {}", window.cwnd(), naive.cwnd);
            prop_assert!(near(window.ssthresh(), naive.ssthresh));
            prop_assert!((window.alpha() as f64 / f64::from(1 << 20) - naive.alpha).abs() < 1e-3);
            prop_assert_eq!(window.usable(), window.cwnd().min(65_535));
        }
    }
}

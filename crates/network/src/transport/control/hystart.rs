//! HyStart++: slow start that ends before the queue is full.

use trueplane_units::Nanos;

use super::Acknowledged;

/// Least growth of the round-trip time that counts (RFC 9406 §4.3: MIN_RTT_THRESH).
const LEAST_GROWTH: Nanos = Nanos::from_millis(4);

/// Greatest growth that is waited for (RFC 9406 §4.3: MAX_RTT_THRESH).
const MOST_GROWTH: Nanos = Nanos::from_millis(16);

/// Share of the round-trip time by which it must grow, between the two (RFC 9406 §4.3: MIN_RTT_DIVISOR).
const GROWTH_DIVISOR: u64 = 8;

/// Measurements of a round before it is judged (RFC 9406 §4.3: N_RTT_SAMPLE).
const SAMPLES: u32 = 8;

/// In conservative slow start the window grows by this part (RFC 9406 §4.3: CSS_GROWTH_DIVISOR).
const SLOWER: u64 = 4;

/// Rounds of conservative slow start (RFC 9406 §4.3: CSS_ROUNDS).
const ROUNDS: u32 = 5;

/// Segments by which an acknowledgement lets the window grow, at most, without pacing (RFC 9406 §4.3: L).
const MOST_SEGMENTS: u64 = 8;

/// HyStart++: when round-trip times grow, slow start goes on at a quarter of its speed; after five rounds of that it is over, unless they have
/// shrunk again.
///
/// - Unit: bytes, time in ns.
/// - Cost: O(1).
/// - Source: RFC 9406. Departure: acknowledgements count only while the window holds the sender back, as for all growth here.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStart {
    /// The round ends when more than this is acknowledged (windowEnd).
    round_end: u64,
    /// Least round-trip time of the round before (lastRoundMinRTT).
    last: Option<Nanos>,
    /// Least round-trip time of this round (currentRoundMinRTT).
    current: Option<Nanos>,
    /// Measurements in this round (rttSampleCount).
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// Least round-trip time of the round in which it began (cssBaselineMinRtt).
    baseline: Nanos,
    /// Rounds that it lasted, the one in which it began among them.
    rounds: u32,
}

impl HyStart {
    /// Takes an acknowledgement in slow start. Returns the bytes by which the window grows, and whether slow start is over.
    pub fn hear(&mut self, ack: &Acknowledged, segment: u64) -> (u64, bool) {
        let mut is_over = false;
        if ack.acknowledged > self.round_end {
            is_over = self.end_round(ack.next);
        }
        if let Some(sample) = ack.sample {
            self.current = Some(self.current.map_or(sample, |least| least.min(sample)));
            self.samples += 1;
        }
        let growth = ack.bytes.min(MOST_SEGMENTS * segment);
        let growth = if self.conservative.is_some() { growth / SLOWER } else { growth };
        self.judge();
        (growth, is_over)
    }

    /// A round begins, which ends when all that was sent so far is acknowledged. Returns whether slow start is over.
    fn end_round(&mut self, next: u64) -> bool {
        self.round_end = next;
        self.last = self.current.take();
        self.samples = 0;
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds > ROUNDS
    }

    fn judge(&mut self) {
        let (Some(current), true) = (self.current, self.samples >= SAMPLES) else { return };
        match self.conservative {
            // RFC 9406 §4.2: the growth was none of the queue's.
            Some(conservative) if current < conservative.baseline => self.conservative = None,
            Some(_) => {}
            None => {
                let Some(last) = self.last else { return };
                let growth = Nanos(last.0 / GROWTH_DIVISOR).clamp(LEAST_GROWTH, MOST_GROWTH);
                if current >= last.after(growth) {
                    self.conservative = Some(Conservative { baseline: current, rounds: 1 });
                }
            }
        }
    }
}

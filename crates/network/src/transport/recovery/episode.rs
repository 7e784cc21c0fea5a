//! The episode of a loss: from its discovery until all that was sent by then is acknowledged.

/// Stage of a connection between losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// No loss is being repaired.
    #[default]
    Open,
    /// Fast recovery: the window is reduced and does not grow.
    FastRecovery,
    /// The timer expired: what was outstanding is sent again, in slow start.
    AfterTimeout,
}

/// The stage, and where it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Episode {
    stage: Stage,
    /// It ends when this sequence number is acknowledged ("recover" of RFC 6582, RecoveryPoint of RFC 6675); kept until the next begins.
    end: u64,
}

impl Episode {
    /// Stage of the connection.
    #[inline]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Sequence number behind what was sent when the last stage began; 0 before the first.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Begins a stage that lasts until `end` is acknowledged.
    pub fn begin(&mut self, stage: Stage, end: u64) {
        *self = Self { stage, end };
    }

    /// Takes an acknowledgement. Returns the stage that ends with it.
    pub fn acknowledge(&mut self, ack: u64) -> Option<Stage> {
        if self.stage == Stage::Open || ack < self.end {
            return None;
        }
        Some(std::mem::take(&mut self.stage))
    }
}

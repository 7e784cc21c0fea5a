//! A workload of any kind, opened.

use crate::reassembly::{List, Tree};
use crate::workload::iid::Iid;
use crate::workload::matching::Matching;
use crate::workload::reassembly::Reassembling;
use crate::workload::trace::Recorded;

/// A source whose kind is only known at run time.
#[derive(Clone, Debug)]
pub enum Opened {
    /// Drawn packets.
    Iid(Iid),
    /// Packets of a file or a program, each with its job.
    Recorded(Recorded),
    /// Segments that are reassembled in lists.
    List(Reassembling<List>),
    /// Segments that are reassembled in trees.
    Tree(Reassembling<Tree>),
    /// Payloads that are matched against rules.
    Matching(Matching),
}

macro_rules! opened {
    ($($variant:ident: $source:ty),+) => {$(
        impl From<$source> for Opened {
            fn from(source: $source) -> Self {
                Opened::$variant(source)
            }
        }
    )+};
}

opened!(Iid: Iid, Recorded: Recorded, List: Reassembling<List>, Tree: Reassembling<Tree>, Matching: Matching);

//! What was published: means of flows below 100 kB, in milliseconds.

/// A published table.
pub(crate) struct Table {
    /// Names of the systems, in the order of the columns.
    pub(crate) systems: &'static [&'static str],
    /// Load in flow starts a second, and the mean for each system.
    pub(crate) rows: &'static [(f64, &'static [f64])],
}

/// pFabric's ranks, data-mining flows.
pub(crate) const DATA_MINING: Table = Table {
    systems: &["tcp", "dctcp", "sp-pifo", "pifo"],
    rows: &[
        (4_000.0, &[0.676812, 0.141102, 0.0767175, 0.0687613]),
        (6_000.0, &[0.967282, 0.182643, 0.0874529, 0.0806226]),
        (10_000.0, &[1.38502, 0.238304, 0.094819, 0.0963917]),
        (15_000.0, &[1.83837, 0.297729, 0.100372, 0.108462]),
        (22_500.0, &[2.3719, 0.371173, 0.107343, 0.120546]),
        (37_000.0, &[3.13013, 0.489135, 0.117242, 0.134099]),
        (60_000.0, &[3.99905, 0.669112, 0.129873, 0.146913]),
    ],
};

/// Fair queueing with eight queues, web-search flows. The loads are those of the published runs; the published table names others.
pub(crate) const FAIRNESS: Table = Table {
    systems: &["fair-tcp", "fair-dctcp", "afq", "sp-pifo-stfq", "pifo-stfq"],
    rows: &[
        (3_600.0, &[1.84992, 1.05453, 0.508577, 0.525976, 0.425649]),
        (5_200.0, &[2.8588, 1.46956, 0.658136, 0.681079, 0.547535]),
        (7_000.0, &[4.02635, 1.89148, 0.821485, 0.859481, 0.676642]),
        (8_900.0, &[5.21711, 2.42691, 1.05521, 1.11173, 0.863359]),
        (11_100.0, &[6.74228, 3.08122, 1.41605, 1.502, 1.17098]),
        (14_150.0, &[8.80117, 4.00037, 2.03392, 2.24543, 1.77094]),
        (19_000.0, &[11.7904, 5.35314, 3.29911, 3.79874, 3.00994]),
    ],
};

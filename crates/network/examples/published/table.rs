//! What was published: means of flows below 100 kB, in milliseconds.

/// A published table.
pub(crate) struct Table {
    /// By this name it is asked for.
    pub(crate) name: &'static str,
    /// Names of the systems, in the order of the columns.
    pub(crate) systems: &'static [&'static str],
    /// Load in flow starts a second, and the mean for each system.
    pub(crate) rows: &'static [(f64, &'static [f64])],
}

/// pFabric's ranks, data-mining flows.
pub(crate) const DATA_MINING: Table = Table {
    name: "data-mining",
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
    name: "fairness",
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

/// pFabric's ranks, web-search flows. TCP is that of the table for fair queueing.
pub(crate) const WEB_SEARCH: Table = Table {
    name: "web-search",
    systems: &["tcp", "dctcp", "sp-pifo", "pifo"],
    rows: &[
        (3_600.0, &[1.84992, 0.513018, 0.392972, 0.348620]),
        (5_200.0, &[2.8588, 0.645093, 0.448878, 0.383808]),
        (7_000.0, &[4.02635, 0.798159, 0.495635, 0.409129]),
        (8_900.0, &[5.21711, 0.996024, 0.545983, 0.445964]),
        (11_100.0, &[6.74228, 1.29874, 0.595728, 0.474056]),
        (14_150.0, &[8.80117, 1.90652, 0.645135, 0.501587]),
        (19_000.0, &[11.7904, 3.15167, 0.705992, 0.529730]),
    ],
};

/// Fair queueing with 32 queues, or a PIFO for as many packets, web-search flows. TCP and DCTCP are those of the table for eight queues.
pub(crate) const FAIRNESS_32: Table = Table {
    name: "fairness-32",
    systems: &["afq-32", "sp-pifo-stfq-32", "pifo-stfq-32"],
    rows: &[
        (3_600.0, &[0.515494, 0.525976, 0.425649]),
        (5_200.0, &[0.669111, 0.681079, 0.547535]),
        (7_000.0, &[0.841803, 0.859481, 0.676409]),
        (8_900.0, &[1.08477, 1.11173, 0.862807]),
        (11_100.0, &[1.44915, 1.50527, 1.17080]),
        (14_150.0, &[2.08891, 2.25760, 1.76965]),
        (19_000.0, &[3.37474, 3.78181, 3.01025]),
    ],
};

//! What `surge guard` says to people.

use trueplane_study::report::{Report, Table};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Percent};

use crate::BELIEF;
use crate::compare::report::{cells, columns, is_misjudged};
use crate::guard::found::Guard;
use crate::workload::size::Size;

impl Guard {
    /// The report: two lines, and what they rest on.
    pub fn report(&self) -> Report {
        let rows = [&self.today, &self.guarded];
        let misjudged = is_misjudged(rows);
        Report {
            study: self.study.to_owned(),
            title: format!("The worst steady attack on {}", self.workload.name),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables: vec![Table {
                id: "guard".to_owned(),
                title: "Today and under WSJF, each under the steady attack that is worst for it".to_owned(),
                columns: columns(misjudged),
                rows: rows.map(|row| cells(row, misjudged)).into(),
                ..Table::default()
            }],
            plots: Vec::new(),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let workload = &self.workload;
        let most = BitsPerSec(workload.r_max_bps.round() as u64);
        let share = Percent(self.innocent_bps as f64 / workload.r_max_bps);
        let smallest = Size::new(self.attack_smallest_packet_bits).map(|size| size.to_string());
        let job = Nanos(self.attack_largest_job_ns);
        let whose = if self.attack_largest_job_ns == workload.largest_job_ns {
            "the largest of the file"
        } else {
            "as was said"
        };
        let buffer = match (self.capacity_packets, self.capacity_bits) {
            (Some(packets), _) => format!("{packets} packets; the {} goes today", self.overflow_today),
            (None, Some(bits)) => format!("{}; the {} goes today", Bytes(bits / 8), self.overflow_today),
            (None, None) => "unbounded".to_owned(),
        };
        let facts = [
            ("packets of users", format!("{} in {} flows", workload.packets, workload.flows)),
            ("r_max", format!("{most}: what the server can serve of users")),
            ("users send", format!("{} ({share} of r_max)", BitsPerSec(self.innocent_bps))),
            ("attack", format!("packets from {}, jobs up to {job}, {whose}", smallest.unwrap_or_default())),
            ("buffer", buffer),
        ];
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

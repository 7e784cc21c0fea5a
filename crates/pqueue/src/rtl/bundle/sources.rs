//! The sources of circuits. `circuits` links to them, so that the published crate has them.

use crate::rtl::design::Queue;

/// A source: its path in a bundle, and its text.
pub(super) type Source = (&'static str, &'static str);

macro_rules! sources {
    ($($name:literal),+) => {
        [$((concat!("rtl/", $name), include_str!(concat!("../../../circuits/", $name)))),+]
    };
}

const BBQ: [Source; 10] = sources!(
    "tp_sdp_ram.sv",
    "tp_lut_ram.sv",
    "tp_delay.sv",
    "tp_bbq_pkg.sv",
    "tp_find_first.sv",
    "tp_bbq_front.sv",
    "tp_bbq_fetch.sv",
    "tp_bbq_level.sv",
    "tp_bbq_lists.sv",
    "tp_bbq.sv"
);
const EXACT: [Source; 1] = sources!("tp_bbq_exact.sv");
const WINDOW: [Source; 1] = sources!("tp_bbq_window.sv");
const HIER: [Source; 1] = sources!("tp_bbq_hier.sv");
const PIFO: [Source; 1] = sources!("tp_pifo.sv");

/// The sources of a queue in the order in which tools read them.
pub(super) fn of(queue: Queue) -> Vec<Source> {
    let (pifo, bbq, around): (&[Source], &[Source], &[Source]) = match queue {
        Queue::Bbq => (&[], &BBQ, &[]),
        Queue::Exact => (&PIFO, &BBQ, &EXACT),
        Queue::Window => (&[], &BBQ, &WINDOW),
        Queue::Hier => (&[], &BBQ, &HIER),
        Queue::Pifo => (&PIFO, &[], &[]),
    };
    [pifo, bbq, around].concat()
}

/// The test bench of a queue, and its model where that is a file of its own.
pub(super) fn bench(queue: Queue) -> Vec<Source> {
    let requests = ("tb/tb.sv", include_str!("../bench/tb_requests.sv"));
    let model = match queue {
        Queue::Exact | Queue::Pifo => return vec![("tb/tb.sv", include_str!("../bench/tb_push_pop.sv"))],
        Queue::Bbq => include_str!("../bench/model_bbq.svh"),
        Queue::Window => include_str!("../bench/model_window.svh"),
        Queue::Hier => include_str!("../bench/model_hier.svh"),
    };
    vec![requests, ("tb/model.svh", model)]
}

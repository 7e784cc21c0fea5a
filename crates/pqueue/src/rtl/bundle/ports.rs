//! The ports of a queue, as its wrapper and its document have them; and the parameters that they follow from.

use crate::bbq::{Memories, Shape};
use crate::rtl::design::{Design, Queue, bits_for};

/// A port.
pub(super) struct Port {
    /// Name of the port.
    pub(super) name: &'static str,
    /// Number of words; 0 where the port is a single wire without an index.
    pub(super) words: u32,
    /// Bits of a word.
    pub(super) bits: u32,
    /// Meaning of the port, in sentences.
    pub(super) about: &'static str,
    /// When an output has its value; empty for inputs.
    pub(super) when: String,
}

impl Port {
    fn new(name: &'static str, bits: u32, about: &'static str) -> Self {
        Self { name, words: u32::from(bits > 0), bits, about, when: String::new() }
    }

    fn when(self, when: impl Into<String>) -> Self {
        Self { when: when.into(), ..self }
    }

    /// Whether the circuit drives it.
    pub(super) fn is_output(&self) -> bool {
        self.name.ends_with("_o")
    }

    /// The type in SystemVerilog.
    pub(super) fn shape(&self) -> String {
        match (self.words, self.bits) {
            (0, _) => "logic".to_owned(),
            (1, bits) => format!("logic [{}:0]", bits - 1),
            (words, bits) => format!("logic [{}:0][{}:0]", words - 1, bits - 1),
        }
    }
}

/// The ports of a design, in the order of its module.
pub(super) fn ports(design: &Design) -> Vec<Port> {
    let mut ports = vec![
        Port::new("clk_i", 0, "Clock."),
        Port::new("rst_ni", 0, "Reset: synchronous, active low. One cycle is enough."),
    ];
    match design.queue() {
        Queue::Bbq | Queue::Window | Queue::Hier => requests(design, &mut ports),
        Queue::Exact | Queue::Pifo => push_and_pop(design, &mut ports),
    }
    ports
}

fn requests(design: &Design, ports: &mut Vec<Port>) {
    let queue = design.queue();
    let layout = design.circuit().layout();
    let Shape { partitions, data_bits, .. } = layout.shape();
    let (priority, partition) = (design.priority_bits(), bits_for(partitions));
    let response = format!("{} cycles after its request", design.latency());
    let field = |name, bits, about| Port::new(name, bits, about).when(response.clone());
    ports.extend([
        Port::new("valid_i", 0, "There is a request; it is taken if `ready_o`."),
        Port::new("ready_o", 0, "High but in a reset.").when("in the same cycle, from `rst_ni`"),
        Port::new("op_i", 2, "0 enqueue, 1 dequeue the smallest, 2 and 3 dequeue the largest."),
    ]);
    match queue {
        Queue::Hier => ports.extend([
            Port::new("tenant_i", partition, "Of an enqueue: the tenant."),
            Port::new(
                "tenant_priority_i",
                upper_priority_bits(design),
                "Of an enqueue: the tenant's priority.",
            ),
        ]),
        Queue::Bbq => ports.push(Port::new("partition_i", partition, "The queue that is asked.")),
        _ => {}
    }
    ports.extend([
        Port::new("priority_i", priority, "Of an enqueue: the priority."),
        Port::new("data_i", data_bits, "Of an enqueue: the data."),
        field("valid_o", 0, "There is a response. They come in the order of the requests."),
        field(
            "status_o",
            2,
            match queue {
                Queue::Window => "0 done, 1 full, 2 empty, 3 beyond the window.",
                _ => "0 done, 1 full, 2 empty.",
            },
        ),
    ]);
    match queue {
        Queue::Hier => ports.extend([
            field("tenant_o", partition, "The tenant, of a dequeue that was done; 0 otherwise."),
            field(
                "tenant_priority_o",
                upper_priority_bits(design),
                "The tenant's priority, of a dequeue that was done; 0 otherwise.",
            ),
        ]),
        Queue::Bbq => ports.extend([
            field("op_o", 2, "The operation of the request."),
            field("partition_o", partition, "The partition of the request."),
        ]),
        _ => {}
    }
    ports.extend([
        field("priority_o", priority, "The priority, of a dequeue that was done; 0 otherwise."),
        field("data_o", data_bits, "The data, of a dequeue that was done; 0 otherwise."),
    ]);
    let delay = match queue {
        Queue::Hier => design.upper().map_or(0, crate::bbq::Circuit::latency) + 3,
        Queue::Bbq if partitions > 1 => 3,
        _ => 2,
    };
    let (words, about) = match queue {
        Queue::Window => (1, "Number of elements."),
        Queue::Hier => (partitions, "Number of elements of each tenant."),
        _ => (partitions, "Number of elements of each partition."),
    };
    let occupancy = Port::new("occupancy_o", layout.count_bits(), about);
    ports.push(Port { words, ..occupancy }.when(format!("{delay} cycles after a request")));
}

fn push_and_pop(design: &Design, ports: &mut Vec<Port>) {
    let layout = design.circuit().layout();
    let (priority, data) = (design.priority_bits(), layout.shape().data_bits);
    let ready = match design.queue() {
        Queue::Exact => "in every second cycle, not in a reset",
        _ => "in every cycle",
    };
    ports.extend([
        Port::new("push_valid_i", 0, "There is an element to add; it is taken if `push_ready_o`."),
        Port::new("push_ready_o", 0, "There is room for an element.").when(ready),
        Port::new("push_priority_i", priority, "Its priority."),
        Port::new("push_data_i", data, "Its data."),
        Port::new("pop_valid_o", 0, "The element of the smallest priority is on the ports.").when(ready),
        Port::new("pop_ready_i", 0, "That element leaves if `pop_valid_o`."),
        Port::new("pop_priority_o", priority, "Its priority; 0 if there is no element.").when(ready),
        Port::new("pop_data_o", data, "Its data; 0 if there is no element.").when(ready),
        Port::new("occupancy_o", layout.count_bits(), "Number of elements.")
            .when("one cycle after a push or a pop"),
    ]);
}

/// Bits of a tenant's priority.
pub(super) fn upper_priority_bits(design: &Design) -> u32 {
    design.upper().map_or(1, |upper| bits_for(upper.layout().span()))
}

/// The module that is inside, and the parameters that it gets.
pub(super) fn parameters(design: &Design) -> (&'static str, Vec<(&'static str, u32)>) {
    let circuit = design.circuit();
    let Shape { width, levels, capacity, partitions, data_bits } = circuit.layout().shape();
    let mut parameters = vec![("Width", width), ("Levels", levels), ("Elements", capacity)];
    parameters.push(("DataBits", data_bits));
    let module = match design.queue() {
        Queue::Pifo => {
            let bits = design.priority_bits();
            return (
                "tp_pifo",
                vec![("Elements", capacity), ("PriorityBits", bits), ("DataBits", data_bits)],
            );
        }
        Queue::Bbq => {
            parameters.push(("Partitions", partitions));
            "tp_bbq"
        }
        Queue::Exact => "tp_bbq_exact",
        Queue::Window => {
            parameters.push(("PriorityBits", design.priority_bits()));
            "tp_bbq_window"
        }
        Queue::Hier => {
            let upper = design.upper().map(|upper| upper.layout().shape());
            let (width, levels) = upper.map_or((2, 1), |upper| (upper.width, upper.levels));
            parameters.extend([("Tenants", partitions), ("UpperWidth", width), ("UpperLevels", levels)]);
            "tp_bbq_hier"
        }
    };
    let Memories { lanes, lut_words, stages } = circuit.memories();
    parameters.extend([("Lanes", lanes), ("LutWords", lut_words)]);
    if stages {
        parameters.push(("MemoryStages", 1));
    }
    (module, parameters)
}

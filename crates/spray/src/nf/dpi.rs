//! Deep packet inspection: patterns in the bytes of a flow, across the borders of its packets.
//!
//! The counter-example (table 3.1, §3.5): the automaton of a flow moves with every byte, so that its state is written with every packet. Sprayed
//! packets of a flow would have to take turns on it, which is what spraying does away with. So it says that it needs flows whole, keeps their
//! state on the core that they come to, and is refused under a dispatch that scatters them.
//!
//! Patterns are found by an Aho-Corasick automaton, one for all of them. TCP goes through it as packets come: nothing is put in order,
//! and what is sent twice goes through twice, so that a sender who means to evade it can. A SYN begins anew. Datagrams of UDP are searched one by one.
//! Fragments are dropped, for they would hide what is looked for, and so is IPv6 whose extension headers cannot be read to their end; everything
//! else passes.

use std::sync::Arc;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use serde::Serialize;
use trueplane_units::Nanos;

use super::followed::Followed;
use super::options::{DpiOptions, OptionsError};
use crate::packet::headers::Fragment;
use crate::packet::tcp_flags::SYN;
use crate::{Fit, Flows, Kind, LocalFlows, NetworkFunction, Packet, Reason, Verdict};

/// The function. See the module.
#[derive(Clone, Debug)]
pub struct Dpi {
    automaton: Arc<NFA>,
    start: StateID,
    refuse: bool,
    flows: usize,
    idle: Nanos,
}

impl Dpi {
    /// For these patterns. O(bytes of patterns). A [`Worker`](crate::Worker) cannot exchange the patterns, for the state of flows is one of
    /// the automaton's.
    ///
    /// # Errors
    ///
    /// No pattern, an empty one, or more than the automaton holds.
    pub fn new(options: &DpiOptions) -> Result<Self, OptionsError> {
        let error = |text: String| Err(OptionsError(format!("dpi: {text}")));
        if options.patterns.iter().any(Vec::is_empty) || options.patterns.is_empty() {
            return error("expected one pattern or more, none of them empty".to_owned());
        }
        let automaton = match NFA::new(&options.patterns) {
            Ok(automaton) => automaton,
            Err(failure) => return error(failure.to_string()),
        };
        match automaton.start_state(Anchored::No) {
            Ok(start) => Ok(Self {
                automaton: Arc::new(automaton),
                start,
                refuse: options.refuse,
                flows: options.flows,
                idle: options.idle,
            }),
            Err(failure) => error(failure.to_string()),
        }
    }

    /// Leads `state` through a payload; how many patterns end in it. O(length + patterns found).
    fn search(&self, state: &mut StateID, payload: &[u8]) -> u64 {
        let mut found = 0;
        for &byte in payload {
            *state = self.automaton.next_state(Anchored::No, *state, byte);
            if self.automaton.is_match(*state) {
                found += self.automaton.match_len(*state) as u64;
            }
        }
        found
    }

    fn inspect(&self, packet: &Packet, inspected: &mut Inspected, now: Nanos) -> Verdict {
        if packet.headers().ip.is_some_and(|ip| ip.fragment != Fragment::Whole) {
            return Verdict::Drop(Reason::Fragment);
        }
        if packet.headers().ip.is_some_and(|ip| ip.is_opaque()) {
            return Verdict::Drop(Reason::Unfit);
        }
        let (Kind::Tcp(_) | Kind::Udp, Some(flow)) = (packet.kind(), packet.flow()) else {
            return Verdict::Forward;
        };
        let payload = packet.payload();
        inspected.findings.bytes += payload.len() as u64;
        let (followed, _) = inspected.flows.see(flow, now);
        inspected.findings.unfollowed += u64::from(followed.is_none());
        let mut alone = Stream::default();
        let stream = followed.unwrap_or(&mut alone);
        if packet.tcp_flags() & SYN != 0 {
            *stream = Stream::default();
        }
        if packet.kind() == Kind::Udp {
            stream.state = None;
        }
        let state = stream.state.get_or_insert(self.start);
        let found = self.search(state, payload);
        inspected.findings.matches += found;
        stream.refused |= self.refuse && found > 0;
        if stream.refused { Verdict::Drop(Reason::Refused) } else { Verdict::Forward }
    }
}

/// State of the search in a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// None at its beginning.
    state: Option<StateID>,
    refused: bool,
}

/// Numbers of bytes searched and of matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Bytes of payload.
    pub bytes: u64,
    /// Ends of patterns in them.
    pub matches: u64,
    /// Packets that were searched by themselves, for want of room for their flows.
    pub unfollowed: u64,
}

/// Flows that a core follows, and its findings.
#[derive(Clone, Debug)]
pub struct Inspected {
    flows: Followed<Stream>,
    findings: Findings,
}

impl Inspected {
    /// Findings of this core so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl NetworkFunction for Dpi {
    type State = ();
    type Core = Inspected;
    const FIT: Fit = Fit::WholeFlows("its automata move with every byte of a flow");

    fn init(&self, _core: usize, _cores: usize) -> Inspected {
        Inspected { flows: Followed::new(self.flows, self.idle), findings: Findings::default() }
    }

    /// Not called: nothing is handed over where flows are whole.
    fn connection_packets(
        &self,
        packets: &mut [Packet],
        _flows: &mut LocalFlows<'_, ()>,
        inspected: &mut Inspected,
        now: Nanos,
    ) {
        for packet in packets {
            let verdict = self.inspect(packet, inspected, now);
            packet.set_verdict(verdict);
        }
    }

    fn regular_packets(
        &self,
        packets: &mut [Packet],
        _flows: &Flows<'_, ()>,
        inspected: &mut Inspected,
        now: Nanos,
    ) {
        for packet in packets {
            let verdict = self.inspect(packet, inspected, now);
            packet.set_verdict(verdict);
        }
    }
}

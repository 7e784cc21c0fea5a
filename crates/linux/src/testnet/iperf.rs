//! iperf3 between two hosts.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use std::{fs, thread};

use serde::Deserialize;
use trueplane_units::{BitsPerSec, Bytes};

use super::{Error, Host, Running};
use crate::clock;

/// Longest time for the server to listen, and for either end to finish after the time it was to run.
const GRACE: Duration = Duration::from_secs(15);

/// A run of iperf3: a client that sends to a server.
#[derive(Clone, Debug)]
pub struct Iperf {
    seconds: u32,
    flows: u32,
    interval: Duration,
    congestion: Option<String>,
    udp: Option<(BitsPerSec, Bytes)>,
    is_v6: bool,
}

impl Iperf {
    /// One flow of TCP for so many seconds, with the namespace's congestion control.
    pub fn tcp(seconds: u32) -> Self {
        Self {
            seconds,
            flows: 1,
            interval: Duration::from_millis(100),
            congestion: None,
            udp: None,
            is_v6: false,
        }
    }

    /// UDP for so many seconds: so many bits of payload per second in all, in packets of `payload` bytes.
    pub fn udp(seconds: u32, rate: BitsPerSec, payload: Bytes) -> Self {
        Self { udp: Some((rate, payload)), ..Self::tcp(seconds) }
    }

    /// Sets the number of flows side by side; at most 128.
    pub fn flows(self, flows: u32) -> Self {
        Self { flows, ..self }
    }

    /// TCP's congestion control, at both ends, and from then on of all connections between the two hosts that choose
    /// none.
    pub fn congestion(self, name: &str) -> Self {
        Self { congestion: Some(name.to_owned()), ..self }
    }

    /// Sets the length of the intervals of [`IperfReport::series`]; at least 100 ms, which is the default.
    pub fn interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// Over IPv6.
    pub fn over_v6(self) -> Self {
        Self { is_v6: true, ..self }
    }

    /// Runs it and waits.
    pub fn run(&self, client: &Host, server: &Host) -> Result<IperfReport, Error> {
        self.start(client, server)?.finish()
    }

    /// Starts it, beside others: each has a port of its own.
    pub fn start(&self, client: &Host, server: &Host) -> Result<IperfRun, Error> {
        static PORT: AtomicU16 = AtomicU16::new(0);
        let port = 20_000 + PORT.fetch_add(1, Ordering::Relaxed) % 10_000;
        let address = if self.is_v6 { IpAddr::V6(server.v6) } else { IpAddr::V4(server.v4) };
        if let Some(name) = &self.congestion {
            // iperf3 chooses it once the connection stands, which is too late to ask for ECN.
            server.set_congestion(client, name)?;
            client.set_congestion(server, name)?;
        }
        let mut command = server.ns.command("iperf3");
        command.args([
            "--server",
            "--one-off",
            "--json",
            "--port",
            &port.to_string(),
            "--bind",
            &address.to_string(),
        ]);
        let mut server = Running::start(command)?;
        wait_for_listener(&mut server, port)?;

        let mut command = client.ns.command("iperf3");
        command.args(["--client", &address.to_string(), "--port", &port.to_string()]);
        command.args(self.arguments());
        let client = Running::start(command)?;
        Ok(IperfRun { client, server, limit: Duration::from_secs(u64::from(self.seconds)) + GRACE })
    }

    fn arguments(&self) -> Vec<String> {
        let interval = format!("{:.1}", self.interval.as_secs_f64());
        let mut arguments = vec!["--json".into(), "--connect-timeout".into(), "5000".into()];
        arguments.extend(["--time".into(), self.seconds.to_string(), "--interval".into(), interval]);
        arguments.extend(["--parallel".into(), self.flows.to_string()]);
        if let Some(name) = &self.congestion {
            arguments.extend(["--congestion".into(), name.clone()]);
        }
        if let Some((rate, payload)) = self.udp {
            // iperf3 gives each flow the rate.
            let rate = rate.0 / u64::from(self.flows.max(1));
            arguments.extend(["--udp".into(), "--bitrate".into(), rate.to_string()]);
            arguments.extend(["--length".into(), payload.0.to_string()]);
        }
        arguments
    }
}

/// A run of iperf3 under way; killed when dropped.
#[derive(Debug)]
pub struct IperfRun {
    client: Running,
    server: Running,
    limit: Duration,
}

impl IperfRun {
    /// Waits for its end, which comes by itself.
    pub fn finish(self) -> Result<IperfReport, Error> {
        let text = self.client.finish(self.limit)?;
        // The server's own word is not needed, its end is.
        self.server.finish(GRACE)?;
        IperfReport::parse(&text)
    }
}

/// Results of a run of iperf3.
#[derive(Clone, Debug, PartialEq)]
pub struct IperfReport {
    /// Payload that arrived, over the whole run.
    pub goodput: BitsPerSec,
    /// Payload that the client handed over, over the whole run.
    pub sent: BitsPerSec,
    /// Payload that each flow delivered.
    pub flows: Vec<BitsPerSec>,
    /// Segments that TCP sent again; zero for UDP.
    pub retransmits: u64,
    /// Packets that UDP sent; zero for TCP.
    pub packets: u64,
    /// Packets that UDP lost; zero for TCP.
    pub lost: u64,
    /// Payload that the client handed over in each interval.
    pub series: Vec<BitsPerSec>,
    /// The congestion control that the client's connections ended with.
    pub congestion: Option<String>,
}

impl IperfReport {
    fn parse(text: &str) -> Result<Self, Error> {
        let failed = |reason: String| Error::Command { command: "iperf3".to_owned(), reason };
        let document: Document =
            serde_json::from_str(text).map_err(|error| failed(format!("its report: {error}")))?;
        if let Some(error) = document.error {
            return Err(failed(error));
        }
        let end = document.end.unwrap_or_default();
        // UDP's totals of the receiver lie under `sum` before iperf3 3.17.
        let sum = end.sum.unwrap_or_default();
        let received =
            end.sum_received.ok_or_else(|| failed("its report has no end.sum_received".to_owned()))?;
        let is_udp = sum.packets > 0;
        let lost = sum.lost_packets;
        let share = if is_udp { 1.0 - lost as f64 / sum.packets as f64 } else { 1.0 };
        let arrived =
            |sum: &Sum| if is_udp { rate(sum.bits_per_second * share) } else { rate(sum.bits_per_second) };
        let sent = end.sum_sent.unwrap_or_default();
        let flow = |stream: &Stream| {
            stream.receiver.as_ref().or(stream.udp.as_ref()).map(|sum| rate(sum.bits_per_second))
        };
        Ok(Self {
            goodput: arrived(if is_udp { &sum } else { &received }),
            sent: rate(if is_udp { sum.bits_per_second } else { sent.bits_per_second }),
            flows: end.streams.iter().filter_map(flow).collect(),
            retransmits: sent.retransmits,
            packets: sum.packets,
            lost,
            series: document.intervals.iter().map(|interval| rate(interval.sum.bits_per_second)).collect(),
            congestion: end.sender_tcp_congestion,
        })
    }
}

fn rate(bits_per_second: f64) -> BitsPerSec {
    BitsPerSec(bits_per_second.round() as u64)
}

/// The part of iperf3's report that is read.
#[derive(Debug, Deserialize)]
struct Document {
    error: Option<String>,
    #[serde(default)]
    intervals: Vec<Interval>,
    end: Option<End>,
}

#[derive(Debug, Deserialize)]
struct Interval {
    sum: Sum,
}

#[derive(Debug, Default, Deserialize)]
struct End {
    #[serde(default)]
    streams: Vec<Stream>,
    sum: Option<Sum>,
    sum_sent: Option<Sum>,
    sum_received: Option<Sum>,
    sender_tcp_congestion: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Stream {
    receiver: Option<Sum>,
    udp: Option<Sum>,
}

#[derive(Debug, Default, Deserialize)]
struct Sum {
    bits_per_second: f64,
    #[serde(default)]
    retransmits: u64,
    #[serde(default)]
    packets: u64,
    #[serde(default)]
    lost_packets: u64,
}

/// Waits until the process listens, which its own view of the network's sockets tells.
fn wait_for_listener(server: &mut Running, port: u16) -> Result<(), Error> {
    let deadline = clock::now() + GRACE;
    let tables = ["tcp", "tcp6"].map(|table| format!("/proc/{}/net/{table}", server.id()));
    let local_port = format!(":{port:04X}");
    while clock::now() < deadline {
        // No table: the process has just ended, or not yet begun.
        let listens =
            |table: &String| fs::read_to_string(table).is_ok_and(|text| is_listening(&text, &local_port));
        if tables.iter().any(listens) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err(Error::Command {
        command: "iperf3 --server".to_owned(),
        reason: format!("not listening after {GRACE:?}"),
    })
}

/// Whether a line has the local port and the state 0A, which is LISTEN.
fn is_listening(table: &str, local_port: &str) -> bool {
    table.lines().any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next().is_some_and(|local| local.ends_with(local_port)) && fields.nth(1) == Some("0A")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_iperf3_are_told() {
        let error =
            IperfReport::parse(r#"{"start":{},"intervals":[],"end":{},"error":"no route"}"#).unwrap_err();
        assert_eq!(error.to_string(), "`iperf3`: no route");
        assert!(IperfReport::parse("").is_err());
        assert!(IperfReport::parse("{}").is_err());
    }

    #[test]
    fn listeners_are_found_by_port_and_state() {
        let table = "  sl  local_address rem_address   st\n   0: 0100007F:4E20 00000000:0000 0A 0:0\n";
        assert!(is_listening(table, ":4E20"));
        assert!(!is_listening(table, ":4E21"));
        assert!(!is_listening(&table.replace(" 0A ", " 01 "), ":4E20"));
    }
}

//! `trueplane spray run`

use std::fs::read_link;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use trueplane_linux::Device;
use trueplane_linux::cores::allowed;
use trueplane_spray::Limits;
use trueplane_spray::dispatch::{Kernel, On};
use trueplane_spray::live::busy::MOST_CYCLES;
use trueplane_spray::live::io::IoBackend;
use trueplane_spray::live::run::control::{Control, Health, Request, Status, running, status};
use trueplane_spray::live::run::{Run, Settings, Signal, Signals, start};
use trueplane_spray::nf::{Endpoint, FunctionName, FunctionOptions, FunctionParameters};
use trueplane_units::{Nanos, Positive, Within, parameters};

use super::metrics::{self, Scrape};
use super::news::News;
use super::values::{Interface, Processors, required};
use crate::failure::Failure;
use crate::flags::Flags;
use crate::output::print;

/// Run a network function between two interfaces, and distribute its packets over cores.
///
/// The function is a bump in the wire: packets that arrive at one interface leave at the other, with their Ethernet addresses unchanged. ARP and
/// neighbour discovery are forwarded without the function. The interfaces should not have addresses, and the kernel should not forward between
/// them. While the command runs, it turns off the merging of packets (GRO, LRO) on them. Senders on this machine (veth) must not leave
/// segmentation (TSO, GSO) to the card. If packets are sprayed by checksum, they must not leave checksums to it either: ethtool -K DEV tso off
/// gso off tx off. With --backend xdp, they must also write VLAN tags themselves (txvlan off).
///
/// Ctrl-C or SIGTERM ends the command: it accepts no more packets, and finishes those that it has. SIGHUP reads the files again. If a file has a
/// mistake, or is not a regular file, an error is shown and the old rules stay. The command ends with an error if one of its interfaces is
/// removed. All state is in this process. When it ends or is killed, it forgets the translations of nat and the connections of balancer, and
/// open connections break. You need root, or CAP_BPF, CAP_NET_ADMIN, CAP_NET_RAW and CAP_PERFMON.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  trueplane spray run --nf nat --in lan0 --out wan0 --cores 0,1 --public 203.0.113.0/28
  trueplane spray run --nf firewall --rules rules.txt --in eth0@blue --out eth1@blue --cores 0-3 --policy adaptive
  trueplane spray run --nf synthetic --cycles 5000 --in veth0 --out veth1 --cores 0,1 --metrics 127.0.0.1:9479")]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags<Options>,
}

/// The most flows of a core.
const MOST_FLOWS: u64 = 1 << 26;

parameters! {
    /// Parameters of `spray run`.
    #[derive(Clone, Debug)]
    struct Options {
        /// Network function that processes the packets.
        nf: Option<FunctionName> => { value: "NAME", required: true },
        /// Inner interface. Write eth0@blue for an interface in the network namespace blue.
        r#in: Option<Interface> => { value: "IFACE", required: true },
        /// Outer interface, also as eth0@blue.
        out: Option<Interface> => { value: "IFACE", required: true },
        /// Processors to run on, with one thread each, such as 0,1 or 0-3.
        cores: Processors => { value: "LIST", required: true },
        /// Type of the sockets that receive and send packets.
        backend: IoBackend => { value: "NAME", default: "packet" },
        /// Policy that distributes packets over cores.
        policy: On<Kernel> => { value: "POLICY", default: "spray" },
        /// Additional cycles for each packet, to simulate a heavier function.
        cycles: Within<u64, 0, MOST_CYCLES> => { value: "N", default: "0" },
        /// Run the threads with real-time priority (SCHED_FIFO). If other threads use the same processors, a thread that waits for its turn
        /// reorders the packets that are sprayed. This flag avoids that.
        realtime: bool => {},
        /// Maximum number of flows on each core.
        flows: Within<usize, 1, MOST_FLOWS> => { value: "N", default: "64K" },
        /// Number of frames in each core's ring on each interface, a power of two.
        ring: Within<usize, 64, 65_536> => { value: "N", default: "2048" },
        /// Time after which the command ends. Without this flag, it runs until Ctrl-C or SIGTERM.
        duration: Option<Positive<Nanos>> => { value: "TIME" },
        /// Address to listen on for Prometheus, which finds counters at /metrics. Port 0 picks a free port, and the first line of output names
        /// it.
        metrics: Option<Endpoint> => { value: "ADDRESS:PORT" },
    }
    including {
        /// What the function is to do.
        function: FunctionParameters,
    }
}

/// Time between two looks for requests.
const TICK: Duration = Duration::from_millis(50);
/// Ticks between two redraws of the line of counters.
const LINE: u64 = 10;

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Flags(asked) = self.flags;
        let settings = asked.settings()?;
        asked.function.check(&[settings.function]).map_err(Failure::input)?;
        let options = asked.function.read().map_err(Failure::input)?;
        refuse_taken(&settings.devices)?;
        // Before there are other threads, which would have the signals otherwise.
        let signals = Signals::take()?;
        let (send, scrapes) = sync_channel(16);
        // What listens is there before any packet is touched.
        let listens = asked.metrics.map(|Endpoint(address)| metrics::serve(address, send)).transpose()?;
        let run = start(&settings, &options)?;
        let mut control = Control::open()?;
        if let Some(address) = listens {
            print(&format!("Serving http://{address}/metrics\n"))?;
        }
        print(&format!("{}\n", begun(&settings)))?;
        let news = News::new();
        missing(&settings).into_iter().for_each(|core| {
            news.tell(&format!(
                "warning: processor {core} is not there to use; its thread runs where there is room"
            ));
        });
        let mut served = Served { run, options, asked: &asked, news, function: settings.function };
        let outcome = served.serve(&signals, &mut control, &scrapes);
        served.news.end(&served.run.status());
        let counts = served.run.stop()?;
        outcome?;
        print(&format!("{counts}\n"))?;
        counts.check().map_err(|problem| {
            Failure::other(format!("packets are missing, or there are too many: {problem}"))
        })
    }
}

/// Refuses an interface on which a function runs: both would forward its packets.
fn refuse_taken(devices: &[Device; 2]) -> Result<(), Failure> {
    let namespace = |process: &str| read_link(format!("/proc/{process}/ns/net")).ok();
    let own = devices.each_ref().map(ToString::to_string);
    for process in running()? {
        // Who does not answer is ending.
        let Ok(Status { function, interfaces, .. }) = status(process) else { continue };
        // Names without a namespace are of the process's own.
        let is_here = namespace(&process.to_string()) == namespace("self");
        let is_taken = |name: &&String| own.contains(name) && (is_here || name.contains('@'));
        if let Some(name) = interfaces.iter().find(is_taken) {
            return Err(Failure::input(format!(
                "{name} has a function: process {process} runs {function} on it"
            )));
        }
    }
    Ok(())
}

/// Summary of the run that begins, and how to end it.
fn begun(settings: &Settings) -> String {
    let Settings { function, devices: [inner, outer], backend, dispatch, .. } = settings;
    let cores = settings.cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let process = std::process::id();
    format!(
        "{process}: {function} between {inner} and {outer} on processors {cores}, {dispatch}, {backend}; Ctrl-C ends it."
    )
}

/// Processors that threads cannot be kept on.
fn missing(settings: &Settings) -> Vec<usize> {
    let allowed = allowed();
    settings.cpus.iter().copied().filter(|core| !allowed.contains(core)).collect()
}

impl Options {
    fn settings(&self) -> Result<Settings, Failure> {
        let device = |interface, flag| required(interface, flag).map(|Interface(device)| device);
        let ring_frames = *self.ring;
        if !ring_frames.is_power_of_two() {
            return Err(Failure::input(format!(
                "--ring: expected a power of two such as 2048, got {ring_frames}"
            )));
        }
        Ok(Settings {
            function: required(&self.nf, "--nf")?,
            cycles: *self.cycles,
            devices: [device(&self.r#in, "--in")?, device(&self.out, "--out")?],
            cpus: self.cores.0.clone(),
            backend: self.backend,
            dispatch: self.policy.name(),
            limits: Limits::new(*self.flows),
            ring_frames,
            realtime: self.realtime,
            // Nobody outside knows it, so that nobody can choose flows that lie together.
            seed: std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id()),
        })
    }
}

/// A run, and what it was last told.
struct Served<'a> {
    run: Run,
    options: FunctionOptions,
    asked: &'a Options,
    function: FunctionName,
    news: News,
}

impl Served<'_> {
    /// Until it is to end.
    fn serve(
        &mut self,
        signals: &Signals,
        control: &mut Control,
        scrapes: &Receiver<Scrape>,
    ) -> Result<(), Failure> {
        let period = self.run.period().unwrap_or(TICK);
        let (mut ticks, mut elapsed) = (0, Duration::ZERO);
        loop {
            match signals.wait(period) {
                Some(Signal::End) => return Ok(()),
                Some(Signal::Reload) => match self.reload() {
                    Ok(()) => self.news.tell("reloaded"),
                    Err(problem) => self.news.tell(&format!("error: not reloaded: {problem}")),
                },
                None => {}
            }
            self.run.tend()?;
            elapsed += period;
            if elapsed < TICK {
                continue;
            }
            elapsed = Duration::ZERO;
            ticks += 1;
            control.serve(|request| self.answer(request));
            for Scrape(answer) in scrapes.try_iter() {
                // Who has gone needs no answer.
                let _ = answer.send(self.run.status());
            }
            if let Some(device) = self.run.gone() {
                return Err(Failure::other(format!(
                    "{device} is gone: it was removed, or moved to another network namespace"
                )));
            }
            if ticks % LINE == 0 {
                self.news.draw(&self.run.status());
            }
            let ran = Nanos(self.run.snapshot().elapsed_ns);
            if self.asked.duration.is_some_and(|duration| ran >= *duration) {
                return Ok(());
            }
        }
    }

    fn answer(&mut self, request: Request) -> Result<String, String> {
        match request {
            Request::Show => serde_json::to_string(&self.run.status()).map_err(|error| error.to_string()),
            Request::Reload => self.reload().map(|()| "reloaded".to_owned()),
            Request::SetHealth(health, backend) => self.set_health(backend, health),
        }
    }

    /// Reads the files again. Backends keep their health, where they are still there.
    fn reload(&mut self) -> Result<(), String> {
        let mut options = self.asked.function.read_again()?;
        for backend in &mut options.balancer.backends {
            let before = self.options.balancer.backends.iter().find(|old| old.address == backend.address);
            backend.up = before.is_none_or(|old| old.up);
        }
        self.replace(options)
    }

    fn set_health(&mut self, Endpoint(address): Endpoint, health: Health) -> Result<String, String> {
        if self.function != FunctionName::Balancer {
            return Err(format!("{} has no backends; the balancer has", self.function));
        }
        let mut options = self.options.clone();
        let mut backends = options.balancer.backends.iter_mut();
        match backends.find(|backend| backend.address == address) {
            Some(found) => found.up = health == Health::Up,
            None => return Err(format!("expected one of the backends ({}), got {address}", self.backends())),
        }
        self.replace(options)?;
        Ok(format!("{address} {health}"))
    }

    /// Some of them, by address.
    fn backends(&self) -> String {
        const MOST: usize = 4;
        let backends = &self.options.balancer.backends;
        let mut named: Vec<_> =
            backends.iter().take(MOST).map(|backend| backend.address.to_string()).collect();
        if backends.len() > MOST {
            named.push("…".to_owned());
        }
        named.join(", ")
    }

    fn replace(&mut self, options: FunctionOptions) -> Result<(), String> {
        self.run.reload(&options).map_err(|error| error.to_string())?;
        self.options = options;
        Ok(())
    }
}

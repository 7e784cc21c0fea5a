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

/// Run a network function between two interfaces, its packets shared out to cores by the kernel.
///
/// It is a bump in the wire: what comes in by one interface leaves by the other, with the Ethernet addresses that it had; ARP and neighbour
/// discovery pass by. The interfaces should have no addresses, and the kernel should not forward between them. Merging of packets
/// (GRO, LRO) is turned off on them for as long as it runs. Senders on this machine (veth) have to leave neither segments (TSO, GSO) nor, where packets are
/// sprayed by their checksum, checksums to the card: ethtool -K DEV tso off gso off tx off. With --backend xdp they have to write VLAN tags themselves, too (txvlan off).
///
/// Ctrl-C or SIGTERM ends it: nothing more is let in, and what is there is finished. SIGHUP reads the files again; a file with a mistake, or one that is no
/// regular file, is told and the old rules stay. It ends with an error if one of its interfaces is removed. All state is in this process: when it ends, or is
/// killed, a NAT's translations and a balancer's connections are forgotten, and connections that go on break. Needs root, or CAP_BPF, CAP_NET_ADMIN, CAP_NET_RAW and CAP_PERFMON.
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
        /// Function that handles packets.
        nf: Option<FunctionName> => { value: "NAME", required: true },
        /// Inner interface; eth0@blue for one in the network namespace blue.
        r#in: Option<Interface> => { value: "IFACE", required: true },
        /// Outer interface.
        out: Option<Interface> => { value: "IFACE", required: true },
        /// Processors to run on, one thread each.
        cores: Processors => { value: "LIST", required: true },
        /// Sockets by which packets come and go.
        backend: IoBackend => { value: "NAME", default: "packet" },
        /// Policy by which packets are shared out.
        policy: On<Kernel> => { value: "POLICY", default: "spray" },
        /// Busy cycles for each packet, to try what a heavier function would do.
        cycles: Within<u64, 0, MOST_CYCLES> => { value: "N", default: "0" },
        /// Have threads go before all else on their processors (SCHED_FIFO): where others use these, a thread that waits for its turn reorders
        /// what is sprayed.
        realtime: bool => {},
        /// Flows that each core has room for.
        flows: Within<usize, 1, MOST_FLOWS> => { value: "N", default: "64K" },
        /// Frames of each core's ring on each interface, a power of two.
        ring: Within<usize, 64, 65_536> => { value: "N", default: "2048" },
        /// Time after which it ends by itself.
        duration: Option<Positive<Nanos>> => { value: "TIME" },
        /// Address to serve counters to Prometheus at, under /metrics; port 0 takes a free one, and the first line of output tells which.
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

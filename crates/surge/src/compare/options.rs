//! The parameters of `surge compare`.

use std::path::PathBuf;
use std::sync::Arc;

use trueplane_study::{Error, Observer};
use trueplane_trace::{Order, TraceError};
use trueplane_units::{BitsPerSec, Bytes, Choices, List, Parameters as _, Positive, Within, parameters};

use crate::attack::{AttackMethod, AttackSource};
use crate::jobs::JobTime;
use crate::matching::Rules;
use crate::matching::engine::{Backtracking, EngineName, Linear, STEP_LIMIT};
use crate::policy::PolicyName;
use crate::rate::{Rate, Sweep};
use crate::reassembly::{Design, Heuristic, Innocent};
use crate::replay::Replay;
use crate::segments::{Segments, Wanted};
use crate::workload::arrivals::Arrivals;
use crate::workload::matching::Matching;
use crate::workload::open::Opened;
use crate::workload::reassembly::Reassembling;
use crate::workload::size::Size;
use crate::workload::trace::Recorded;
use crate::workload::{Workload, WorkloadName};
use crate::{Capacity, Overflow};

/// More seeds are refused.
const MOST_SEEDS: u64 = 1000;

/// More attacks are not searched among.
const MOST_TRIALS: u64 = 1 << 20;

/// Number of attacks that a search tries if nobody says.
const TRIALS: u32 = 64;

const APPLICATIONS: &str = "Applications";
const ATTACK: &str = "Attack";

/// Heading of help texts for what the simulation does.
const SIMULATION: &str = "The simulation";

parameters! {
    /// Parameters of `surge compare`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Source of the users' packets: iid:…, trace:…, reassembly:… or match:….
        ///
        /// iid:size=normal:4000bit:400bit,job=normal:4us:500ns,packets=200K,flows=100 draws each packet independently. Keys that you leave out
        /// have these values. A distribution is one of VALUE, uniform:LEAST:MOST, normal:MEAN:DEVIATION, exponential:MEAN,
        /// lognormal:MEDIAN:SIGMA and pareto:LEAST:MOST:EXPONENT. Values are rounded, and drawn again if they are below 1 bit or 1 ns.
        ///
        /// trace:jobs.csv reads a CSV file with the columns packet_bytes, flow, job_ns and optionally estimate_ns and time_ns. It is plain or
        /// compressed with gzip, zstd or xz. A dash (-) is standard input.
        ///
        /// reassembly:video.pcap does TCP reassembly of a capture. reassembly:generated,flows=1000,packets=100,late=1%,overtaken=3 does it for
        /// generated flows in which some packets are late.
        ///
        /// match:web.pcap matches the payloads of a capture against --rules: first strings, then the regular expressions of the rules whose
        /// strings match.
        pub workload: WorkloadName => { value: "WORKLOAD", positional: true, required: true },
        /// Rates of users: a rate such as 10Gbps, a share such as 90%, or own. A share is one of r_max, the rate of users that the server can
        /// serve. With own, it is the rate of the times in the trace.
        pub innocent: List<Rate> => { value: "LIST", default: "90%" },
        /// Policies to compare, which decide what is served next.
        pub policies: Choices<PolicyName> => { value: "LIST", default: "all" },
        /// Arrival process of the packets.
        pub arrivals: Arrivals => { value: "HOW", default: "even" },
        /// Size of the buffer: packets, such as 1000, or bytes, such as 64KiB.
        pub capacity: Option<Capacity> => { value: "SIZE", default_words: "no bound" },
        /// Packet to drop when the buffer is full.
        pub overflow: Overflow => { value: "RULE", default: "worst", requires: "capacity" },
        /// Rank packets exactly, with a heap. Without this flag, ranks are rounded for a find-first-set queue.
        pub exact_ranks: bool => { heading: SIMULATION },
        /// Number of samples, each with its own random draws.
        pub seeds: Option<Within<u32, 1, MOST_SEEDS>> =>
            { value: "N", default_words: "3, or 1 where nothing is drawn", heading: SIMULATION },
        /// Seed of the random draws of the first sample. The seeds of other samples follow it.
        pub seed: u64 => { value: "SEED", default: "1" },
        /// Memory for the packets of all runs at the same time. If a backlog does not fit, the command ends with an error.
        pub memory: Positive<Bytes> => { value: "SIZE", default: "2GiB", heading: SIMULATION },
    }
    including {
        /// Parameters of applications.
        pub application: Application,
        /// Parameters of the attack.
        pub attack: Attack,
        /// Parameters of reading a capture.
        pub reading: Order,
    }
}

parameters! {
    /// Parameters of applications.
    #[derive(Clone, Debug)]
    pub struct Application {
        /// Only for match:FILE: file of rules, in a subset of the Suricata and Snort syntax.
        pub rules: PathBuf => { value: "FILE", heading: APPLICATIONS },
        /// Only for match:FILE: engine for regular expressions.
        pub engine: Option<EngineName> => { value: "NAME", default_words: "backtracking", heading: APPLICATIONS },
        /// Only for reassembly:…: data structure for segments that arrive early.
        pub design: Option<Design> => { value: "NAME", default_words: "list", heading: APPLICATIONS },
        /// Only for reassembly:…: estimate of the steps that a segment takes.
        pub heuristic: Option<Heuristic> => { value: "NAME", default_words: "ranges", heading: APPLICATIONS },
    }
}

parameters! {
    /// Parameters of the attack.
    #[derive(Clone, Debug)]
    pub struct Attack {
        /// Rates of the attacker: rates such as 10Mbps, shares such as 5%, or sweeps. A share is one of r_max, the rate of users that the server
        /// can serve. A sweep such as 1Mbps..10Gbps:13 has 13 points with even ratios. Without a number, it has about 3 points per decade.
        pub attack_rate: List<Sweep> => { value: "LIST", default: "0.1%..100%", heading: ATTACK },
        /// Choice of the packets of the attack.
        pub attack: AttackSource => { value: "HOW", default: "optimal", heading: ATTACK },
        /// Only for --attack search: number of attacks to try. They are tried for each policy and each pair of rates.
        pub trials: Option<Within<u32, 1, MOST_TRIALS>> =>
            { value: "N", default_words: "64", conflicts: "attack_packet", heading: ATTACK },
        /// Size of all packets of the attack, such as 64B or 512bit. Give this and --attack-job instead of --attack.
        pub attack_packet: Option<Size> =>
            { value: "SIZE", requires: "attack_job", conflicts: "attack", heading: ATTACK },
        /// Time that each packet of --attack-packet takes.
        pub attack_job: Option<JobTime> => { value: "TIME", requires: "attack_packet", heading: ATTACK },
        /// Estimate of the scheduler for the time of each packet of --attack-packet.
        pub attack_estimate: Option<JobTime> =>
            { value: "TIME", default_words: "the value of --attack-job", requires: "attack_job", heading: ATTACK },
        /// Smallest packet of the attacker, for --attack optimal, search and largest only.
        pub smallest_packet: Option<Size> =>
            {
                value: "SIZE",
                default_words: "64B, or the smallest packet of users if that is smaller",
                conflicts: "attack_packet",
                heading: ATTACK,
            },
        /// Largest job of a packet, for --attack optimal, search and largest only.
        pub largest_job: Option<JobTime> => {
            value: "TIME",
            default_words: "the largest job of users; for iid, at least 1ms; for reassembly, what the window allows",
            conflicts: "attack_packet",
            heading: ATTACK,
        },
        /// Rate of the link that users and the attacker share. If their rates together exceed it, the command refuses them.
        pub link: Option<Positive<BitsPerSec>> => { value: "RATE", default_words: "no bound", heading: ATTACK },
    }
}

/// An attack that is chosen, with all that it takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AttackChoice {
    /// The best attack on each policy, by theory, of those that are sent evenly for a long time.
    Optimal,
    /// The smallest packet with the largest job, whatever the policy.
    Largest,
    /// The worst of so many that are tried, beginning with the best by theory.
    Search {
        /// Number of attacks that are tried.
        trials: u32,
    },
    /// Packets that the application has for it.
    Own,
    /// Replay of the attacks that an earlier study sent against each policy at each pair of rates.
    Replay(Arc<Replay>),
    /// Packets that are all the same, by hand.
    Given(crate::theory::Attack),
}

fn refuse(problem: impl Into<String>) -> Result<(), Error> {
    Err(Error::Parameters(problem.into()))
}

impl Attack {
    /// The attack by hand, if there is one.
    fn by_hand(&self) -> Option<crate::theory::Attack> {
        let (size, job) = self.attack_packet.zip(self.attack_job)?;
        let estimate = self.attack_estimate.unwrap_or(job);
        Some(crate::theory::Attack { bits: size.bits(), job: job.get(), estimate: estimate.get() })
    }

    /// Whether the packets of the attack are given by hand.
    pub(super) fn is_by_hand(&self) -> bool {
        self.by_hand().is_some()
    }

    /// Whether the attack is searched for.
    pub(super) fn is_searched(&self) -> bool {
        self.attack == AttackSource::Method(AttackMethod::Search) && !self.is_by_hand()
    }

    /// The attack, read if it is in a file.
    ///
    /// # Errors
    /// As [`Replay::read`].
    pub(super) fn choice(&self) -> Result<AttackChoice, Error> {
        if let Some(attack) = self.by_hand() {
            return Ok(AttackChoice::Given(attack));
        }
        Ok(match &self.attack {
            AttackSource::Method(AttackMethod::Optimal) => AttackChoice::Optimal,
            AttackSource::Method(AttackMethod::Search) => {
                AttackChoice::Search { trials: self.trials.map_or(TRIALS, Within::get) }
            }
            AttackSource::Method(AttackMethod::Own) => AttackChoice::Own,
            AttackSource::Method(AttackMethod::Largest) => AttackChoice::Largest,
            AttackSource::File(path) => AttackChoice::Replay(Arc::new(Replay::read(path)?)),
        })
    }
}

impl Application {
    /// The rules.
    fn rules(&self) -> Result<Rules, Error> {
        let name = self.rules.display().to_string();
        let text =
            std::fs::read(&self.rules).map_err(|source| TraceError::Io { trace: name.clone(), source })?;
        Ok(Rules::parse(&name, &text)?)
    }

    /// Refuses what means nothing for `workload`, and matching without rules.
    fn check(&self, workload: &Workload) -> Result<(), Error> {
        let matches = matches!(workload, Workload::Match(_));
        let reassembles = matches!(workload, Workload::Reassembly(_) | Workload::Generated(_));
        let has_rules = !self.rules.as_os_str().is_empty();
        if matches && !has_rules {
            return refuse("match:… needs rules: name their file with --rules");
        }
        let matching = [("--rules", has_rules), ("--engine", self.engine.is_some())];
        let reassembly = [("--design", self.design.is_some()), ("--heuristic", self.heuristic.is_some())];
        let given = |flags: [(&'static str, bool); 2]| flags.into_iter().find(|(_, given)| *given);
        match (given(matching), given(reassembly)) {
            (Some((flag, _)), _) if !matches => {
                refuse(format!("{flag} is for match:FILE, and this workload matches nothing"))
            }
            (_, Some((flag, _))) if !reassembles => {
                refuse(format!("{flag} is for reassembly:…, and this workload reassembles nothing"))
            }
            _ => Ok(()),
        }
    }

    fn reassembled(&self, segments: &Segments, seed: u64) -> Result<Opened, Error> {
        let heuristic = self.heuristic.unwrap_or(Heuristic::Ranges);
        Ok(match self.design.unwrap_or(Design::List) {
            Design::List => Opened::List(Reassembling::new(segments, heuristic, seed)?),
            Design::Tree => Opened::Tree(Reassembling::new(segments, heuristic, seed)?),
        })
    }
}

impl Options {
    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.attack.trials.is_some() && !self.attack.is_searched() {
            return refuse("--trials is for --attack search, and this attack is not searched for");
        }
        let limits = [
            ("--smallest-packet", self.attack.smallest_packet.is_some()),
            ("--largest-job", self.attack.largest_job.is_some()),
        ];
        let limit = limits.into_iter().find(|(_, given)| *given);
        if let (Some((flag, _)), AttackSource::Method(AttackMethod::Own)) = (limit, &self.attack.attack) {
            return refuse(format!(
                "{flag} is for packets that are made, and those of --attack own are as they are"
            ));
        }
        let is_ranked = |policy: &PolicyName| policy.properties().ranked;
        if self.exact_ranks && !self.policies.iter().any(is_ranked) {
            return refuse("--exact-ranks is for orders of service by rank, and --policies has none of them");
        }
        let workload = self.workload.workload();
        self.application.check(workload)?;
        match (self.reading.first_given(), workload) {
            (None, _) | (_, Workload::Reassembly(_) | Workload::Match(_)) => Ok(()),
            (Some(flag), _) => refuse(format!(
                "{flag} is for captures, reassembly:FILE or match:FILE, and this workload is none"
            )),
        }
    }

    /// Refuses more than one run under attack, as far as that can be told without the workload: only of one can the order of service be
    /// written.
    ///
    /// # Errors
    /// In one line, what there are several of.
    pub fn check_single(&self) -> Result<(), Error> {
        let attack_rates = &self.attack.attack_rate;
        let several = [
            ("policies", self.policies.len() > 1),
            ("rates of users", self.innocent.len() > 1),
            (
                "attack rates",
                attack_rates.len() > 1 || attack_rates.iter().any(|sweep| sweep.from != sweep.to),
            ),
            ("seeds", self.seeds.is_some_and(|seeds| *seeds > 1)),
        ];
        match several.into_iter().find(|(_, several)| *several) {
            Some((what, _)) => refuse(format!(
                "--departures is for one policy, one rate of users, one attack rate and one seed: there are several {what}"
            )),
            None => Ok(()),
        }
    }

    /// Opens the workload.
    pub(super) fn open(&self, observer: &dyn Observer) -> Result<Opened, Error> {
        let application = &self.application;
        let segments = |path: &PathBuf, payloads: bool| {
            let wanted = Wanted { payloads, memory: self.memory.0, ..Wanted::default() };
            observer.stage("reading", 0);
            Segments::open(path, &self.reading.capture(), &wanted, observer)
        };
        match self.workload.workload() {
            Workload::Iid(iid) => Ok(Opened::Iid(*iid)),
            Workload::Trace(path) => Recorded::read(path, *self.memory, observer).map(Opened::Recorded),
            Workload::Reassembly(path) => application.reassembled(&segments(path, false)?, self.seed),
            Workload::Generated(innocent) => {
                let innocent = Innocent { seed: self.seed, ..innocent.clone() };
                application.reassembled(&innocent.segments()?, self.seed)
            }
            Workload::Match(path) => {
                let rules = application.rules()?;
                let segments = segments(path, true)?;
                let matching = match application.engine.unwrap_or(EngineName::Backtracking) {
                    EngineName::Backtracking => {
                        Matching::new::<Backtracking>(&segments, &rules, STEP_LIMIT, observer)
                    }
                    EngineName::Linear => Matching::new::<Linear>(&segments, &rules, STEP_LIMIT, observer),
                };
                matching.map(Opened::Matching)
            }
        }
    }

    /// The seeds, where something is drawn (`random`) or not.
    ///
    /// # Errors
    /// If several seeds are asked for and nothing is drawn.
    pub(super) fn all_seeds(&self, random: bool) -> Result<Vec<u64>, Error> {
        let random = random || self.arrivals == Arrivals::Poisson;
        let seeds = match self.seeds.map(Within::get) {
            Some(seeds) if seeds > 1 && !random => {
                return Err(Error::Parameters(format!(
                    "{seeds} seeds would all give the same: nothing is drawn for this workload with --arrivals {}",
                    self.arrivals
                )));
            }
            Some(seeds) => seeds,
            None if random => 3,
            None => 1,
        };
        Ok((0..u64::from(seeds)).map(|number| self.seed.wrapping_add(number)).collect())
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters;

    use super::*;

    #[test]
    fn several_seeds_need_something_to_draw() {
        let given = |pairs: &[(&str, &str)]| Options::given(pairs).unwrap();
        let even = given(&[("seeds", "2")]);
        assert_eq!(even.all_seeds(true).unwrap(), [1, 2]);
        assert!(
            even.all_seeds(false).unwrap_err().to_string().starts_with("2 seeds would all give the same")
        );
        let poisson = given(&[("seeds", "2"), ("arrivals", "poisson"), ("seed", "18446744073709551615")]);
        assert_eq!(poisson.all_seeds(false).unwrap(), [u64::MAX, 0]);
        let usual = Options::default();
        assert_eq!([usual.all_seeds(true), usual.all_seeds(false)].map(|seeds| seeds.unwrap().len()), [3, 1]);
    }

    #[test]
    fn an_attacker_has_no_longer_jobs_than_users_may_have() {
        for field in ["largest_job", "attack_job", "attack_estimate"] {
            assert!(Options::given(&[(field, "1min")]).is_ok());
            for bad in ["61s", "60.000000001s", "0ns"] {
                assert!(Options::given(&[(field, bad)]).unwrap_err().contains(": expected 1ns to "), "{bad}");
            }
        }
    }
}

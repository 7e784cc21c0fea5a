//! What all runs share: the packets of every seed, what the attacker knows of them, and all rates in bits per second.

use trueplane_study::{Error, Observer, cases};
use trueplane_units::{BitsPerSec, Nanos, Positive};

use super::options::Options;
use crate::jobs::JobTime;
use crate::policy::PolicyName;
use crate::rate::Rate;
use crate::theory::{Attack, Attacker, Innocents, Limits, Rates, usual_flow};
use crate::traffic::Traffic;
use crate::workload::arrivals::{Arrivals, duration, of_users, own_span};
use crate::workload::size::Size;
use crate::workload::source::{Drawn, PacketOf, Source};

/// Packets are thought to be at least as long as this on a link, in bits, if those of users are not shorter.
const USUAL_LEAST_BITS: u32 = 512;

/// The packets of users at one rate and of one seed.
pub(super) struct Users<P> {
    /// Packets with their times.
    pub traffic: Traffic<P>,
    /// Time for which they come.
    pub end: Nanos,
}

/// State that all runs share.
pub(super) struct Prepared<S: Source> {
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The packets of every seed, or of the first if they are the same for all.
    drawn: Vec<Drawn<PacketOf<S>>>,
    /// Users as the attacker knows them.
    pub innocents: Innocents,
    /// Attacks that can be planned.
    pub attacker: Attacker,
    /// Length of users' flows in a run, in work.
    flow: Nanos,
    /// Rates at which users send, each once.
    pub innocent: Vec<BitsPerSec>,
    /// Rates at which the attacker sends, ascending.
    pub attack: Vec<BitsPerSec>,
    /// The users, seed by seed for every rate.
    pub users: Vec<Vec<Users<PacketOf<S>>>>,
    /// Bytes of memory for all this.
    pub bytes: u64,
}

impl<S: Source> Prepared<S> {
    /// Draws the packets, and works out the rates.
    ///
    /// # Errors
    /// If that cannot be done, rates do not fit the workload or the link, or the observer interrupts.
    pub(super) fn new(source: &S, options: &Options, observer: &dyn Observer) -> Result<Self, Error> {
        let seeds = options.all_seeds(source.is_random())?;
        let drawn = draw(source, &seeds, options, observer)?;
        let (mut jobs, mut misjudged) = (Vec::new(), Vec::new());
        for profile in drawn.iter().map(|drawn| source.profile(drawn)) {
            jobs.extend(profile.jobs);
            misjudged.extend(profile.misjudged);
        }
        let innocents = Innocents::new(jobs).ok_or_else(|| {
            Error::Parameters("serving these packets takes no time: there is nothing to displace".to_owned())
        })?;
        let limits = Limits {
            least_bits: (options.attack.smallest_packet)
                .map_or(innocents.least_bits().min(USUAL_LEAST_BITS), Size::bits),
            most_job: (options.attack.largest_job).map_or_else(
                || source.largest_job().unwrap_or_default().max(innocents.most_job()),
                JobTime::get,
            ),
        };
        let attacker = Attacker::new(limits, misjudged);
        // A flow of another seed is another one.
        let flow = usual_flow(&innocents.jobs()[..drawn[0].packets.len()]);
        let innocent = innocent_rates(options, &innocents, &drawn[0])?;
        let attack = attack_rates(options, &innocents)?;
        check_link(options.attack.link.map(Positive::get), &innocent, &attack)?;
        let users = (innocent.iter())
            .map(|rate| {
                let of = |(number, seed): (usize, &u64)| {
                    users_of(options.arrivals, &drawn[number.min(drawn.len() - 1)], *rate, *seed)
                };
                seeds.iter().enumerate().map(of).collect::<Result<_, _>>()
            })
            .collect::<Result<Vec<Vec<_>>, _>>()?;
        let times = if options.arrivals == Arrivals::Even { 0 } else { size_of::<Nanos>() as u64 };
        let packets: u64 = drawn.iter().map(packets_of).sum();
        let bytes = drawn.iter().map(Drawn::bytes).sum::<u64>()
            + size_of_val(innocents.jobs()) as u64
            + size_of_val::<[Attack]>(attacker.misjudged()) as u64
            + times * packets * innocent.len() as u64;
        Ok(Self { seeds, drawn, innocents, attacker, flow, innocent, attack, users, bytes })
    }

    /// Whether theory has a say of an attack.
    pub(super) fn foresees(&self, policy: PolicyName, attack: Attack) -> bool {
        policy.least_flow(attack).is_none_or(|least| least <= self.flow)
    }

    /// Rates of users and attacker in bits per nanosecond.
    pub(super) fn rates(&self, innocent: BitsPerSec, attack: BitsPerSec) -> Rates {
        Rates { innocent: innocent.0 as f64 / 1e9, attack: attack.0 as f64 / 1e9 }
    }

    /// Number of packets that users send with one seed.
    pub(super) fn packets(&self) -> u64 {
        packets_of(&self.drawn[0])
    }

    /// Number of flows of users, with the first seed.
    pub(super) fn flows(&self) -> u64 {
        let mut flows: Vec<u64> = self.drawn[0].packets.iter().map(|packet| packet.flow).collect();
        flows.sort_unstable();
        flows.dedup();
        flows.len() as u64
    }
}

/// The packets of every seed, or of one if they are the same for all.
fn draw<S: Source>(
    source: &S,
    seeds: &[u64],
    options: &Options,
    observer: &dyn Observer,
) -> Result<Vec<Drawn<PacketOf<S>>>, Error> {
    let seeds = if source.is_random() { seeds } else { &seeds[..1] };
    let needed = source.bytes().saturating_mul(seeds.len() as u64);
    if needed > options.memory.0 {
        return Err(Error::Parameters(format!(
            "the packets of {} seeds take {} of memory and --memory is {}: raise it, or study fewer packets or seeds",
            seeds.len(),
            trueplane_units::Bytes(needed),
            *options.memory
        )));
    }
    observer.stage("drawing", seeds.len() as u64);
    cases::over(seeds, observer, |seed| {
        let drawn = source.draw(*seed);
        observer.advance(1);
        Ok(drawn)
    })
}

fn innocent_rates<P>(
    options: &Options,
    innocents: &Innocents,
    drawn: &Drawn<P>,
) -> Result<Vec<BitsPerSec>, Error> {
    let most = innocents.most_rate();
    let own = drawn.times.as_deref().and_then(own_span).map(|span| {
        let rate = bits_of(drawn) as f64 * 1e9 / span.0 as f64;
        BitsPerSec(rate.round().max(1.0) as u64)
    });
    let mut rates = Vec::new();
    for rate in options.innocent.iter() {
        let rate = Rate::resolve(*rate, most, own)?;
        if !rates.contains(&rate) {
            rates.push(rate);
        }
    }
    Ok(rates)
}

fn attack_rates(options: &Options, innocents: &Innocents) -> Result<Vec<BitsPerSec>, Error> {
    let most = innocents.most_rate();
    let mut rates = Vec::new();
    for sweep in options.attack.attack_rate.iter() {
        rates.extend(sweep.resolve(most)?);
    }
    rates.sort_unstable();
    rates.dedup();
    Ok(rates)
}

/// Refuses what the link cannot bring.
fn check_link(link: Option<BitsPerSec>, innocent: &[BitsPerSec], attack: &[BitsPerSec]) -> Result<(), Error> {
    let most = |rates: &[BitsPerSec]| rates.iter().max().copied().unwrap_or_default();
    let (users, attacker) = (most(innocent), most(attack));
    match link {
        Some(link) if users.0.saturating_add(attacker.0) > link.0 => Err(Error::Parameters(format!(
            "the attack is faster than the link: {users} of users and {attacker} of attack do not fit {link}"
        ))),
        _ => Ok(()),
    }
}

/// The bits of all packets.
fn bits_of<P>(drawn: &Drawn<P>) -> u64 {
    drawn.packets.iter().map(|packet| u64::from(packet.bits)).sum()
}

fn users_of<P: Copy>(
    arrivals: Arrivals,
    drawn: &Drawn<P>,
    rate: BitsPerSec,
    seed: u64,
) -> Result<Users<P>, Error> {
    let (count, bits) = (packets_of(drawn), bits_of(drawn));
    duration(bits, rate)?;
    let arriving = of_users(arrivals, count, bits, drawn.times.as_deref(), rate, seed)?;
    let traffic = Traffic { packets: drawn.packets.clone(), pace: arriving.pace, count, fresh_flows: false };
    Ok(Users { traffic, end: arriving.end })
}

/// Number of packets that were drawn.
pub(super) fn packets_of<P>(drawn: &Drawn<P>) -> u64 {
    drawn.packets.len() as u64
}

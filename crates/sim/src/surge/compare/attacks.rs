//! What the attacker sends against each policy at each pair of rates, and what theory makes of it.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;
use trueplane_core::surge::theory::{
    Attack, Discipline, Innocents, Job, Limits, Prediction, Rates, predict, predict_among,
};
use trueplane_core::units::{BitsPerSec, Nanos};

use super::super::options::{AttackChoice, Options};
use super::super::policy::PolicyName;
use super::super::search::{Pattern, Search, Space};
use super::super::workload::{Drawn, PacketOf, Source};
use super::prepare::Prepared;
use super::run::{Arsenal, Own, Run, Sent, Weapon};
use crate::{Error, Observer};

/// A policy under attack.
#[derive(Clone, Debug)]
pub(super) struct Threat<P> {
    /// The policy.
    pub policy: PolicyName,
    /// The number of the users' rate.
    pub innocent: usize,
    /// What the attacker sends, and how fast.
    pub sent: Sent<P>,
    /// What theory expects of it; none where it has no say.
    pub prediction: Option<Prediction>,
}

/// The threats to a source.
pub(super) type Threats<S> = Vec<Threat<PacketOf<S>>>;

/// All of them: policy by policy, rate by rate.
///
/// # Errors
/// If the application has no attack of its own and that was chosen, more packets would come than can be simulated, or the observer
/// interrupts.
pub(super) fn threats<S: Source>(
    source: &S,
    prepared: &Prepared<S>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Threats<S>, Error> {
    let mut points: Vec<(PolicyName, usize, BitsPerSec)> = Vec::new();
    for innocent in 0..prepared.innocent.len() {
        for &policy in &options.policies {
            points.extend(prepared.attack.iter().map(|rate| (policy, innocent, *rate)));
        }
    }
    if options.attack == AttackChoice::Own {
        let own = own(source)?;
        let threat = |(policy, innocent, rate)| {
            let sent = Sent { weapon: Weapon::Own(own.clone()), rate };
            Threat { policy, innocent, sent, prediction: None }
        };
        return Ok(points.into_iter().map(threat).collect());
    }
    let attacker = Attacker::new(&prepared.innocents, prepared.limits, options.attack);
    observer.stage("planning the attack", points.len() as u64);
    let threats = (points.into_par_iter())
        .map(|(policy, innocent, rate)| {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            let rates = prepared.rates(prepared.innocent[innocent], rate);
            let prediction = attacker.best(policy.discipline(), rates);
            observer.advance(1);
            let sent = Sent { weapon: Weapon::Alike(prediction.attack), rate };
            Ok(Threat { policy, innocent, sent, prediction: Some(prediction) })
        })
        .collect::<Result<_, _>>()?;
    match options.attack {
        AttackChoice::Search { trials } => {
            let searching = Searching { source, prepared, options, observer };
            searching.worse(threats, trials, !attacker.misjudged.is_empty())
        }
        _ => Ok(threats),
    }
}

/// The attack of the application itself.
fn own<S: Source>(source: &S) -> Result<Own<PacketOf<S>>, Error> {
    let packets = source.attack().filter(|packets| !packets.is_empty()).ok_or_else(|| {
        Error::Parameters("--attack own needs an application: reassembly:… or match:…".to_owned())
    })?;
    let jobs = source.profile(&Drawn { packets: Arc::clone(&packets), times: None });
    let mean = |of: &dyn Fn(&Job) -> u64| jobs.iter().map(of).sum::<u64>() / jobs.len() as u64;
    let bits = u32::try_from(mean(&|job| job.bits.into())).unwrap_or(u32::MAX);
    let mean = (Nanos(mean(&|job| job.job.0)), Nanos(mean(&|job| job.estimate.0)));
    Ok(Own { packets, bits, mean })
}

/// Searches for attacks that are worse than those of theory, by trying on the packets of the first seed.
struct Searching<'a, S: Source> {
    source: &'a S,
    prepared: &'a Prepared<S>,
    options: &'a Options,
    observer: &'a dyn Observer,
}

impl<S: Source> Searching<'_, S> {
    /// `threats` with the worst attack that was found; `resend` if users' packets can be sent again to good effect, because the scheduler
    /// is wrong about some.
    fn worse(&self, threats: Threats<S>, trials: u32, resend: bool) -> Result<Threats<S>, Error> {
        let Self { source, prepared, options, observer } = *self;
        let pool = match source.attack() {
            Some(own) => own,
            None if resend => Arc::clone(&prepared.users[0][0].traffic.packets),
            None => Arc::from([]),
        };
        let most_bits = prepared.innocents.jobs().iter().map(|job| job.bits).max().unwrap_or(1);
        let Limits { least_bits, most_job } = prepared.limits;
        let space = Space::new((least_bits, most_bits.max(least_bits)), most_job, Arc::clone(&pool))?;
        let smallest = pool.iter().map(|packet| packet.bits).min().unwrap_or(least_bits);
        let arsenal = Arc::new(Arsenal { space, pool, least_bits: least_bits.min(smallest) });
        let search = Search { trials: trials as usize, seed: options.seed };
        observer.stage("searching", threats.len() as u64 * u64::from(trials));
        (threats.into_iter())
            .map(|threat| {
                let known = match &threat.sent.weapon {
                    Weapon::Alike(attack) => vec![Pattern::even(attack.bits, attack.job)],
                    Weapon::Own(_) | Weapon::Found(..) => Vec::new(),
                };
                let harm = |pattern: &Pattern| self.harm(&threat, &arsenal, pattern);
                let found = search.worst(&arsenal.space, &known, observer, harm)?;
                let weapon = Weapon::Found(Arc::clone(&arsenal), found.pattern);
                let sent = Sent { weapon, rate: threat.sent.rate };
                Ok(Threat { sent, ..threat })
            })
            .collect()
    }

    /// What an attack does instead of that of `threat`: the more, the less goodput is left.
    fn harm(
        &self,
        threat: &Threat<PacketOf<S>>,
        arsenal: &Arc<Arsenal<PacketOf<S>>>,
        pattern: &Pattern,
    ) -> Result<f64, Error> {
        let Self { source, prepared, options, observer } = *self;
        let weapon = Weapon::Found(Arc::clone(arsenal), pattern.clone());
        let sent = Sent { weapon, rate: threat.sent.rate };
        let run = Run {
            source,
            options,
            users: &prepared.users[threat.innocent][0],
            policy: threat.policy,
            exact: options.exact_ranks,
            sent: Some(&sent),
            seed: prepared.seeds[0],
        };
        let memory = options.memory.0.saturating_sub(prepared.bytes) / rayon::current_num_threads() as u64;
        Ok(-run.run(memory, &Quiet(observer), &mut |_| Ok(()))?.goodput_bps())
    }
}

/// Passes on that it is time to stop, and nothing else.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

/// An attacker who knows what every packet takes and what the scheduler thinks that it takes.
struct Attacker<'a> {
    innocents: &'a Innocents,
    limits: Limits,
    choice: AttackChoice,
    /// Packets of users that the scheduler is wrong about: any of them can be sent again.
    misjudged: Vec<Attack>,
}

impl<'a> Attacker<'a> {
    fn new(innocents: &'a Innocents, limits: Limits, choice: AttackChoice) -> Self {
        let jobs = innocents.jobs().iter().filter(|job| job.job != job.estimate);
        let packets = jobs.map(|job| Attack { bits: job.bits, job: job.job, estimate: job.estimate });
        let mut seen = HashSet::new();
        let misjudged = packets.filter(|attack| seen.insert(*attack)).collect();
        Self { innocents, limits, choice, misjudged }
    }

    /// The attack on a policy, and what is to be expected of it.
    fn best(&self, discipline: Discipline, rates: Rates) -> Prediction {
        let known = || predict(discipline, self.innocents, rates, self.limits);
        let one =
            |attack: Attack| predict_among(discipline, self.innocents, rates, [attack]).unwrap_or_else(known);
        match self.choice {
            AttackChoice::Optimal | AttackChoice::Search { .. } | AttackChoice::Own => {
                let known = known();
                let misjudged = self.misjudged.iter().copied();
                match predict_among(discipline, self.innocents, rates, misjudged) {
                    Some(misjudged) if misjudged.goodput < known.goodput => misjudged,
                    _ => known,
                }
            }
            AttackChoice::Largest => {
                let Limits { least_bits, most_job } = self.limits;
                one(Attack { bits: least_bits, job: most_job, estimate: most_job })
            }
            AttackChoice::Given { size, job, estimate } => one(Attack { bits: size.bits(), job, estimate }),
        }
    }
}

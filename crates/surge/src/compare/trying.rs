//! Attacks that are found by trying, on the packets of the first seed.

use std::sync::Arc;

use trueplane_study::{Error, Observer, cases};

use super::batches::batches;
use super::options::Options;
use super::prepare::Prepared;
use super::sent::{Arsenal, Sent, Threat, Threats, Weapon};
use super::single::{Cost, Run};
use crate::search::{Pattern, Search, Space};
use crate::theory::{Attack, Limits};
use crate::traffic::{Load, Offered, Pool};
use crate::workload::source::{Drawn, PacketOf, Source};

/// Attacks on a source, to be tried.
pub(super) struct Trying<'a, S: Source> {
    /// Source of the packets.
    pub source: &'a S,
    /// The users.
    pub prepared: &'a Prepared<S>,
    /// Parameters of arrivals and of the buffer.
    pub options: &'a Options,
    /// Observer that is told of progress.
    pub observer: &'a dyn Observer,
}

impl<S: Source> Trying<'_, S> {
    /// `threats`, but where the smallest packet with the largest job leaves users less, that: theory knows no bound on the buffer, and
    /// does not see that one long job is enough to fill it.
    ///
    /// # Errors
    /// If a run fails, or the observer interrupts.
    pub(super) fn largest(&self, threats: Threats<S>) -> Result<Threats<S>, Error> {
        let largest = self.prepared.attacker.limits().largest();
        let others: Vec<Option<Sent<PacketOf<S>>>> = (threats.iter())
            .map(|threat| match &threat.sent.weapon {
                Weapon::Alike(known) if *known == largest => None,
                _ => Some(Sent { weapon: Weapon::Alike(largest), rate: threat.sent.rate }),
            })
            .collect();
        let runs: Vec<Run<'_, S>> = (threats.iter().zip(&others))
            .filter_map(|(threat, other)| {
                Some([&threat.sent, other.as_ref()?].map(|sent| self.of(threat, sent)))
            })
            .flatten()
            .collect();
        let costs: Vec<Cost> = runs.iter().map(Run::cost).collect::<Result<_, _>>()?;
        self.observer.stage("trying the largest jobs", costs.iter().map(|cost| cost.arrivals).sum());
        let goodputs = self.goodputs(&runs, self.observer)?;
        let mut goodputs = goodputs.chunks_exact(2);
        let worse = |(threat, other): (Threat<_>, Option<_>)| {
            let Some(sent) = other else { return threat };
            match goodputs.next() {
                Some([known, other]) if other < known => {
                    Threat { sent, prediction: None, bound: None, ..threat }
                }
                _ => threat,
            }
        };
        Ok(threats.into_iter().zip(others).map(worse).collect())
    }

    /// The goodput of every run; as many side by side as the memory holds.
    fn goodputs(&self, runs: &[Run<'_, S>], observer: &dyn Observer) -> Result<Vec<f64>, Error> {
        let memory = self.options.memory.0.saturating_sub(self.prepared.bytes);
        let needed: Vec<u64> =
            runs.iter().map(|run| run.cost().map(|cost| cost.bytes)).collect::<Result<_, _>>()?;
        let mut goodputs = Vec::with_capacity(runs.len());
        for batch in batches(&needed, rayon::current_num_threads(), memory) {
            let goodput = |run: &Run<'_, S>| Ok(run.run(memory, observer, &mut |_| Ok(()))?.goodput_bps());
            goodputs.extend(cases::over(&runs[batch], observer, goodput)?);
        }
        Ok(goodputs)
    }

    /// `threats` with the worst attack of `trials`, of which theirs is the first. Mixtures are of packets within the attacker's limits:
    /// such as are made, those of the application, or else those of users about which the scheduler is wrong.
    ///
    /// # Errors
    /// If a run fails, or the observer interrupts.
    pub(super) fn search(&self, threats: Threats<S>, trials: u32) -> Result<Threats<S>, Error> {
        let Self { prepared, options, observer, .. } = *self;
        let pool = self.pool();
        let most_bits = prepared.innocents.jobs().iter().map(|job| job.bits).max().unwrap_or(1);
        let Limits { least_bits, most_job } = prepared.attacker.limits();
        let space = Space::new((least_bits, most_bits.max(least_bits)), most_job, pool.clone())?;
        let smallest = pool.packets.iter().map(|packet| packet.bits).min().unwrap_or(least_bits);
        let arsenal = Arc::new(Arsenal { space, pool: pool.packets, least_bits: least_bits.min(smallest) });
        let search = Search { trials: trials as usize, seed: options.seed };
        observer.stage("searching", threats.len() as u64 * u64::from(trials));
        (threats.into_iter())
            .map(|threat| {
                let known = match &threat.sent.weapon {
                    Weapon::Alike(attack) => vec![Pattern::alike(*attack)],
                    Weapon::Own(_) | Weapon::Found(..) => Vec::new(),
                };
                let harms = |patterns: &[Pattern]| self.harms(&threat, &arsenal, patterns);
                let found = search.worst(&arsenal.space, &known, observer, harms)?;
                let weapon = Weapon::Found(Arc::clone(&arsenal), found.pattern);
                let sent = Sent { weapon, rate: threat.sent.rate };
                Ok(Threat { sent, planned: Some(-found.first), ..threat })
            })
            .collect()
    }

    /// The packets that mixtures can have beside those that are made.
    fn pool(&self) -> Pool<PacketOf<S>> {
        let attacker = &self.prepared.attacker;
        if let Some(own) = self.source.attack() {
            return if self.may_send(&own) { own } else { Pool::none() };
        }
        let offer = |&Attack { bits, job, estimate }: &Attack| Offered {
            flow: 0,
            bits,
            load: Load::Given { job, estimate },
        };
        Pool { packets: attacker.misjudged().iter().map(offer).collect(), fresh_flows: false }
    }

    /// Whether all packets of the application are within the limits: they follow each other in turn, so that none can be left out.
    fn may_send(&self, own: &Pool<PacketOf<S>>) -> bool {
        let limits = self.prepared.attacker.limits();
        if self.source.largest_job().is_some_and(|job| job <= limits.most_job) {
            return own.packets.iter().all(|packet| limits.least_bits <= packet.bits);
        }
        let profile = self.source.profile(&Drawn { packets: Arc::clone(&own.packets), times: None });
        profile.jobs.iter().all(|job| limits.allows(&(*job).into()))
    }

    /// Harm of each attack if it is sent instead of that of `threat`: the larger, the less goodput is left.
    fn harms(
        &self,
        threat: &Threat<PacketOf<S>>,
        arsenal: &Arc<Arsenal<PacketOf<S>>>,
        patterns: &[Pattern],
    ) -> Result<Vec<f64>, Error> {
        let sent = |pattern: &Pattern| Sent {
            weapon: Weapon::Found(Arc::clone(arsenal), pattern.clone()),
            rate: threat.sent.rate,
        };
        let sent: Vec<Sent<PacketOf<S>>> = patterns.iter().map(sent).collect();
        let runs: Vec<Run<'_, S>> = sent.iter().map(|sent| self.of(threat, sent)).collect();
        let goodputs = self.goodputs(&runs, &Quiet(self.observer))?;
        Ok(goodputs.into_iter().map(|goodput| -goodput).collect())
    }

    /// The run of `sent` against what `threat` is against.
    fn of<'a>(&'a self, threat: &Threat<PacketOf<S>>, sent: &'a Sent<PacketOf<S>>) -> Run<'a, S> {
        Run {
            source: self.source,
            options: self.options,
            users: &self.prepared.users[threat.innocent][0],
            policy: threat.policy,
            exact: self.options.exact_ranks,
            sent: Some(sent),
            seed: self.prepared.seeds[0],
        }
    }
}

/// Passes on that it is time to stop, and nothing else.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}

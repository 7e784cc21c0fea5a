//! What the runs come to.

use trueplane_units::{BitsPerSec, Nanos};

use super::case::{Case, Studied};
use super::found::{
    AttackFacts, Baseline, Found, Mixture, MixturePart, Rounding, Row, SeedRun, WorkloadFacts,
};
use super::sent::{Sent, Threat, Weapon};
use crate::interval::{interval, mean};
use crate::search::pattern::Kind;
use crate::search::{Part, Pattern};
use crate::tally::{Amount, Fate, Tally};
use crate::traffic::{Load, Offered};
use crate::workload::source::{PacketOf, Source};

/// Everything, but for what rounding does.
pub(super) fn found<S: Source>(studied: &Studied<'_, S>, cases: &[Case], tallies: &[Tally]) -> Found {
    let seeds = studied.prepared.seeds.len();
    let (mut baselines, mut rows) = (Vec::new(), Vec::new());
    let mut before: &[Tally] = &[];
    for (cases, tallies) in cases.chunks(seeds).zip(tallies.chunks(seeds)) {
        let Some(case) = cases.first() else { continue };
        match case.threat {
            None => {
                before = tallies;
                baselines.push(baseline(studied, case, tallies));
            }
            Some(threat) => rows.push(row(studied, &studied.threats[threat], before, tallies)),
        }
    }
    let prepared = studied.prepared;
    Found {
        workload: workload(studied),
        limits: prepared.attacker.limits(),
        seeds: prepared.seeds.clone(),
        innocent: prepared.innocent.clone(),
        attack: prepared.attack.clone(),
        baselines,
        rows,
        rounding: Vec::new(),
    }
}

/// Effect of rounding ranks on policies at their worst, from the runs of those with exact ranks.
pub(super) fn rounding<S: Source>(
    studied: &Studied<'_, S>,
    found: &Found,
    cases: &[Case],
    tallies: &[Tally],
) -> Vec<Rounding> {
    let seeds = studied.prepared.seeds.len();
    let of = |(cases, tallies): (&[Case], &[Tally])| {
        let threat = cases.last()?.threat?;
        let (rounded, (before, under)) = (found.rows.get(threat)?, tallies.split_at(seeds));
        let exact = row(studied, &studied.threats[threat], before, under);
        Some(Rounding {
            policy: rounded.policy,
            innocent_rate: rounded.innocent_rate,
            attack_rate: rounded.attack_rate,
            displacement_factor: rounded.displacement_factor,
            exact_displacement_factor: exact.displacement_factor,
        })
    };
    cases.chunks(2 * seeds).zip(tallies.chunks(2 * seeds)).filter_map(of).collect()
}

fn workload<S: Source>(studied: &Studied<'_, S>) -> WorkloadFacts {
    let (prepared, innocents) = (studied.prepared, &studied.prepared.innocents);
    WorkloadFacts {
        packets: prepared.packets(),
        flows: prepared.flows(),
        mean_packet_bits: innocents.mean_bits(),
        mean_job_ns: innocents.mean_job(),
        r_max_bps: innocents.most_rate() * 1e9,
        smallest_packet_bits: innocents.least_bits(),
        largest_job: innocents.most_job(),
        left_out: studied.source.left_out(),
    }
}

fn baseline<S: Source>(studied: &Studied<'_, S>, case: &Case, tallies: &[Tally]) -> Baseline {
    Baseline {
        policy: studied.options.policies[case.policy],
        innocent_rate: studied.prepared.innocent[case.innocent],
        goodput_bps: mean(&tallies.iter().map(Tally::goodput_bps).collect::<Vec<_>>()),
        innocent: total(tallies.iter().map(|tally| &tally.innocent)),
    }
}

fn row<S: Source>(
    studied: &Studied<'_, S>,
    threat: &Threat<PacketOf<S>>,
    before: &[Tally],
    tallies: &[Tally],
) -> Row {
    let Threat { policy, innocent, sent, prediction, bound, planned } = threat;
    let innocent_rate = studied.prepared.innocent[*innocent];
    let run = |((seed, before), tally): ((&u64, &Tally), &Tally)| {
        let (baseline_goodput_bps, goodput_bps) = (before.goodput_bps(), tally.goodput_bps());
        let displacement_factor = (baseline_goodput_bps - goodput_bps) / sent.rate.0 as f64;
        SeedRun { seed: *seed, baseline_goodput_bps, goodput_bps, displacement_factor }
    };
    let runs: Vec<SeedRun> = studied.prepared.seeds.iter().zip(before).zip(tallies).map(run).collect();
    let over = |of: &dyn Fn(&SeedRun) -> f64| mean(&runs.iter().map(of).collect::<Vec<_>>());
    let factors: Vec<f64> = runs.iter().map(|run| run.displacement_factor).collect();
    let innocent = total(tallies.iter().map(|tally| &tally.innocent));
    let attacker = total(tallies.iter().map(|tally| &tally.attack));
    let packets = |of: &dyn Fn(&Fate) -> Amount| of(&innocent).packets + of(&attacker).packets;
    Row {
        policy: *policy,
        innocent_rate,
        attack_rate: sent.rate,
        goodput_bps: over(&|run| run.goodput_bps),
        displacement_factor: mean(&factors),
        theory: prediction.map(|prediction| prediction.displacement),
        attack: attack_facts(sent, &attacker),
        arrived: packets(&|fate| fate.arrived),
        served: packets(&|fate| fate.served),
        dropped: packets(&|fate| fate.dropped),
        left: packets(&|fate| fate.left),
        displacement_interval: interval(&factors),
        bound: *bound,
        planned_displacement_factor: planned
            .zip(before.first())
            .map(|(planned, before)| (before.goodput_bps() - planned) / sent.rate.0 as f64),
        baseline_goodput_bps: over(&|run| run.baseline_goodput_bps),
        theory_goodput_bps: prediction.map(|prediction| prediction.goodput * 1e9),
        classical_goodput_bps: classical(
            innocent_rate,
            sent.rate,
            studied.prepared.innocents.most_rate() * 1e9,
        ),
        innocent,
        attacker,
        backlog_packets: tallies.iter().map(|tally| tally.backlog).max().unwrap_or_default(),
        runs,
    }
}

/// Facts of the packets that the attacker sends: of the only packet, as a mean over those of the application, or of the part of a mixture
/// with the most work. Work that the application decides is the mean in `fate`.
fn attack_facts<P>(sent: &Sent<P>, fate: &Fate) -> AttackFacts {
    let one = |packet_bits: u32, job: Nanos, estimate: Nanos| AttackFacts {
        packet_bits,
        job,
        estimate,
        mixture: None,
    };
    match &sent.weapon {
        Weapon::Alike(attack) => one(attack.bits, attack.job, attack.estimate),
        Weapon::Own(own) => {
            let (job, estimate) = fate.mean_work();
            one(own.bits, job, estimate)
        }
        Weapon::Found(arsenal, pattern) => {
            let pool = &arsenal.pool;
            let work = |part: &&Part| {
                let job = load(pool, part.kind).1.map_or(0, |(job, _)| job.0);
                u128::from(job) * u128::from(part.packets)
            };
            let most = pattern.parts.iter().max_by_key(work).map(|part| load(pool, part.kind));
            let (bits, given) = most.unwrap_or_default();
            let (job, estimate) = given.unwrap_or_else(|| fate.mean_work());
            let parts = pattern.parts.iter().map(|part| mixture_part(pool, part)).collect();
            let Pattern { bursts, duty, phase, .. } = *pattern;
            let mixture = Some(Mixture { parts, bursts, duty, phase });
            AttackFacts { mixture, ..one(bits, job, estimate) }
        }
    }
}

fn mixture_part<P>(pool: &[Offered<P>], part: &Part) -> MixturePart {
    let (packet_bits, given) = load(pool, part.kind);
    let pool_index = match part.kind {
        Kind::Made { .. } => None,
        Kind::Pool(index) => Some(index as u64),
    };
    let (job, estimate) = given.unzip();
    MixturePart { packets: part.packets, packet_bits, job, estimate, pool_index, flows: part.flows }
}

/// The size of a packet of a mixture; and how long it takes and is thought to take, unless the application decides.
fn load<P>(pool: &[Offered<P>], kind: Kind) -> (u32, Option<(Nanos, Nanos)>) {
    match kind {
        Kind::Made { bits, job, estimate } => (bits, Some((job, estimate))),
        Kind::Pool(index) => match pool.get(index % pool.len().max(1)) {
            Some(Offered { bits, load: Load::Given { job, estimate }, .. }) => {
                (*bits, Some((*job, *estimate)))
            }
            Some(Offered { bits, .. }) => (*bits, None),
            None => (0, None),
        },
    }
}

/// Bits of users per second that a processor of `most` bits per second serves by the classical model, for which all bits are alike.
fn classical(innocent: BitsPerSec, attack: BitsPerSec, most: f64) -> f64 {
    let (innocent, attack) = (innocent.0 as f64, attack.0 as f64);
    innocent * (most / (innocent + attack)).min(1.0)
}

/// Fates of several runs together.
fn total<'a>(fates: impl Iterator<Item = &'a Fate>) -> Fate {
    let add = |into: &mut Amount, amount: Amount| {
        into.packets += amount.packets;
        into.bits += amount.bits;
    };
    fates.fold(Fate::default(), |mut sum, fate| {
        add(&mut sum.arrived, fate.arrived);
        add(&mut sum.served, fate.served);
        add(&mut sum.dropped, fate.dropped);
        add(&mut sum.left, fate.left);
        (sum.work, sum.estimated) = (sum.work.after(fate.work), sum.estimated.after(fate.estimated));
        sum
    })
}

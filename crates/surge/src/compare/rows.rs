//! What the runs come to.

use trueplane_units::{BitsPerSec, Nanos};

use super::run::{Sent, Weapon};
use crate::Capacity;
use crate::compare::case::{Case, Studied};
use crate::compare::threat::Threat;
use crate::document::{
    AttackFacts, Baseline, Compare, Mixture, MixturePart, Parameters, Rounding, Row, SeedRun, WorkloadFacts,
    Worst,
};
use crate::interval::{interval, mean};
use crate::options::overflow_name;
use crate::search::pattern::Kind;
use crate::search::{Part, Pattern};
use crate::tally::{Amount, Fate, Tally};
use crate::traffic::{Load, Offered};
use crate::workload::source::{PacketOf, Source};

/// The document, but for the verdict.
pub(super) fn document<S: Source>(studied: &Studied<'_, S>, cases: &[Case], tallies: &[Tally]) -> Compare {
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
    Compare {
        study: "surge.compare",
        version: env!("CARGO_PKG_VERSION"),
        workload: workload(studied),
        parameters: parameters(studied),
        baselines,
        worst: worst(&rows),
        rows,
        rounding: Vec::new(),
        verdict: Vec::new(),
    }
}

/// What rounding does to policies at their worst, from the runs of those with exact ranks.
pub(super) fn rounding<S: Source>(
    studied: &Studied<'_, S>,
    found: &Compare,
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
            innocent_bps: rounded.innocent_bps,
            attack_bps: rounded.attack_bps,
            displacement_factor: rounded.displacement_factor,
            exact_displacement_factor: exact.displacement_factor,
        })
    };
    cases.chunks(2 * seeds).zip(tallies.chunks(2 * seeds)).filter_map(of).collect()
}

fn workload<S: Source>(studied: &Studied<'_, S>) -> WorkloadFacts {
    let (prepared, innocents) = (studied.prepared, &studied.prepared.innocents);
    WorkloadFacts {
        name: studied.source.name(),
        packets: prepared.packets(),
        flows: prepared.flows(),
        mean_packet_bits: innocents.mean_bits(),
        mean_job_ns: innocents.mean_job(),
        r_max_bps: innocents.most_rate() * 1e9,
        smallest_packet_bits: innocents.least_bits(),
        largest_job_ns: innocents.most_job().0,
        left_out: studied.source.left_out(),
    }
}

fn parameters<S: Source>(studied: &Studied<'_, S>) -> Parameters {
    let (options, prepared) = (studied.options, studied.prepared);
    let rates = |rates: &[BitsPerSec]| rates.iter().map(|rate| rate.0).collect();
    let (capacity_packets, capacity_bits) = match options.capacity {
        None => (None, None),
        Some(Capacity::Packets(packets)) => (Some(packets as u64), None),
        Some(Capacity::Bits(bits)) => (None, Some(bits)),
    };
    Parameters {
        innocent_bps: rates(&prepared.innocent),
        attack_bps: rates(&prepared.attack),
        policies: options.policies.iter().map(|policy| policy.name()).collect(),
        exact_ranks: options.exact_ranks,
        arrivals: options.arrivals.name(),
        capacity_packets,
        capacity_bits,
        overflow: overflow_name(options.overflow),
        attack: options.attack.name(),
        attack_smallest_packet_bits: prepared.attacker.limits().least_bits,
        attack_largest_job_ns: prepared.attacker.limits().most_job.0,
        link_bps: options.link.map(|link| link.0),
        seeds: prepared.seeds.clone(),
    }
}

fn baseline<S: Source>(studied: &Studied<'_, S>, case: &Case, tallies: &[Tally]) -> Baseline {
    Baseline {
        policy: studied.options.policies[case.policy].name(),
        innocent_bps: studied.prepared.innocent[case.innocent].0,
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
    let innocent_bps = studied.prepared.innocent[*innocent].0;
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
        policy: policy.name(),
        innocent_bps,
        attack_bps: sent.rate.0,
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
        believed_goodput_bps: believed(
            innocent_bps as f64,
            sent.rate.0 as f64,
            studied.prepared.innocents.most_rate() * 1e9,
        ),
        innocent,
        attacker,
        backlog_packets: tallies.iter().map(|tally| tally.backlog).max().unwrap_or_default(),
        runs,
    }
}

/// What the attacker sends: the only packet, the mean over those of the application, or the part of a mixture with the most work.
/// What the application decides is what `fate` says that packets took on average.
fn attack_facts<P>(sent: &Sent<P>, fate: &Fate) -> AttackFacts {
    let one = |packet_bits: u32, job: Nanos, estimate: Nanos| AttackFacts {
        packet_bits,
        job_ns: job.0,
        estimate_ns: estimate.0,
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
    let (job_ns, estimate_ns) = (given.map(|(job, _)| job.0), given.map(|(_, estimate)| estimate.0));
    MixturePart {
        packets: part.packets,
        packet_bits,
        job_ns,
        estimate_ns,
        pool_index,
        flows: part.flows.to_string(),
    }
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

/// What a processor of `most` bits per second is believed to serve of users, if all bits are alike.
fn believed(innocent: f64, attack: f64, most: f64) -> f64 {
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

/// Of every policy and rate of users the row with the largest displacement factor, in the order of the rows. A row that does not tell,
/// because fewer than 100 packets of attack came in a run, is only there if none of that policy and rate of users does.
fn worst(rows: &[Row]) -> Vec<Worst> {
    let mut worst: Vec<&Row> = Vec::new();
    for row in rows {
        let same = |other: &&mut &Row| (other.policy, other.innocent_bps) == (row.policy, row.innocent_bps);
        match worst.iter_mut().find(same) {
            None => worst.push(row),
            Some(other) if is_worse(row, other) => *other = row,
            Some(_) => {}
        }
    }
    let found = |row: &Row| Worst {
        policy: row.policy,
        innocent_bps: row.innocent_bps,
        attack_bps: row.attack_bps,
        displacement_factor: row.displacement_factor,
        theory: row.theory,
        bound: row.bound,
        attack: row.attack.clone(),
    };
    worst.into_iter().map(found).collect()
}

/// Whether `row` displaces more than `other`, if that is not chance.
fn is_worse(row: &Row, other: &Row) -> bool {
    match (row.tells(), other.tells()) {
        (true, false) => true,
        (false, true) => false,
        _ => other.displacement_factor < row.displacement_factor,
    }
}

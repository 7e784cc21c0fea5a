//! The policies.

use trueplane_fair::cluster::WHOLE;
use trueplane_fair::policy::{
    Fifo, HalfLife, Karma, KarmaOptions, KueueOptions, PolicyName, Sdrf, SlurmOptions,
};
use trueplane_fair::{Cluster, Memory, Policy};
use trueplane_units::Nanos;

use super::naive::{self, Model};

const SECOND: u64 = 1_000_000_000;
/// Of half-lives, quanta and samples: short enough for many to pass in a test, and none divides another.
const PERIOD: u64 = 7 * SECOND;
const HALF_LIFE: u64 = 60 * SECOND;
const UNITS: [f64; 2] = [0.5, 0.002];

/// A policy, and what it should do.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) policy: Box<dyn Policy>,
    pub(crate) model: Box<dyn Model>,
    /// In nanoseconds; as long as can be if nothing happens at its end.
    pub(crate) period: u64,
}

impl Row {
    fn new(
        name: &'static str,
        policy: impl Policy + 'static,
        model: impl Model + 'static,
        period: u64,
    ) -> Self {
        Self { name, policy: Box::new(policy), model: Box::new(model), period }
    }
}

/// All of them.
pub(crate) fn table(cluster: &Cluster) -> Vec<Row> {
    PolicyName::ALL.iter().flat_map(|&policy| rows(policy, cluster)).collect()
}

/// A policy with several settings. One without a row does not compile.
fn rows(policy: PolicyName, cluster: &Cluster) -> Vec<Row> {
    match policy {
        PolicyName::Fifo => vec![Row::new("fifo", Fifo::default(), naive::Fifo, u64::MAX)],
        PolicyName::Drf => {
            vec![Row::new("drf", Sdrf::new(cluster, None), naive::Drf(cluster.clone()), u64::MAX)]
        }
        PolicyName::Sdrf => vec![
            sdrf("sdrf", cluster, HALF_LIFE),
            sdrf_ordered("sdrf in a live tree", cluster, HALF_LIFE),
            // Its clock starts anew every few steps.
            sdrf("sdrf that forgets soon", cluster, SECOND / 10),
        ],
        PolicyName::Kueue => {
            vec![kueue("kueue", cluster, true), kueue("kueue without penalty", cluster, false)]
        }
        PolicyName::KueueMilli => vec![kueue_milli(cluster)],
        PolicyName::Slurm => vec![
            slurm("slurm", cluster, None),
            slurm("slurm classic", cluster, Some(10_000)),
            // Few whole numbers, so that many are equal.
            slurm("slurm coarse", cluster, Some(4)),
        ],
        PolicyName::Karma => vec![
            karma("karma", cluster, (1, 2)),
            karma("karma all shared", cluster, (0, 1)),
            karma("karma all guaranteed", cluster, (1, 1)),
            karma("karma thirds", cluster, (1, 3)),
        ],
    }
}

fn sdrf(name: &'static str, cluster: &Cluster, half_life: u64) -> Row {
    let memory = Memory::half_life(Nanos(half_life)).unwrap();
    Row::new(name, Sdrf::new(cluster, Some(memory)), sdrf_model(cluster, half_life), u64::MAX)
}

fn sdrf_ordered(name: &'static str, cluster: &Cluster, half_life: u64) -> Row {
    let memory = Memory::half_life(Nanos(half_life)).unwrap();
    Row::new(name, Sdrf::counting(cluster, Some(memory)), sdrf_model(cluster, half_life), u64::MAX)
}

fn sdrf_model(cluster: &Cluster, half_life: u64) -> naive::Sdrf {
    let commitments = vec![vec![0.0; cluster.resources()]; cluster.users()];
    naive::Sdrf { cluster: cluster.clone(), half_life: half_life as f64, commitments }
}

/// Weights of resources in Kueue.
const KUEUE_WEIGHTS: [f64; 2] = [1.0, 3.0];

fn kueue_options() -> KueueOptions {
    KueueOptions {
        half_life: Nanos(HALF_LIFE),
        sampling: Nanos(PERIOD),
        units: UNITS.to_vec(),
        resource_weights: KUEUE_WEIGHTS.to_vec(),
        ..KueueOptions::default()
    }
}

fn kueue(name: &'static str, cluster: &Cluster, penalty: bool) -> Row {
    let lost = 1.0 - 0.5f64.powf(PERIOD as f64 / HALF_LIFE as f64);
    let rates = vec![UNITS[0] * KUEUE_WEIGHTS[0], UNITS[1] * KUEUE_WEIGHTS[1]];
    let options = KueueOptions { entry_penalty: penalty, ..kueue_options() };
    let usage = vec![0.0; cluster.users()];
    let model = naive::Kueue { cluster: cluster.clone(), rates, lost, penalty, usage };
    Row::new(name, HalfLife::kueue(cluster, &options).unwrap(), model, PERIOD)
}

fn kueue_milli(cluster: &Cluster) -> Row {
    let options = KueueOptions { thousandths: true, ..kueue_options() };
    let model = naive::Thousandths {
        cluster: cluster.clone(),
        units: UNITS.to_vec(),
        weights: KUEUE_WEIGHTS.to_vec(),
        // What is cut must be the same to the bit.
        lost: -libm::expm1(-(PERIOD as f64 / HALF_LIFE as f64) * std::f64::consts::LN_2),
        usage: vec![vec![0; cluster.resources()]; cluster.users()],
    };
    Row::new("kueue-milli", HalfLife::kueue(cluster, &options).unwrap(), model, PERIOD)
}

fn slurm(name: &'static str, cluster: &Cluster, weight: Option<u32>) -> Row {
    let billing = [1.0, 0.25];
    let options = SlurmOptions {
        half_life: Nanos(HALF_LIFE),
        period: Nanos(PERIOD),
        units: UNITS.to_vec(),
        billing_weights: billing.to_vec(),
        priority_weight: weight,
    };
    let none = vec![0.0; cluster.users()];
    let model = naive::Slurm {
        cluster: cluster.clone(),
        rates: vec![UNITS[0] * billing[0], UNITS[1] * billing[1]],
        kept: 0.5f64.powf(PERIOD as f64 / HALF_LIFE as f64),
        weight,
        usage: none.clone(),
        current: none,
    };
    Row::new(name, HalfLife::slurm(cluster, &options).unwrap(), model, PERIOD)
}

fn karma(name: &'static str, cluster: &Cluster, (part, of): (u32, u32)) -> Row {
    let options = KarmaOptions { guaranteed: f64::from(part) / f64::from(of), quantum: Nanos(PERIOD) };
    let fair = cluster.fair_share();
    // The part of a fair share over all weights, once rounded to the nearest.
    let weights: u64 = (0..cluster.users()).map(|user| u64::from(cluster.weight(user as u32).unwrap())).sum();
    let (part, of) = (i128::from(WHOLE) * i128::from(part), i128::from(of) * i128::from(weights));
    let guaranteed = (2 * part + of) / (2 * of);
    let model = naive::Karma {
        cluster: cluster.clone(),
        guaranteed,
        free: i128::from(fair) - guaranteed,
        credits: vec![0; cluster.users()],
    };
    Row::new(name, Karma::new(cluster, options).unwrap(), model, PERIOD)
}

//! Measures all caches in front of all origins, and predicts what it can.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trueplane_cache::PolicyName;
use trueplane_study::metrics::Distribution;
use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use super::calibrate::{calibrate, cannot};
use super::client::{Client, Replayed};
use super::found::{CacheName, Found, RivalFacts, Round, Run};
use super::latency::Latency;
use super::options::{Options, OriginName, RivalName};
use super::origin::{Origin, Served};
use super::ours::Ours;
use super::predict::Setting;
use super::rivals::{Rival, Room};
use super::workload::{Object, Workload};
use crate::conduct::{LeftOut, load};

/// Measures everything.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    options.check()?;
    let workload = Workload::read(options, observer)?;
    // Before there are processes to end.
    observer.cleans_up();
    observer.stage("measuring what a request takes besides", 0);
    let overhead = calibrate(&workload)?;
    let memory = workload.memory(options.capacity, overhead.object)?;
    let weight = workload.mean_body() as u64 + overhead.object;
    let room = Room {
        memory,
        objects: (memory / weight.max(1)).max(1),
        largest: workload.objects.iter().map(|object| object.body).max().unwrap_or(0),
    };
    let (mut rivals, mut left_out) = (Vec::new(), Vec::new());
    for &rival in &*options.rivals {
        match rival.installed() {
            Ok(program) => rivals.push((rival, program)),
            Err(reason) => left_out.push(LeftOut { what: rival.to_string(), reason }),
        }
    }
    let mut runs = Vec::new();
    for &origin in &*options.origins {
        if origin == OriginName::Size && !workload.has_sizes {
            let reason = "the trace has no sizes".to_owned();
            left_out.push(LeftOut { what: format!("origin {origin}"), reason });
            continue;
        }
        let latency =
            Latency { origin, base: *options.latency, mean_size: workload.mean_size(), seed: options.seed };
        let latencies: Vec<Nanos> =
            workload.objects.iter().map(|object| latency.of(object.key, object.size)).collect();
        let setting =
            Setting { workload: &workload, latencies: &latencies, overhead, memory, seed: options.seed };
        let measured = InFront { options, setting, origin, room, observer };
        runs.extend(measured.run(&mut rivals, &mut left_out)?);
    }
    let facts = |(rival, program): &(RivalName, PathBuf)| RivalFacts {
        rival: *rival,
        version: rival.version(program),
        memory: room.words(*rival),
    };
    let rivals = rivals.iter().map(facts).collect();
    Ok(Found { workload, overhead, memory, rivals, runs, left_out })
}

/// Caches in front of one origin.
struct InFront<'a> {
    options: &'a Options,
    setting: Setting<'a>,
    origin: OriginName,
    room: Room,
    observer: &'a dyn Observer,
}

impl InFront<'_> {
    /// Measures all caches, in turns. A cache that cannot be started is left out from then on.
    fn run(
        &self,
        rivals: &mut Vec<(RivalName, PathBuf)>,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<Vec<Run>, Error> {
        let Self { options, setting, origin, observer, .. } = *self;
        let serve = |(object, latency): (&Object, &Nanos)| Served {
            body: object.body,
            latency: Duration::from_nanos(latency.0),
        };
        let served = setting.workload.objects.iter().zip(setting.latencies).map(serve).collect();
        let server = Origin::start(served).map_err(cannot)?;
        observer.stage("simulating", 0);
        let mut runs: Vec<Run> = options.policies.iter().map(|&policy| self.predicted(policy)).collect();
        runs.extend(rivals.iter().map(|(rival, _)| self.unpredicted(*rival)));
        let mut asked: Vec<Vec<u64>> = vec![vec![0; setting.latencies.len()]; runs.len()];
        for round in 0..*options.rounds {
            for (run, asked) in runs.iter_mut().zip(&mut asked) {
                observer.go_on()?;
                let what = format!("round {}: {} before {origin}", round + 1, run.cache);
                observer.stage(&what, setting.workload.requests.len() as u64);
                let load = load();
                let measured = match run.cache {
                    CacheName::Ours(policy) => self.measure(&server, policy).map(Some),
                    CacheName::Rival(rival) => match rivals.iter().find(|(other, _)| *other == rival) {
                        Some((_, program)) => self.measure_rival(&server, rival, program),
                        None => Ok(None),
                    },
                };
                let (replayed, outcomes) = match (measured, run.cache) {
                    (Ok(Some(measured)), _) => measured,
                    (Ok(None), _) => continue,
                    (Err(Error::Unfinished(reason)), CacheName::Rival(rival)) => {
                        observer.go_on()?;
                        left_out.push(LeftOut { what: rival.to_string(), reason });
                        rivals.retain(|(other, _)| *other != rival);
                        server.take_asked();
                        continue;
                    }
                    (Err(error), _) => return Err(error),
                };
                let of_round = server.take_asked();
                asked.iter_mut().zip(&of_round).for_each(|(sum, asked)| *sum += asked);
                let mut waits = Distribution::default();
                for &wait in &replayed.waits {
                    waits.record(wait);
                    run.waits.record(wait);
                }
                run.rounds.push(Round {
                    waits,
                    late: replayed.late,
                    origin_requests: of_round.iter().sum(),
                    outcomes,
                    load,
                });
            }
        }
        for (run, asked) in runs.iter_mut().zip(&mut asked) {
            if run.classical.is_none() {
                // Of a round, as that is what the requests are of.
                let rounds = run.rounds.len().max(1) as f64;
                let hit = setting.overhead.hit.0 as f64;
                run.classical_mean = (setting.classical_mean(asked) - hit) / rounds + hit;
            }
        }
        runs.retain(|run| !run.rounds.is_empty());
        Ok(runs)
    }

    fn predicted(&self, policy: PolicyName) -> Run {
        let classical = self.setting.classical(policy);
        let classical_mean = classical.waits.mean();
        let (classical, refined) = (Some(classical), Some(self.setting.refined(policy)));
        let run = self.unmeasured(CacheName::Ours(policy));
        Run { classical, classical_mean, refined, ..run }
    }

    fn unpredicted(&self, rival: RivalName) -> Run {
        self.unmeasured(CacheName::Rival(rival))
    }

    fn unmeasured(&self, cache: CacheName) -> Run {
        Run {
            origin: self.origin,
            cache,
            classical: None,
            classical_mean: 0.0,
            refined: None,
            waits: Distribution::default(),
            rounds: Vec::new(),
        }
    }

    fn measure(&self, server: &Origin, policy: PolicyName) -> Result<Measured, Error> {
        let cache = Ours::start(server.address, self.setting.memory, policy).map_err(cannot)?;
        let client = Client::new(cache.address).map_err(cannot)?;
        let replayed = client.replay(self.setting.workload, self.observer)?;
        let stats = cache.stats();
        Ok((replayed, Some([stats.hits, stats.delayed_hits, stats.misses])))
    }

    fn measure_rival(
        &self,
        server: &Origin,
        rival: RivalName,
        program: &Path,
    ) -> Result<Option<Measured>, Error> {
        let cache = Rival::start(rival, program, server.address, self.room, self.observer)?;
        let client = Client::new(cache.address).map_err(cannot)?;
        let replayed = client.replay(self.setting.workload, self.observer)?;
        Ok(Some((replayed, None)))
    }
}

/// What the client saw, and what our cache says that it did.
type Measured = (Replayed, Option<[u64; 3]>);

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use trueplane_units::Parameters as _;

    use super::*;

    /// A trace of so many requests for a few objects, in a file.
    fn trace(requests: u64) -> tempfile::NamedTempFile {
        let mut file = tempfile::Builder::new().suffix(".csv").tempfile().expect("a file is to be had");
        writeln!(file, "time_ms,key,size").expect("it can be written");
        for index in 0..requests {
            let key = index * index % 17;
            writeln!(file, "{index},{key},{}", 500 + 100 * key).expect("it can be written");
        }
        file
    }

    #[test]
    fn a_tiny_trace_is_answered_and_counted() {
        let file = trace(400);
        let path = file.path().display().to_string();
        let given = [
            ("trace", path.as_str()),
            ("capacity", "4"),
            ("latency", "4ms"),
            ("origins", "constant,regions"),
            ("policies", "lru,lru-mad"),
            ("rivals", "none"),
            ("rate", "1K"),
        ];
        let options = Options::given(&given).expect("these are values");
        let found = run(&options, &()).expect("it runs");
        assert_eq!(found.runs.len(), 4);
        assert!(found.left_out.is_empty());
        for run in &found.runs {
            let [round] = run.rounds.as_slice() else { panic!("one round") };
            let [hits, delayed, misses] = round.outcomes.expect("our cache counts");
            assert_eq!(round.waits.count(), 400);
            assert_eq!(run.waits.sum(), round.waits.sum());
            assert_eq!(hits + delayed + misses, 400);
            assert_eq!(round.origin_requests, misses, "{} before {}", run.cache, run.origin);
            for predicted in [&run.classical, &run.refined] {
                let predicted = predicted.as_ref().expect("our cache is predicted");
                assert_eq!(predicted.hits + predicted.delayed_hits + predicted.misses, 400);
                assert_eq!(predicted.waits.count(), 400);
            }
            // Whoever begins a fetch waits for as long as the origin takes.
            let least = if run.origin == OriginName::Constant { 4_000_000 } else { 1_000_000 };
            assert!(round.waits.sum() >= u128::from(misses * least));
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let file = trace(400);
        let path = file.path().display().to_string();
        let refusal = |field, value| {
            let options = Options::given(&[("trace", path.as_str()), (field, value)]).expect("a value");
            run(&options, &()).expect_err("it is refused").to_string()
        };
        assert!(refusal("policies", "belady").contains("belady must know the future"));
        assert!(refusal("rate", "2M").contains("--rate: expected at most 1M/s, got 2M/s"));
        assert!(refusal("capacity", "1KiB").contains("choose a larger --capacity"));
    }
}

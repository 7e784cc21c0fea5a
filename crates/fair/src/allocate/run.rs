//! Reads the demands, and divides them by every mechanism, stage by stage.

use std::fs::File;
use std::io::{self, Read as _};

use trueplane_study::{Error, Observer};
use trueplane_trace::without_code;

use super::demands::Demands;
use super::found::{Divided, Found, Part, ROUNDING, Stage, Use};
use super::options::Options;
use crate::allocation::{Allocation, AllocationError, Demand, End, Game, Mechanism};
use crate::delta::Delta;

/// Far more than a hundred thousand users' worth of text.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Reads the document.
///
/// # Errors
///
/// It cannot be read or is no such document.
pub(super) fn read(options: &Options) -> Result<Demands, Error> {
    let name = options.name();
    let wrong = |what: &str| Error::Parameters(format!("{name}: {what}"));
    let mut bytes = Vec::new();
    let read = match options.is_stdin() {
        true => io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes),
        false => File::open(&options.demands)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| wrong(&without_code(&error)))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(wrong("expected a demands document, found more than 256 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("expected text in UTF-8"))?;
    Demands::read(&name, &text)
}

/// Divides what the document has under every mechanism.
///
/// # Errors
///
/// There are stages and no δ, a mechanism refuses the demands, or the observer interrupts.
pub fn divide(demands: &Demands, options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    if demands.has_stages() && options.delta.is_none() {
        let what = "has stages: expected --delta, what is left of a commitment after a stage";
        return Err(Error::Parameters(format!("{} {what}", demands.name)));
    }
    let divide = |&mechanism: &Mechanism| {
        observer.go_on()?;
        divided(demands, mechanism, options.delta)
    };
    let policies: Vec<Divided> = options.policies.iter().map(divide).collect::<Result<_, _>>()?;
    Ok(Found { resources: demands.resources.clone(), policies })
}

fn divided(demands: &Demands, mechanism: Mechanism, delta: Option<Delta>) -> Result<Divided, Error> {
    // The message counts users from zero, and all that it can complain of was read with its line already.
    let refused = |error: AllocationError| Error::Parameters(format!("{}: {error}", demands.name));
    let mut games = games(demands, mechanism, delta).map_err(refused)?;
    let mut stages = Vec::new();
    for stage in 0..demands.stages() {
        let wanted = demands.in_stage(stage);
        let before: Vec<f64> = (0..wanted.len()).map(|user| commitment(&games, user)).collect();
        let allocations = play(&mut games, demands.resources.len(), &wanted).map_err(refused)?;
        let view = View { demands, wanted: &wanted, allocations: &allocations };
        stages.push(Stage {
            stage: stage + 1,
            resources: view.uses(),
            users: (0..wanted.len())
                .map(|user| Part {
                    commitment: before[user],
                    commitment_after: delta.map(|_| commitment(&games, user)),
                    ..view.part(user)
                })
                .collect(),
        });
    }
    Ok(Divided { policy: mechanism, each_resource_alone: games.len() > 1, stages })
}

/// One game of all resources, or one for each where a mechanism is of one resource.
fn games(
    demands: &Demands,
    mechanism: Mechanism,
    delta: Option<Delta>,
) -> Result<Vec<Game>, AllocationError> {
    let resources = demands.resources.len();
    // What a stage leaves behind is not looked at without a δ.
    let delta = delta.map_or(0.0, Delta::value);
    let game = |of: std::ops::Range<usize>| {
        let commitments = demands.users.iter().map(|user| user.commitments[of.clone()].to_vec()).collect();
        Game::new(mechanism, of.len(), demands.weights(), delta)?.with_commitments(commitments)
    };
    match mechanism.properties().one_resource {
        true => (0..resources).map(|resource| game(resource..resource + 1)).collect(),
        false => Ok(vec![game(0..resources)?]),
    }
}

fn play(games: &mut [Game], resources: usize, wanted: &[Demand]) -> Result<Vec<Allocation>, AllocationError> {
    if resources == 1 || games.len() == 1 {
        return games.iter_mut().map(|game| game.play(wanted)).collect();
    }
    let of = |demand: &Demand, resource: usize| match demand {
        Demand::Total(amounts) => Demand::Total(vec![amounts[resource]]),
        Demand::Endless(amounts) => Demand::Endless(vec![amounts[resource]]),
    };
    let alone = |resource| wanted.iter().map(|demand| of(demand, resource)).collect::<Vec<_>>();
    games.iter_mut().enumerate().map(|(resource, game)| game.play(&alone(resource))).collect()
}

fn commitment(games: &[Game], user: usize) -> f64 {
    games.iter().map(|game| game.dominant_commitment(user)).fold(0.0, f64::max)
}

/// A stage that was played: by one allocation, or by one for every resource.
struct View<'a> {
    demands: &'a Demands,
    wanted: &'a [Demand],
    allocations: &'a [Allocation],
}

impl View<'_> {
    fn shares(&self, user: usize) -> Vec<f64> {
        self.allocations.iter().flat_map(|allocation| allocation.shares(user)).copied().collect()
    }

    /// The part of a user, without commitments.
    fn part(&self, user: usize) -> Part {
        let (of, wanted, shares) = (&self.demands.users[user], &self.wanted[user], self.shares(user));
        let dominant = wanted.dominant().map(|(resource, _)| resource);
        let dominant_share = wanted.worth(&shares);
        let amounts = self.demands.resources.iter().zip(&shares);
        Part {
            user: of.name.clone(),
            weight: of.weight,
            amounts: amounts.map(|(resource, share)| share * resource.capacity).collect(),
            dominant_resource: dominant,
            dominant_share,
            wanted_share: Some(wanted.wanted()).filter(|share| share.is_finite()),
            commitment: 0.0,
            commitment_after: None,
            end: self.end(user, dominant_share),
        }
    }

    /// Why the user got no more: with one allocation for every resource, the resource that holds the least for the user.
    fn end(&self, user: usize, dominant_share: f64) -> End {
        let ends: Vec<End> =
            self.allocations.iter().map(|allocation| allocation.outcomes[user].end).collect();
        let least = |resource: &usize| {
            let mut shares = vec![f64::INFINITY; self.demands.resources.len()];
            shares[*resource] = self.shares(user)[*resource];
            self.wanted[user].worth(&shares) <= dominant_share + ROUNDING
        };
        if let [end] = ends[..] {
            return end;
        }
        let limiting = (0..ends.len()).filter(|&resource| matches!(ends[resource], End::Limited(_)));
        match limiting.min_by_key(|resource| !least(resource)) {
            Some(resource) => End::Limited(resource),
            None if ends.contains(&End::Satisfied) => End::Satisfied,
            None => End::Idle,
        }
    }

    fn uses(&self) -> Vec<Use> {
        let used: Vec<f64> =
            self.allocations.iter().flat_map(|allocation| &allocation.used).copied().collect();
        let mut usable = vec![0.0; used.len()];
        for (user, wanted) in self.wanted.iter().enumerate() {
            let Some((_, most)) = wanted.dominant() else { continue };
            let worth = wanted.worth(&self.shares(user));
            usable.iter_mut().zip(wanted.amounts()).for_each(|(sum, amount)| *sum += worth * (amount / most));
        }
        let alone = self.allocations.len() > 1;
        let level = |resource: usize| {
            let (allocation, place) = if alone { (resource, 0) } else { (0, resource) };
            let bottlenecks = &self.allocations[allocation].bottlenecks;
            bottlenecks
                .iter()
                .find(|bottleneck| bottleneck.resource == place)
                .map(|bottleneck| bottleneck.level)
        };
        let stranded = |resource: usize| match used[resource] - usable[resource] {
            share if share > ROUNDING => share,
            _ => 0.0,
        };
        (0..used.len())
            .map(|resource| Use {
                given_share: used[resource],
                stranded_share: stranded(resource),
                bottleneck_level: level(resource),
            })
            .collect()
    }
}

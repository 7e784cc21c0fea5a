//! Water that rises in tanks (figure 4.2): one sweep over the levels at which something changes.

use super::sum::Sum;

/// A user, as the water sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tank<'a> {
    /// Width of the tank: at level x the water in it and its base are `weight` · x.
    pub(super) weight: f64,
    /// Its commitment, on which the water stands.
    pub(super) base: f64,
    /// Its dominant demand; infinite if it has no end.
    pub(super) depth: f64,
    /// Ratio of the share of every resource to the dominant share, at most 1.
    pub(super) ratios: &'a [f64],
}

impl Tank<'_> {
    /// The water in it at a level.
    fn water(&self, level: f64) -> f64 {
        (self.weight * level - self.base).clamp(0.0, self.depth)
    }

    fn needs(&self, resource: usize) -> bool {
        self.ratios[resource] > 0.0
    }
}

/// Share and water level at which the water in a tank stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    pub(super) share: f64,
    pub(super) level: f64,
    pub(super) end: End,
}

/// The tanks when no water rises any more.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) stops: Vec<Stop>,
    pub(super) bottlenecks: Vec<Bottleneck>,
    pub(super) used: Vec<f64>,
    pub(super) rounds: usize,
}

/// Lets the water rise until every tank is full or needs a resource that is. O(n log n + n·m).
pub(super) fn fill(tanks: &[Tank<'_>], resources: usize) -> Filled {
    let mut events: Vec<Event> =
        tanks.iter().enumerate().flat_map(|(index, tank)| events_of(index, tank)).collect();
    // A tank begins to fill before it is full, even where rounding makes that the same level.
    events.sort_unstable_by(|a, b| a.level.total_cmp(&b.level).then((a.full, a.tank).cmp(&(b.full, b.tank))));
    let mut sweep = Sweep::new(tanks, resources);
    for event in &events {
        sweep.rise_to(event.level);
        match event.full {
            false => sweep.begin(event.tank),
            true => sweep.end(event.tank, event.level, End::Satisfied),
        }
    }
    sweep.rise_to(f64::INFINITY);
    sweep.filled()
}

/// A level at which a tank begins to fill or is full.
struct Event {
    level: f64,
    full: bool,
    tank: usize,
}

fn events_of(tank: usize, of: &Tank<'_>) -> impl Iterator<Item = Event> + use<> {
    let begins = of.base / of.weight;
    let full = (of.base + of.depth) / of.weight;
    let count = if of.depth > 0.0 { 2 } else { 0 };
    [Event { level: begins, full: false, tank }, Event { level: full, full: true, tank }]
        .into_iter()
        .take(count)
}

/// A resource: `settled` + `slope` · x − `bases` of it is used at level x.
#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    /// The level at which it was full.
    full: Option<f64>,
    /// Number of rising tanks that need the resource.
    rising: usize,
    slope: Sum,
    bases: Sum,
    settled: Sum,
}

impl Pool {
    /// The level at which it will be full if nothing else happens.
    fn level_when_full(&self) -> f64 {
        if self.rising == 0 || self.full.is_some() {
            return f64::INFINITY;
        }
        let mut left = self.bases.less(self.settled);
        left.add(1.0);
        match (left.value(), self.slope.value()) {
            (left, _) if left <= 0.0 => 0.0,
            // Nobody takes more of it than rounding.
            (_, slope) if slope <= 0.0 => f64::INFINITY,
            (left, slope) => left / slope,
        }
    }
}

struct Sweep<'a> {
    tanks: &'a [Tank<'a>],
    pools: Vec<Pool>,
    rising: Vec<bool>,
    stops: Vec<Stop>,
    bottlenecks: Vec<Bottleneck>,
    level: f64,
    rounds: usize,
}

impl<'a> Sweep<'a> {
    fn new(tanks: &'a [Tank<'a>], resources: usize) -> Self {
        Self {
            tanks,
            pools: vec![Pool::default(); resources],
            rising: vec![false; tanks.len()],
            stops: vec![Stop { share: 0.0, level: 0.0, end: End::Idle }; tanks.len()],
            bottlenecks: Vec::new(),
            level: 0.0,
            rounds: 0,
        }
    }

    /// Lets the water rise to `level`, and stops those whose resources are full before.
    fn rise_to(&mut self, level: f64) {
        loop {
            let first = self.pools.iter().map(Pool::level_when_full).fold(f64::INFINITY, f64::min);
            if first >= level {
                self.level = level;
                return;
            }
            // Rounding must not let the water fall.
            self.level = first.max(self.level);
            self.close();
        }
    }

    /// Stops everybody who needs what is full at this level.
    fn close(&mut self) {
        let bound = self.level * (1.0 + TOLERANCE);
        let full: Vec<usize> = (0..self.pools.len())
            .filter(|&resource| self.pools[resource].level_when_full() <= bound)
            .collect();
        for &resource in &full {
            self.pools[resource].full = Some(self.level);
            self.bottlenecks.push(Bottleneck { resource, level: self.level });
        }
        self.rounds += 1;
        for index in 0..self.tanks.len() {
            let tank = &self.tanks[index];
            let by = full.iter().find(|&&resource| self.rising[index] && tank.needs(resource));
            let Some(&resource) = by else { continue };
            let missing = tank.depth - tank.water(self.level);
            let satisfied = tank.depth.is_finite() && missing <= TOLERANCE * (tank.depth + tank.base);
            self.end(index, self.level, if satisfied { End::Satisfied } else { End::Limited(resource) });
        }
    }

    /// Water reaches the base of a tank.
    fn begin(&mut self, index: usize) {
        let tank = &self.tanks[index];
        let full = (0..self.pools.len())
            .filter(|&resource| tank.needs(resource))
            .filter_map(|resource| Some((self.pools[resource].full?, resource)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((level, resource)) = full {
            self.stops[index] = Stop { share: 0.0, level, end: End::Limited(resource) };
            return;
        }
        self.rising[index] = true;
        for (pool, ratio) in self.pools.iter_mut().zip(tank.ratios).filter(|(_, ratio)| **ratio > 0.0) {
            pool.rising += 1;
            pool.slope.add(tank.weight * ratio);
            pool.bases.add(tank.base * ratio);
        }
    }

    /// The water in a tank stops, if it rises.
    fn end(&mut self, index: usize, level: f64, end: End) {
        if !std::mem::take(&mut self.rising[index]) {
            return;
        }
        let tank = &self.tanks[index];
        let share = if end == End::Satisfied { tank.depth } else { tank.water(level) };
        self.stops[index] = Stop { share, level, end };
        for (pool, ratio) in self.pools.iter_mut().zip(tank.ratios).filter(|(_, ratio)| **ratio > 0.0) {
            pool.rising -= 1;
            pool.slope.take(tank.weight * ratio);
            pool.bases.take(tank.base * ratio);
            pool.settled.add(share * ratio);
        }
    }

    fn filled(self) -> Filled {
        let used = self.pools.iter().map(|pool| pool.settled.value()).collect();
        Filled { stops: self.stops, bottlenecks: self.bottlenecks, used, rounds: self.rounds }
    }
}

/// Tolerance of a share after rounding, relative to its level: two levels that are closer are one.
///
/// Rounding in a problem of n users is some n · 10⁻¹⁶ at worst.
pub const TOLERANCE: f64 = 1e-12;

/// Why a user got no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It wanted nothing.
    Idle,
    /// It got all that it wanted.
    Satisfied,
    /// This resource was full.
    Limited(usize),
}

/// A resource that was full and stopped somebody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// Index of the resource that is full.
    pub resource: usize,
    /// The water level at which it was full.
    pub level: f64,
}

//! What `fair allocate` shows.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};

use crate::BELIEF;
use crate::allocate::found::{Allocate, Divided, Part, Stage};

/// Of more rows a table is for those who look for it.
const MOST_ROWS: usize = 40;
/// More tanks cannot be told apart.
const MOST_TANKS: usize = 60;
/// More curves have not enough colours.
const MOST_CURVES: usize = 9;
/// Half of the width of a tank; the next is 1 away.
const HALF: f64 = 0.4;

impl Allocate {
    /// The report: every user under every mechanism, and all of them side by side.
    pub fn report(&self) -> Report {
        let mut tables: Vec<Table> = self.policies.iter().map(|divided| self.parts(divided)).collect();
        tables.push(self.uses());
        tables.extend(self.comparison());
        Report {
            study: self.study.to_owned(),
            title: format!("Who gets what of {}", self.document),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables,
            plots: self.plots(),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn stages(&self) -> usize {
        self.policies.first().map_or(0, |divided| divided.stages.len())
    }

    fn facts(&self) -> Vec<(String, String)> {
        let resources =
            self.resources.iter().map(|resource| format!("{} {}", resource.name, resource.capacity));
        let mut facts = vec![("cluster".to_owned(), resources.collect::<Vec<_>>().join(", "))];
        let fact = |name: &str, value: String| (name.to_owned(), value);
        if self.stages() > 1 {
            facts.push(fact("stages", self.stages().to_string()));
        }
        if let Some(delta) = self.delta {
            facts.push(fact("δ", format!("{delta}: what is left of a commitment after a stage")));
        }
        let alone = self.policies.iter().filter(|divided| divided.each_resource_alone);
        let alone: Vec<&str> = alone.map(|divided| divided.policy.name()).collect();
        if !alone.is_empty() {
            facts.push(fact(&alone.join(", "), "divides every resource by itself".to_owned()));
        }
        facts
    }

    /// What everybody gets under one mechanism.
    fn parts(&self, divided: &Divided) -> Table {
        let staged = self.stages() > 1;
        let mut columns = vec![Column::new("user", "user")];
        if staged {
            columns.insert(0, Column::new("stage", "stage"));
        }
        let amounts = self.resources.iter();
        columns
            .extend(amounts.map(|resource| Column::new(&resource.name, format!("amount_{}", resource.name))));
        columns.extend([
            Column::new("dominant resource", "dominant_resource"),
            Column::new("dominant share", "dominant_share"),
            Column::new("wanted", "wanted_share"),
            Column::new("commitment", "commitment"),
        ]);
        if self.delta.is_some() {
            columns.push(Column::new("commitment after", "commitment_after"));
        }
        columns.push(Column::new("stopped by", "end"));
        let row = |stage: &Stage, part: &Part| {
            let mut row = if staged { vec![Cell::Count(stage.stage as u64)] } else { Vec::new() };
            row.push(Cell::text(&part.user));
            row.extend(
                self.resources.iter().map(|resource| Cell::Number(tidy(amount(part, &resource.name)))),
            );
            row.extend([
                part.dominant_resource.as_ref().map_or(Cell::Missing, Cell::text),
                Cell::Ratio(part.dominant_share),
                part.wanted_share.map_or(Cell::text("without end"), Cell::Ratio),
                Cell::Ratio(part.commitment),
            ]);
            row.extend(part.commitment_after.map(Cell::Ratio));
            row.push(match &part.limited_by {
                Some(resource) => Cell::text(format!("{resource} is full")),
                None if part.end == "idle" => Cell::text("wants nothing"),
                None => Cell::text("has all"),
            });
            row
        };
        let rows =
            divided.stages.iter().flat_map(|stage| stage.users.iter().map(move |part| row(stage, part)));
        let rows: Vec<Vec<Cell>> = rows.collect();
        Table {
            id: format!("users-{}", divided.policy),
            title: format!("Users under {}", divided.policy),
            columns,
            detail: rows.len() > MOST_ROWS,
            rows,
        }
    }

    /// What became of the resources.
    fn uses(&self) -> Table {
        let staged = self.stages() > 1;
        let alone = self.policies.iter().any(|divided| divided.each_resource_alone);
        let mut columns = vec![
            Column::new("policy", "policy"),
            Column::new("stage", "stage"),
            Column::new("resource", "resource"),
            Column::new("given", "given_share"),
            Column::new("of no use", "stranded_share"),
            Column::new("level when full", "bottleneck_level"),
        ];
        let mut rows = Vec::new();
        for (divided, stage) in
            self.policies.iter().flat_map(|divided| divided.stages.iter().map(move |stage| (divided, stage)))
        {
            rows.extend(stage.resources.iter().map(|resource| {
                vec![
                    Cell::name(divided.policy),
                    Cell::Count(stage.stage as u64),
                    Cell::text(&resource.resource),
                    Cell::Ratio(resource.given_share),
                    Cell::Ratio(resource.stranded_share),
                    resource.bottleneck_level.map_or(Cell::Missing, Cell::Number),
                ]
            }));
        }
        for (place, shown) in [(4, alone), (1, staged)] {
            if !shown {
                columns.remove(place);
                rows.iter_mut().for_each(|row| drop(row.remove(place)));
            }
        }
        let title = "Resources; a level is (share + commitment) / weight, and there is one where a resource stops somebody";
        Table {
            id: "resources".to_owned(),
            title: title.to_owned(),
            columns,
            detail: rows.len() > MOST_ROWS,
            rows,
        }
    }

    /// All mechanisms side by side; none for one.
    fn comparison(&self) -> Option<Table> {
        let [first, others @ ..] = &self.policies[..] else { return None };
        if others.is_empty() {
            return None;
        }
        let mut columns = vec![Column::new("user", "user"), share_column(first)];
        for other in others {
            columns.extend([
                share_column(other),
                Column::new(format!("against {}", first.policy), format!("{}_change", other.policy)),
            ]);
        }
        let users = first.stages.first().map_or(&[][..], |stage| &stage.users);
        let row = |(user, part): (usize, &Part)| {
            let base = first.mean_share(user);
            let mut row = vec![Cell::text(&part.user), Cell::Ratio(base)];
            for share in others.iter().map(|other| other.mean_share(user)) {
                let change = if base > 0.0 { Cell::Change(tidy(share / base - 1.0)) } else { Cell::Missing };
                row.extend([Cell::Ratio(share), change]);
            }
            row
        };
        let rows: Vec<Vec<Cell>> = users.iter().enumerate().map(row).collect();
        let of = if self.stages() > 1 { ", mean of all stages" } else { "" };
        Some(Table {
            id: "comparison".to_owned(),
            title: format!("The dominant share that everybody can use{of}"),
            columns,
            detail: rows.len() > MOST_ROWS,
            rows,
        })
    }

    fn plots(&self) -> Vec<Plot> {
        let mut plots = Vec::new();
        for divided in &self.policies {
            let Some(first) = divided.stages.first() else { continue };
            if !divided.each_resource_alone && first.users.len() <= MOST_TANKS {
                plots.push(tanks(divided, first));
            }
            if divided.stages.len() > 1 && first.users.len() <= MOST_CURVES {
                plots.push(curves(divided, first));
            }
        }
        plots
    }
}

fn amount(part: &Part, resource: &str) -> f64 {
    part.amounts.get(resource).copied().unwrap_or_default()
}

fn share_column(divided: &Divided) -> Column {
    Column::new(divided.policy.name(), format!("{}_dominant_share", divided.policy))
}

/// Without what rounding leaves: `3` instead of `3.0000000000000004`.
fn tidy(number: f64) -> f64 {
    let rounded = (number * 1e9).round() / 1e9;
    if (rounded - number).abs() < 1e-12 { rounded } else { number }
}

/// Figure 4.2: water in tanks with commitments as their bases.
fn tanks(divided: &Divided, stage: &Stage) -> Plot {
    let stateful = divided.policy.properties().stateful;
    let base = |part: &Part| if stateful { part.commitment / part.weight } else { 0.0 };
    let water = |part: &Part| base(part) + part.dominant_share / part.weight;
    // Nobody can have more than there is.
    let brim = |part: &Part| base(part) + part.wanted_share.unwrap_or(1.0).min(1.0) / part.weight;
    let series = |name: &str, height: &dyn Fn(&Part) -> f64, dashed: bool, color: usize| Series {
        name: name.to_owned(),
        points: stage.users.iter().enumerate().flat_map(|(place, part)| block(place, height(part))).collect(),
        dashed,
        color: Some(color),
        ..Series::default()
    };
    let mut all = vec![
        series("brim: what she wants", &brim, true, 6),
        series("water: what she gets", &water, false, 0),
    ];
    if stateful {
        all.push(series("base: her commitment", &base, false, 1));
    }
    let names: Vec<&str> = stage.users.iter().map(|part| part.user.as_str()).collect();
    let of = if divided.stages.len() > 1 { " in the first stage" } else { "" };
    Plot {
        id: format!("tanks-{}", divided.policy),
        title: format!("The tanks under {}{of} (figure 4.2)", divided.policy),
        note: format!(
            "Every user is a tank, as wide as her weight says and so drawn in shares by weight; water rises to the same level in all, until a resource that she needs is full. From left to right: {}.",
            names.join(", ")
        ),
        x: Axis { label: "user".to_owned(), unit: Unit::Plain, log: false },
        y: Axis {
            label: "(dominant share + commitment) / weight".to_owned(),
            unit: Unit::Percent,
            log: false,
        },
        series: all,
    }
}

/// The outline of a block at a place.
fn block(place: usize, height: f64) -> [(f64, f64); 4] {
    let middle = place as f64 + 1.0;
    let (left, right) = (middle - HALF, middle + HALF);
    [(left, 0.0), (left, height), (right, height), (right, 0.0)]
}

/// Shares and commitments, stage by stage.
fn curves(divided: &Divided, first: &Stage) -> Plot {
    let curve = |user: usize, dashed: bool, value: fn(&Part) -> f64| Series {
        name: if dashed {
            format!("{}, commitment", first.users[user].user)
        } else {
            first.users[user].user.clone()
        },
        points: divided.stages.iter().map(|stage| (stage.stage as f64, value(&stage.users[user]))).collect(),
        dashed,
        color: Some(user),
        ..Series::default()
    };
    let users = 0..first.users.len();
    let shares = users.clone().map(|user| curve(user, false, |part| part.dominant_share));
    let commitments = users.map(|user| curve(user, true, |part| part.commitment));
    Plot {
        id: format!("stages-{}", divided.policy),
        title: format!("Stage by stage under {}", divided.policy),
        note: "Dominant shares that everybody can use, and the commitments with which every stage begins."
            .to_owned(),
        x: Axis { label: "stage".to_owned(), unit: Unit::Plain, log: false },
        y: Axis { label: "dominant share, commitment".to_owned(), unit: Unit::Percent, log: false },
        series: shares.chain(commitments).collect(),
    }
}

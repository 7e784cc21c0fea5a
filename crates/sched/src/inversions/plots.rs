//! The pictures of `sched inversions`: figures 5a to 5d and 6 of the paper, with all schedulers.

use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};

use super::found::{Found, SchedulerRun, Variable, Variation, Varied, find};
use crate::policy::SchedulerName;
use crate::tally::RankRun;

/// Fewest packets of a rank of which a share or a mean is drawn: one or two make spikes.
const FEWEST: u64 = 20;

/// The picture of drops.
const DROPS: &str = "drops-by-rank";

/// Note on the plots of inversions by rank.
const BY_RANK: &str = "How often a packet of this rank left while one of lower rank waited, as a share of all departures; the paper draws counts, which depend on how many packets come.";

pub(super) fn plots(found: &Found) -> Vec<Plot> {
    let mut plots = Vec::from(at_base(found));
    // Nobody drops below a load of one, and nobody needs a picture of that.
    let drops = found.schedulers.iter().flat_map(|run| &run.by_rank).any(|rank| rank.drops > 0);
    plots.retain(|plot| drops || plot.id != DROPS);
    plots.extend(over(
        found,
        Variable::Queues,
        "number of queues",
        "Inversions against the number of queues",
    ));
    plots.extend(push_downs(found));
    plots.extend(over(found, Variable::Load, "load", "Inversions against the load"));
    plots.extend(found.varied(Variable::Ranks).map(figure_6));
    // Where there is nothing to see, as without ranks of a known span, there is no picture.
    plots.retain(|plot| !plot.series.is_empty());
    plots
}

fn at_base(found: &Found) -> [Plot; 3] {
    let plot = |id: &str, title: &str, note: String, y: Axis, of: &dyn Fn(&RankRun) -> Option<f64>| Plot {
        id: id.to_owned(),
        title: title.to_owned(),
        note,
        x: axis("rank", Unit::Plain),
        y,
        series: curves(&found.schedulers, |_, rank| of(rank)),
    };
    let left_out = format!("Ranks with fewer than {FEWEST} packets are left out");
    [
        Plot {
            id: "inversions-by-rank".to_owned(),
            title: "Inversions by rank".to_owned(),
            note: BY_RANK.to_owned(),
            x: axis("rank", Unit::Plain),
            y: axis("inversions of this rank / all departures", Unit::Percent),
            series: curves(&found.schedulers, inverted),
        },
        plot(
            DROPS,
            "Drops by rank",
            format!("The share of the packets of this rank that was dropped. {left_out}."),
            axis("drops / arrivals", Unit::Percent),
            &|rank| (rank.arrivals >= FEWEST).then(|| rank.drops as f64 / rank.arrivals as f64),
        ),
        plot(
            "delay-by-rank",
            "Delay by rank",
            format!(
                "Mean time from arrival to the start of the transmission. {left_out}, and what never waits."
            ),
            Axis { log: true, ..axis("mean delay", Unit::Nanos) },
            &|rank| rank.mean_delay_ns.filter(|&delay| rank.departures >= FEWEST && delay > 0.0),
        ),
    ]
}

/// Inversions of every scheduler against what was varied; none if it was not.
fn over(found: &Found, variable: Variable, label: &str, title: &str) -> Option<Plot> {
    found.varied(variable).next()?;
    let number = |varied: Varied| match varied {
        Varied::Queues(queues) => queues as f64,
        Varied::Load(load) => load.number(),
        Varied::PushDown(_) | Varied::Ranks(_) => 0.0,
    };
    let base = match variable {
        Variable::Queues => found.base.queues as f64,
        _ => found.base.load,
    };
    let others =
        found.varied(variable).map(|variation| (number(variation.varied), variation.schedulers.as_slice()));
    let mut all: Vec<(f64, &[SchedulerRun])> =
        std::iter::once((base, found.schedulers.as_slice())).chain(others).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let points = |run: &SchedulerRun| -> Vec<(f64, f64)> {
        let of = |runs: &[SchedulerRun]| find(runs, run.scheduler).map(|other| other.inversion_share);
        let shares = all.iter().filter_map(|&(value, runs)| Some((value, of(runs)?)));
        shares.filter(|&(_, share)| share > 0.0).collect()
    };
    Some(Plot {
        id: format!("inversions-by-{variable}"),
        title: title.to_owned(),
        note: "All other things as at the base. The paper draws counts; what has no inversions has no place on a logarithmic axis.".to_owned(),
        x: axis(label, Unit::Plain),
        y: Axis { log: true, ..axis("inversions / departures", Unit::Percent) },
        series: found.schedulers.iter().filter_map(|run| series(run, points(run))).collect(),
    })
}

/// SP-PIFO by every way to push down, beside FIFO and the gradient.
fn push_downs(found: &Found) -> Option<Plot> {
    let base = found.run(SchedulerName::SpPifo).or_else(|| found.run(SchedulerName::SpPifoArrivals))?;
    found.varied(Variable::PushDown).next()?;
    let others = found.varied(Variable::PushDown).filter_map(|variation| {
        let run = find(&variation.schedulers, base.scheduler)?;
        Some((variation.varied.value(), run))
    });
    // The base as everywhere; the others as schedulers that are not in this picture.
    let colors = [
        SchedulerName::SpPifo,
        SchedulerName::Fixed,
        SchedulerName::Optimal,
        SchedulerName::Aifo,
        SchedulerName::Packs,
    ];
    let sp_pifo = std::iter::once((found.base.push_down.to_string(), base))
        .chain(others)
        .zip(colors)
        .filter_map(|((name, run), color)| {
            let name = format!("{}, {name}", base.scheduler);
            Some(Series { name, color: color_of(color), ..series(run, by_rank(run, inverted))? })
        });
    let beside = [SchedulerName::Fifo, SchedulerName::Gradient];
    let beside = beside.into_iter().filter_map(|name| found.run(name));
    Some(Plot {
        id: "inversions-by-push-down".to_owned(),
        title: "Inversions by rank and push-down".to_owned(),
        note: format!("How far SP-PIFO lowers its bounds after an inversion. {BY_RANK}"),
        x: axis("rank", Unit::Plain),
        y: axis("inversions of this rank / all departures", Unit::Percent),
        series: sp_pifo.chain(beside.filter_map(|run| series(run, by_rank(run, inverted)))).collect(),
    })
}

fn figure_6(variation: &Variation) -> Plot {
    let name = variation.varied.value();
    Plot {
        id: format!("inversions-{}", name.replace([':', '+'], "-")),
        title: format!("Inversions by rank: ranks {name}"),
        note: BY_RANK.to_owned(),
        x: axis("rank", Unit::Plain),
        y: axis("inversions of this rank / all departures", Unit::Percent),
        series: curves(&variation.schedulers, inverted),
    }
}

/// The inversions of a rank among all departures of its scheduler; none if nothing of this rank left.
fn inverted(run: &SchedulerRun, rank: &RankRun) -> Option<f64> {
    (rank.departures > 0).then(|| rank.inversions as f64 / run.departures as f64)
}

/// One curve over the ranks for every scheduler that has any points.
fn curves(runs: &[SchedulerRun], y: impl Fn(&SchedulerRun, &RankRun) -> Option<f64>) -> Vec<Series> {
    runs.iter().filter_map(|run| series(run, by_rank(run, &y))).collect()
}

fn by_rank(run: &SchedulerRun, y: impl Fn(&SchedulerRun, &RankRun) -> Option<f64>) -> Vec<(f64, f64)> {
    run.by_rank.iter().filter_map(|rank| Some((rank.rank as f64, y(run, rank)?))).collect()
}

/// The curve of a scheduler; none without points.
fn series(run: &SchedulerRun, points: Vec<(f64, f64)>) -> Option<Series> {
    let (name, color) = (run.scheduler.to_string(), color_of(run.scheduler));
    (!points.is_empty()).then_some(Series { name, points, color, ..Series::default() })
}

fn axis(label: &str, unit: Unit) -> Axis {
    Axis { label: label.to_owned(), unit, log: false }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters as _;

    use super::super::{Options, run_on};
    use super::*;

    fn found(more: &[(&str, &str)]) -> Found {
        let options = Options::given(&[&[("packets", "2000")], more].concat()).unwrap();
        run_on(None, &options, &()).unwrap()
    }

    fn of<'a>(plots: &'a [Plot], id: &str) -> &'a Plot {
        plots.iter().find(|plot| plot.id == id).expect("it is drawn")
    }

    #[test]
    fn nothing_is_drawn_of_ranks_that_hardly_come() {
        // Of a hundred Poisson ranks those at both ends do not come at all.
        let plots = plots(&found(&[("ranks", "poisson")]));
        for id in ["inversions-by-rank", "drops-by-rank", "delay-by-rank"] {
            for series in &of(&plots, id).series {
                assert!(series.points.len() < 80, "{id}: {}", series.name);
                assert!(id != "delay-by-rank" || series.points.iter().all(|(_, delay)| *delay > 0.0));
            }
        }
        let (all, drops) =
            (&of(&plots, "inversions-by-rank").series[0], &of(&plots, "drops-by-rank").series[0]);
        assert!(drops.points.len() < all.points.len());
    }

    #[test]
    fn shares_of_all_departures_add_up() {
        let found = found(&[]);
        let plots = plots(&found);
        for (run, series) in found.schedulers.iter().zip(&of(&plots, "inversions-by-rank").series) {
            let sum: f64 = series.points.iter().map(|(_, share)| share).sum();
            assert!((sum - run.inversion_share).abs() < 1e-9, "{}", run.scheduler);
        }
    }

    #[test]
    fn colors_do_not_depend_on_who_else_is_there() {
        let plots = plots(&found(&[("policies", "pifo,sp-pifo,fifo"), ("queues", "8,16")]));
        for plot in &plots {
            for series in &plot.series {
                assert_eq!(
                    series.color,
                    color_of(series.name.parse::<SchedulerName>().unwrap()),
                    "{}",
                    plot.id
                );
            }
        }
        let by_queues = of(&plots, "inversions-by-queues");
        assert_eq!(by_queues.series.len(), 2, "a PIFO has no place on a logarithmic axis");
        assert_eq!(by_queues.series[0].points.iter().map(|(x, _)| *x).collect::<Vec<_>>(), [8.0, 16.0]);
    }
}

//! The study of inversions with senders that react, run as a whole.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trueplane_network::feedback::{Feedback, Found, Options};
use trueplane_sched::policy::SchedulerName;
use trueplane_study::{Error, Observer, Study};
use trueplane_units::Parameters as _;

fn run(given: &[(&str, &str)]) -> Result<Found, Error> {
    let usual = [("duration", "30ms")];
    let is_given = |(name, _): &&(&str, &str)| given.iter().any(|(other, _)| other == name);
    let usual = usual.iter().filter(|field| !is_given(field));
    let given: Vec<(&str, &str)> = usual.chain(given).copied().collect();
    Feedback::run(&Options::given(&given).map_err(Error::Parameters)?, &())
}

#[test]
fn every_packet_is_counted_once_and_a_pifo_has_no_inversions() {
    for transport in ["standard", "simplified"] {
        let found =
            run(&[("transport", transport), ("policies", "fifo,sp-pifo,pifo,aifo,packs,afq")]).unwrap();
        assert_eq!(found.runs.len(), 6);
        for run in &found.runs {
            let total = run.total();
            assert_eq!(total.arrivals, total.departures + total.drops + run.waiting, "{}", run.scheduler);
            assert!(total.arrivals > 20_000 && run.completed > 5 && run.open.is_some());
        }
        let share = |scheduler| found.run(scheduler).unwrap().share();
        assert_eq!(share(SchedulerName::Pifo), 0.0);
        assert!(share(SchedulerName::SpPifo) < share(SchedulerName::Fifo));
    }
}

/// An observer that counts units of work.
#[derive(Default)]
struct Counter {
    total: AtomicU64,
    done: AtomicU64,
    steps: AtomicU64,
}

impl Observer for Counter {
    fn stage(&self, _name: &str, total: u64) {
        self.total.fetch_add(total, Relaxed);
    }

    fn advance(&self, units: u64) {
        self.done.fetch_add(units, Relaxed);
        self.steps.fetch_add(1, Relaxed);
    }
}

#[test]
fn progress_goes_on_while_a_scheduler_runs() {
    let counter = Counter::default();
    let options = Options::given(&[("duration", "30ms"), ("policies", "fifo,pifo")]).unwrap();
    Feedback::run(&options, &counter).unwrap();
    assert_eq!(counter.total.load(Relaxed), 2 * 30_000, "microseconds of two runs");
    assert_eq!(counter.done.load(Relaxed), 2 * 30_000);
    assert!(counter.steps.load(Relaxed) > 10);
}

/// Flows of one small packet, far apart: each finds the port empty. (A larger one takes longer than the time-out that the handshake left: there is
/// no least time-out.)
#[test]
fn what_never_waits_is_never_inverted() {
    let given = [("flow_starts", "1K"), ("flow_size", "1B"), ("policies", "fifo")];
    let found = run(&given).unwrap();
    let run = &found.runs[0];
    // A SYN, and one packet of data.
    assert_eq!(run.total().arrivals, 2 * run.completed);
    assert!(run.completed > 10 && run.unfinished == 0);
    assert_eq!(run.total().inversions, 0);
}

#[test]
fn lists_vary_one_thing_at_a_time() {
    let given = [
        ("policies", "fifo,sp-pifo"),
        ("push_down", "cost,one"),
        ("ranks", "uniform:10,exponential:20"),
        ("flow_starts", "1000,500"),
        ("duration", "5ms"),
    ];
    let found = run(&given).unwrap();
    let rows: Vec<(Option<String>, SchedulerName)> =
        found.runs.iter().map(|run| (run.scenario.value(), run.scheduler)).collect();
    let value = |text: &str| Some(text.to_owned());
    assert_eq!(
        rows,
        [
            (None, SchedulerName::Fifo),
            (None, SchedulerName::SpPifo),
            (value("one"), SchedulerName::SpPifo),
            (value("500"), SchedulerName::Fifo),
            (value("500"), SchedulerName::SpPifo),
            (value("exponential:20"), SchedulerName::Fifo),
            (value("exponential:20"), SchedulerName::SpPifo),
        ]
    );
    assert_eq!([found.runs[0].by_rank.len(), found.runs[6].by_rank.len()], [10, 20]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| run(&[("duration", "5ms")])).unwrap();
        found.runs.iter().map(|run| (run.total(), run.waiting)).collect::<Vec<_>>()
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let refusal = |given: &[(&str, &str)]| run(given).expect_err("it is refused").to_string();
    assert_eq!(
        refusal(&[("ranks", "stfq")]),
        "--ranks stfq: expected a distribution such as uniform or exponential:100"
    );
    assert!(refusal(&[("flow_starts", "1G")]).contains("expected a --duration so short"));
}

/// With flows from both ends, each direction carries half of them and the acknowledgements of the others.
#[test]
fn both_ways_share_the_flows_and_count_acknowledgements() {
    let given =
        [("both_ways", "true"), ("policies", "fifo,sp-pifo"), ("flow_size", "1B"), ("flow_starts", "2K")];
    let found = run(&given).unwrap();
    let run = &found.runs[0];
    // Of each flow: a SYN, its acknowledgement, a packet of data, and the acknowledgement of that.
    assert_eq!(run.total().arrivals, 4 * run.completed);
    assert!(run.completed > 20 && run.unfinished == 0);
}

/// Sums of inversions that SP-PIFO's authors published (`uniform.dat`, `adaptation_strategies.dat`): 864,088 with FIFO, 264,568 with SP-PIFO, and 203,238 with
/// fixed bounds.
#[test]
fn inversions_are_in_the_published_ratios() {
    let given = [
        ("both_ways", "true"),
        ("flow_starts", "1500"),
        ("transport", "simplified"),
        ("policies", "fifo,sp-pifo,fixed"),
        ("duration", "100ms"),
    ];
    let found = run(&given).unwrap();
    let inversions = |scheduler| found.run(scheduler).unwrap().total().inversions as f64;
    for (scheduler, published) in [(SchedulerName::SpPifo, 264_568.0), (SchedulerName::Fixed, 203_238.0)] {
        let of_fifo = inversions(scheduler) / inversions(SchedulerName::Fifo);
        let off = of_fifo / (published / 864_088.0) - 1.0;
        assert!(off.abs() < 0.02, "{scheduler}: {of_fifo:.3} of FIFO's, {off:+.3} from the published ratio");
    }
}

//! All experiments on one page.

use std::time::Duration;

use trueplane_limit::BELIEF;
use trueplane_study::Page;
use trueplane_study::report::Report;
use trueplane_study::study::{Words, page_report};
use trueplane_units::{Percent, Setting};

use super::found::Found;
use super::{
    Error, Experiment, LeftOut, Observer, PAYLOAD_SHARE, isolation, latency, marking, occupancy, page,
    precision, verdict,
};

/// Runs an experiment as the command does: each measurement takes `duration`, or some times as long where a figure is of time.
///
/// # Errors
///
/// The network cannot be had, the kernel refuses the limits, or the observer stopped it.
pub fn conduct(experiment: Experiment, duration: Duration, observer: &dyn Observer) -> Result<Found, Error> {
    Ok(match experiment {
        Experiment::Precision => {
            Found::Precision(precision::run(&precision::Settings::new(duration), observer)?)
        }
        Experiment::Isolation => {
            Found::Isolation(isolation::run(&isolation::Settings::new(duration), observer)?)
        }
        Experiment::Latency => {
            Found::Latency(Box::new(latency::run(&latency::Settings::new(duration), observer)?))
        }
        Experiment::Occupancy => {
            Found::Occupancy(occupancy::run(&occupancy::Settings::new(duration), observer)?)
        }
        Experiment::Marking => Found::Marking(marking::run(&marking::Settings::new(duration), observer)?),
    })
}

/// One page of them all, and of experiments that were skipped; `parameters` are those that people gave.
pub fn report(all: &[Found], skipped: &[LeftOut], parameters: &[Setting]) -> Report {
    let mut page = Page::default();
    if let Ok(release) = std::fs::read_to_string("/proc/sys/kernel/osrelease") {
        page.fact("kernel", "kernel", release.trim());
    }
    page.fact("cores", "cores", std::thread::available_parallelism().map_or(1, usize::from));
    page.fact("payload of a full frame, all rates being of frames", "payload_share", Percent(PAYLOAD_SHARE));
    let mut left_out = skipped.to_vec();
    for found in all {
        match found {
            Found::Precision(found) => {
                page::precision(found, &mut page);
                left_out.extend(found.left_out.iter().cloned());
            }
            Found::Isolation(found) => page::isolation(found, &mut page),
            Found::Latency(found) => page::latency(found, &mut page),
            Found::Occupancy(found) => page::occupancy(found, &mut page),
            Found::Marking(found) => page::marking(found, &mut page),
        }
    }
    if !left_out.is_empty() {
        page.table("not-measured", "Not measured", &left_out)
            .col("what", "what", |out| out.what.as_str())
            .col("reason", "reason", |out| out.reason.as_str());
    }
    let words = Words {
        name: "limit.experiment",
        title: "Limits on real packets".to_owned(),
        belief: BELIEF,
        verdict: verdict::verdict(all),
    };
    page_report(words, parameters, page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_fits_on_one_page_and_its_document_is_of_the_page() {
        let all = [
            Found::Precision(precision::Found {
                left_out: vec![LeftOut { what: "udp at 3Gbps".into(), reason: "too fast".into() }],
                ..precision::Found::default()
            }),
            Found::Isolation(isolation::Found { flows: [10, 100], ..isolation::Found::default() }),
            Found::Latency(Box::default()),
            Found::Occupancy(occupancy::Found::default()),
        ];
        let skipped = LeftOut { what: Experiment::Marking.to_string(), reason: "no iperf3".into() };
        let document = report(&all, &[skipped], &[]).document;
        assert_eq!(document["tables"]["not-measured"][0]["what"], "marking");
        assert_eq!(document["tables"]["not-measured"][1]["reason"], "too fast");
        assert_eq!(document["tables"]["numbers"][0]["refined"], 10);
        assert_eq!(document["tables"]["latency"].as_array().map(Vec::len), Some(3));
        assert!(document["plots"]["occupancy"].is_object());
        assert!(document["verdict"].as_array().is_some_and(|verdict| verdict.len() == 3));
    }
}

//! What the load means.

use trueplane_units::Percent;

use super::super::document::{Inversions, Parameters};
use super::digits;
use crate::choice::Arrivals;

/// What came is told if it is further from what was asked for.
const FAR: f64 = 0.05;

/// What a line can make of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loaded {
    /// It can send all.
    Below,
    /// It could just send all, if packets came evenly.
    Critical,
    /// It cannot send this share.
    Beyond(f64),
}

impl Loaded {
    /// At this load. Rates are whole numbers, for which a load of 1 may be off by a millionth.
    pub(crate) fn at(load: f64) -> Self {
        match load {
            _ if (load - 1.0).abs() < 1e-6 => Loaded::Critical,
            _ if load < 1.0 => Loaded::Below,
            _ => Loaded::Beyond(1.0 - 1.0 / load),
        }
    }
}

/// What came, if that is something else than what was asked for. Of a trace with its own times nothing was asked.
pub(crate) fn offered(of: &Parameters) -> Option<f64> {
    let is_far = |offered: &f64| (offered / of.load - 1.0).abs() > FAR;
    of.offered_load.filter(|offered| of.arrivals != Arrivals::Trace.name() && is_far(offered))
}

/// What came instead of what was asked for, and what a load of 1 or more means.
pub(super) fn on_load(found: &Inversions) -> Vec<String> {
    let of = &found.parameters;
    let asked = digits(of.load, 4);
    let mut sentences = Vec::new();
    if let Some(offered) = offered(of) {
        let what = if of.arrivals == Arrivals::OnOff.name() { "flows" } else { "packets" };
        sentences.push(format!(
            "What came is a load of {}, and not the {asked} that was asked for: it takes more {what} than these for chance to even out.",
            digits(offered, 3)
        ));
    }
    let load = offered(of).unwrap_or(of.load);
    let shown = digits(load, 4);
    match Loaded::at(load) {
        Loaded::Below => {}
        Loaded::Critical => sentences.push(
            "A load of 1 is critical: the line could just send all that comes if it came evenly; as it does not, nothing but what is dropped bounds the queue."
                .to_owned(),
        ),
        Loaded::Beyond(share) => {
            let then = if of.arrivals == Arrivals::Poisson.name() {
                ", and most of the time the buffer is full"
            } else {
                ", and more if it comes in bursts"
            };
            sentences.push(format!(
                "A load of {shown} is more than the line can send: whoever schedules, {} of the packets must be dropped in the long run{then}.",
                Percent(share)
            ));
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::super::inversions::tests::found;
    use super::*;

    fn said(arrivals: &'static str, load: f64, offered: Option<f64>) -> Vec<String> {
        let mut found = found(&[]);
        (found.parameters.arrivals, found.parameters.load) = (arrivals, load);
        found.parameters.offered_load = offered;
        on_load(&found)
    }

    #[test]
    fn a_load_is_below_at_or_beyond_what_the_line_can_send() {
        assert_eq!(said("poisson", 0.9, Some(0.91)), Vec::<String>::new());
        // Two captures in one file, years apart.
        assert_eq!(said("trace", 0.0, Some(1e-8)), Vec::<String>::new());
        let one = said("poisson", 1.0, Some(1.001));
        assert!(one.len() == 1 && one[0].starts_with("A load of 1 is critical"), "{one:?}");
        assert_eq!(said("trace", 1.000_000_1, None), one);
        assert_eq!(
            said("poisson", 1.25, None),
            [
                "A load of 1.25 is more than the line can send: whoever schedules, 20.0 % of the packets must be dropped in the long run, and most of the time the buffer is full."
            ]
        );
        assert!(said("trace", 1.25, None)[0].ends_with("in the long run, and more if it comes in bursts."));
    }

    #[test]
    fn what_came_counts_if_it_is_not_what_was_asked_for() {
        let ramp = said("on-off", 1.1, Some(0.7));
        assert!(ramp.len() == 1, "no overload: {ramp:?}");
        assert!(
            ramp[0].starts_with(
                "What came is a load of 0.7, and not the 1.1 that was asked for: it takes more flows"
            ),
            "{ramp:?}"
        );
        let burst = said("poisson", 0.9, Some(1.25));
        assert!(
            burst[0].contains("more packets") && burst[1].starts_with("A load of 1.25 is more"),
            "{burst:?}"
        );
    }
}

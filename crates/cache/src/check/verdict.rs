//! The verdict of `cache check`.

use trueplane_study::rounded::Toward;

use super::found::CheckedCertificate;

/// The most important sentence first.
pub(super) fn verdict(found: &CheckedCertificate) -> Vec<String> {
    let gap = Some(found.bounds.gap()).filter(|gap| gap.is_finite());
    let gap = gap.map_or("and is not known to be near".to_owned(), |gap| {
        format!("and is at most {} above it", Toward::Up.percent(gap))
    });
    let rule = if found.terms.bypass { "" } else { " that admits what it fetches" };
    vec![
        "The certificate holds: both bounds follow from its prices and its schedule, in integer arithmetic."
            .to_owned(),
        format!(
            "No cache of this size{rule} can serve the trace in less than the lower bound; the schedule fits, {gap}."
        ),
    ]
}

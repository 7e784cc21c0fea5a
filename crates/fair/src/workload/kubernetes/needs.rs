//! What a pod needs of its node.
//!
//! Sources: the pages "Sidecar Containers", section "Resource sharing within containers", and "Pod Overhead" of the documentation of Kubernetes;
//! its KEP 2837 (Pod level resource specifications).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::quantity::Quantity;

/// Amounts by the names of resources.
pub type Amounts = BTreeMap<String, Quantity>;

/// A container of a pod: what it asks for, and whether it stays beside those after it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    resources: Option<Resources>,
    restart_policy: Option<String>,
}

/// The resources that a container or a whole pod asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resources {
    requests: Option<Amounts>,
    limits: Option<Amounts>,
}

impl Resources {
    /// The amounts that it asks for. A resource with a limit and without a request asks for its limit, which the API server writes into pods, and not
    /// into templates of pods.
    pub fn requests(&self) -> Amounts {
        let mut requests = self.limits.clone().unwrap_or_default();
        requests.extend(self.requests.iter().flatten().map(|(name, amount)| (name.clone(), *amount)));
        requests
    }
}

impl Container {
    fn requests(&self) -> Amounts {
        self.resources.as_ref().map(Resources::requests).unwrap_or_default()
    }

    /// Whether it is an init container that runs beside those after it.
    fn is_sidecar(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }
}

/// What a pod needs of its node: its containers and sidecars together, or an init container with the sidecars before it, whichever is more; if the
/// `whole` pod asks for an amount, that instead; and its `overhead`. Sums that do not fit are as large as can be.
pub fn pod_needs(
    init: &[Container],
    containers: &[Container],
    whole: Option<&Resources>,
    overhead: Option<&Amounts>,
) -> Amounts {
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in init {
        let mut with = sidecars.clone();
        add(&mut with, &container.requests(), 1);
        if container.is_sidecar() {
            sidecars = with;
        } else {
            raise(&mut most, with);
        }
    }
    let mut together = sidecars;
    containers.iter().for_each(|container| add(&mut together, &container.requests(), 1));
    raise(&mut most, together);
    most.extend(whole.map(Resources::requests).unwrap_or_default());
    if let Some(overhead) = overhead {
        add(&mut most, overhead, 1);
    }
    most
}

/// Adds `amounts` so many times.
pub(super) fn add(to: &mut Amounts, amounts: &Amounts, times: u32) {
    for (name, amount) in amounts {
        let sum = to.entry(name.clone()).or_default();
        sum.0 = sum.0.saturating_add(amount.0.saturating_mul(times.into()));
    }
}

/// Takes the larger amount of each resource.
fn raise(to: &mut Amounts, amounts: Amounts) {
    for (name, amount) in amounts {
        let most = to.entry(name).or_default();
        most.0 = most.0.max(amount.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores(spec: &str) -> String {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Spec {
            #[serde(default)]
            init_containers: Vec<Container>,
            containers: Vec<Container>,
            #[serde(default)]
            resources: Resources,
            overhead: Option<Amounts>,
        }
        let spec: Spec = serde_json::from_str(spec).unwrap();
        let needs =
            pod_needs(&spec.init_containers, &spec.containers, Some(&spec.resources), spec.overhead.as_ref());
        needs.get("cpu").map_or_else(String::new, |cpu| format!("{}m", cpu.0 / 1_000_000))
    }

    #[test]
    fn a_pod_needs_what_its_containers_need_at_the_same_time() {
        let container = |cpu: &str| format!("{{\"resources\":{{\"requests\":{{\"cpu\":\"{cpu}\"}}}}}}");
        let sidecar = |cpu: &str| {
            format!("{{\"restartPolicy\":\"Always\",\"resources\":{{\"requests\":{{\"cpu\":\"{cpu}\"}}}}}}")
        };
        let spec = |containers: &[String], init: &[String], more: &str| {
            format!(
                "{{\"containers\":[{}],\"initContainers\":[{}]{more}}}",
                containers.join(","),
                init.join(",")
            )
        };
        let two = [container("100m"), container("2")];
        assert_eq!(cores(&spec(&two, &[], "")), "2100m");
        // Init containers run one after the other.
        assert_eq!(cores(&spec(&two, &[container("1"), container("2")], "")), "2100m");
        assert_eq!(cores(&spec(&two, &[container("1"), container("3")], "")), "3000m");
        // A sidecar stays, for those after it and for the containers.
        assert_eq!(cores(&spec(&two, &[container("3"), sidecar("500m")], "")), "3000m");
        assert_eq!(cores(&spec(&two, &[sidecar("500m"), container("3")], "")), "3500m");
        assert_eq!(cores(&spec(&two, &[sidecar("500m")], "")), "2600m");
        assert_eq!(cores(&spec(&two, &[], ",\"overhead\":{\"cpu\":\"250m\"}")), "2350m");
        let whole = ",\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"overhead\":{\"cpu\":\"250m\"}";
        assert_eq!(cores(&spec(&two, &[], whole)), "1250m");
        assert_eq!(cores("{\"containers\":[{\"resources\":{}},{}]}"), "");
        // A limit stands for a request that is missing, and for no other.
        let limits = "{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"3\"}}},{\"resources\":{\"requests\":{\"cpu\":\"1\"},\"limits\":{\"cpu\":\"9\"}}}]}";
        assert_eq!(cores(limits), "4000m");
    }
}

//! What the policy of the simulator says to the events of a run: the same order, or where it differs.

use std::collections::{BTreeSet, HashMap};

use trueplane_fair::{Memory, Nanos};
use trueplane_kubernetes::admission::{Admission, TenantSettings, Workload};

use super::job_log::JobLog;
use super::live::Run;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Ends,
    Comes,
    Opens,
}

/// How the order of a run and that of the policy agree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreement {
    /// Openings of the run.
    pub(crate) openings: usize,
    /// Openings that the policy says for the same look at the cluster, if it is told before what the run did before.
    pub(crate) same: usize,
    /// Looks at the cluster after which something was opened.
    pub(crate) looks: usize,
    /// Those of which all openings are the same.
    pub(crate) same_looks: usize,
}

/// Tells the policy of what was seen of the run, at the times at which somebody who watched beside the controller saw it, and asks it who is next each time
/// that the controller opened something. What the policy says otherwise is counted, and then it goes on with what the controller did.
pub(crate) fn compare(run: &Run, half_life_seconds: u64) -> Agreement {
    let memory = Memory::half_life(Nanos(half_life_seconds * 1_000_000_000)).unwrap();
    let mut admission = Admission::new(2, Some(memory), false);
    let mut steps: Vec<(Nanos, What, u64)> = Vec::new();
    for (id, done) in (0..).zip(&run.done) {
        steps.push((done.seen.came, What::Comes, id));
        steps.push((done.seen.admitted.unwrap(), What::Opens, id));
        steps.push((done.ended, What::Ends, id));
    }
    steps.sort_unstable();
    let began = steps[0].0;
    JobLog::tenants().for_each(|name| admission.set_tenant(&name, TenantSettings::usual(2), began).unwrap());
    admission.set_capacity(&run.capacity, began);
    let workload = |id: u64| {
        let done = &run.done[id as usize];
        let name = format!("Pod {}/{}", done.job.tenant, done.job.name);
        Workload {
            tenant: done.job.tenant.clone(),
            needs: done.job.needs.to_vec(),
            priority: 0,
            created: done.seen.created,
            name,
        }
    };
    let mut agreement = Agreement::default();
    let mut open = HashMap::new();
    let mut place = 0;
    while let Some(&(now, what, id)) = steps.get(place) {
        match what {
            What::Comes => {
                // It may have been admitted before the other watch told of it.
                if !open.contains_key(&id) {
                    admission.submit(id, workload(id), now);
                }
                place += 1;
            }
            What::Ends => {
                admission.remove(id, now);
                place += 1;
            }
            What::Opens => {
                let together = steps[place..].iter().take_while(|step| (step.0, step.1) == (now, what));
                let opened: BTreeSet<u64> = together.map(|step| step.2).collect();
                let mut trial = admission.clone();
                let said: BTreeSet<u64> = (0..opened.len()).map_while(|_| trial.next(now)).collect();
                let same = said.intersection(&opened).count();
                agreement.openings += opened.len();
                agreement.same += same;
                agreement.looks += 1;
                if same == opened.len() {
                    agreement.same_looks += 1;
                    admission = trial;
                } else {
                    for &id in &opened {
                        admission.remove(id, now);
                        admission.adopt(id, workload(id), now);
                    }
                }
                place += opened.len();
                open.extend(opened.into_iter().map(|id| (id, ())));
            }
        }
    }
    agreement
}

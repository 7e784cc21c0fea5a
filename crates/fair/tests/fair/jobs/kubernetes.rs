//! Pods of Kubernetes and workloads of Kueue. Fixtures are written after the API references, as `kubectl get … -o json` prints them.

use super::*;

/// 2026-01-31T12:00:00Z.
const NOON: u64 = 1_769_860_800 * S;

/// A pod that was created at 12:00:00 and scheduled at 12:`scheduled`, in seconds after noon; `end` likewise.
fn pod(
    name: &str,
    namespace: &str,
    created: u64,
    scheduled: Option<u64>,
    end: Option<u64>,
    requests: &str,
) -> String {
    let at = |seconds: u64| format!("2026-01-31T12:{:02}:{:02}Z", seconds / 60, seconds % 60);
    let condition = scheduled.map_or(String::new(), |scheduled| {
        format!(
            r#"{{"lastProbeTime": null, "lastTransitionTime": "{}", "status": "True", "type": "PodScheduled"}}"#,
            at(scheduled)
        )
    });
    let phase = match (scheduled, end) {
        (None, _) => "Pending",
        (_, None) => "Running",
        _ => "Succeeded",
    };
    let state = end.map_or(r#"{"running": {}}"#.to_owned(), |end| {
        format!(r#"{{"terminated": {{"exitCode": 0, "finishedAt": "{}", "reason": "Completed"}}}}"#, at(end))
    });
    format!(
        r#"{{
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {{
                "creationTimestamp": "{}", "labels": {{"team": "{namespace}-team"}}, "name": "{name}",
                "namespace": "{namespace}", "uid": "uid-{name}"
            }},
            "spec": {{
                "containers": [{{"image": "job:1", "name": "main", "resources": {{"requests": {requests}}}}}],
                "serviceAccountName": "builder"
            }},
            "status": {{
                "conditions": [{condition}], "containerStatuses": [{{"name": "main", "state": {state}}}],
                "phase": "{phase}"
            }}
        }}"#,
        at(created)
    )
}

fn list(items: &[String]) -> String {
    format!(
        r#"{{"apiVersion": "v1", "items": [{}], "kind": "List", "metadata": {{"resourceVersion": ""}}}}"#,
        items.join(",\n")
    )
}

#[test]
fn pods_are_tasks_of_their_namespaces() {
    let text = list(&[
        pod("a", "ann", 0, Some(30), Some(90), r#"{"cpu": "500m", "memory": "2Gi", "nvidia.com/gpu": "1"}"#),
        pod("b", "bob", 10, None, None, r#"{"cpu": "1"}"#),
        pod("c", "bob", 20, Some(20), None, r#"{"cpu": "2", "memory": "512Mi"}"#),
        pod("d", "bob", 20, Some(40), Some(50), "{}"),
        pod("e", "ann", 5, Some(5), Some(5), r#"{"cpu": "1"}"#),
        pod("f", "ann", 5, Some(4), Some(5), r#"{"cpu": "1"}"#),
    ]);
    let log = read(&text, &usual()).unwrap();
    assert_eq!(log.resources, ["cpu", "memory", "gpu"]);
    let expected = [
        (NOON, 60 * S, "ann", vec![BILLION / 2, units(2), units(1)]),
        (NOON + 5 * S, 0, "ann", vec![units(1), 0, 0]),
        // It runs until the latest time of the list.
        (NOON + 20 * S, 70 * S, "bob", vec![units(2), BILLION / 2, 0]),
    ];
    assert_eq!(tasks(&log), expected);
    let left_out =
        ["1 tasks that never ran", "1 tasks that need nothing", "1 tasks whose times run backwards"];
    assert_eq!(said(&log.left_out), left_out);
    assert_eq!(said(&log.cut), ["1 tasks that outlast the log"]);
    assert_eq!(log.started.iter().map(|time| time.0 - NOON).collect::<Vec<_>>(), [30 * S, 5 * S, 20 * S]);
    // The pods of bob and ann run at the same time; the one that takes no time uses nothing.
    assert_eq!(log.peak_use().unwrap(), [BILLION * 5 / 2, BILLION * 5 / 2, units(1)]);
    for (user, users) in [
        ("namespace", "ann bob"),
        ("serviceaccount", "ann/builder bob/builder"),
        ("label:team", "ann-team bob-team"),
    ] {
        let options = LogOptions { user: Some(user.to_owned()), ..usual() };
        assert_eq!(read(&text, &options).unwrap().users.join(" "), users);
    }
    let nobody = LogOptions { user: Some("label:squad".to_owned()), ..usual() };
    let refused = read(&text, &nobody).unwrap_err();
    assert!(refused.contains("found none but 6 tasks without the label squad"), "{refused}");
}

#[test]
fn resources_go_by_their_names_in_kubernetes() {
    let requests =
        r#"{"cpu": "500m", "ephemeral-storage": "3Gi", "amd.com/gpu": 2, "example.com/link": "4"}"#;
    let text = list(&[pod("a", "ann", 0, Some(30), Some(90), requests)]);
    assert_eq!(read(&text, &usual()).unwrap().resources, ["cpu", "gpu"], "memory is needed by nobody");
    let log = read(&text, &resources(&["example.com/link", "amd.com/gpu", "ephemeral-storage"])).unwrap();
    assert_eq!(log.demands, [vec![units(4), units(2), units(3)].into_boxed_slice()]);
    let twice = read(&text, &resources(&["cpu", "cpu"])).unwrap_err();
    assert_eq!(twice, "jobs.csv: expected one resource cpu, got two");
}

#[test]
fn of_several_lists_the_last_counts() {
    let early = list(&[
        pod("a", "ann", 0, Some(30), None, r#"{"cpu": "1"}"#),
        pod("b", "bob", 10, Some(60), None, r#"{"cpu": "1"}"#),
    ]);
    let late = list(&[
        pod("b", "bob", 10, Some(60), Some(300), r#"{"cpu": "1"}"#),
        pod("c", "bob", 400, None, None, r#"{"cpu": "1"}"#),
    ]);
    let log = read(&format!("{early}\n{late}\n"), &usual()).unwrap();
    // Nobody knows when a ended: it was there at 12:01:00, the latest time of the first list.
    let expected = [(NOON, 30 * S, "ann", vec![units(1)]), (NOON + 10 * S, 240 * S, "bob", vec![units(1)])];
    assert_eq!(tasks(&log), expected);
    assert_eq!(log.censored, [0]);
    assert_eq!(said(&log.left_out), ["1 tasks that never ran"]);
    // With kubectl's --watch every change is an object, and what does not end runs to the end.
    let changes = [
        pod("a", "ann", 0, None, None, r#"{"cpu": "1"}"#),
        pod("a", "ann", 0, Some(30), None, r#"{"cpu": "1"}"#),
        pod("b", "bob", 10, Some(60), Some(300), r#"{"cpu": "1"}"#),
    ];
    let log = read(&changes.join("\n"), &usual()).unwrap();
    let expected = [(NOON, 270 * S, "ann", vec![units(1)]), (NOON + 10 * S, 240 * S, "bob", vec![units(1)])];
    assert_eq!(tasks(&log), expected);
}

fn workload(name: &str, queue: &str, conditions: &str, admission: &str) -> String {
    format!(
        r#"{{
            "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
            "metadata": {{"creationTimestamp": "2026-01-31T12:00:00Z", "name": "{name}", "namespace": "ann", "uid": "u-{name}"}},
            "spec": {{
                "podSets": [
                    {{"count": 3, "name": "main", "template": {{"spec": {{"containers": [
                        {{"name": "c", "resources": {{"requests": {{"cpu": "1", "memory": "1Gi"}}}}}}
                    ]}}}}}}
                ],
                "priority": 0{queue}
            }},
            "status": {{"conditions": [{conditions}]{admission}}}
        }}"#
    )
}

fn condition(kind: &str, minute: u64) -> String {
    format!(
        r#"{{"type": "{kind}", "status": "True", "lastTransitionTime": "2026-01-31T12:{minute:02}:00Z"}}"#
    )
}

#[test]
fn workloads_are_tasks_of_their_queues() {
    let queue = r#", "queueName": "lab""#;
    let reserved = r#", "admission": {"clusterQueue": "all", "podSetAssignments": [
        {"name": "main", "count": 3, "resourceUsage": {"cpu": "6", "memory": "3Gi"}}]}"#;
    let admitted = [condition("QuotaReserved", 1), condition("Admitted", 2)].join(",");
    let finished = [admitted.as_str(), &condition("Finished", 12)].join(",");
    let text = list(&[
        workload("a", queue, &finished, reserved),
        workload("b", queue, &finished, ""),
        workload("c", queue, &admitted, reserved),
        workload("d", queue, "", ""),
        workload("e", "", &admitted, reserved),
        pod("p", "ann", 0, Some(1), Some(2), r#"{"cpu": "1"}"#),
    ]);
    let log = read(&text, &usual()).unwrap();
    let expected = [
        (NOON, 600 * S, "ann/lab", vec![units(6), units(3)]),
        // Kueue has dropped what it had reserved: what the pods need counts.
        (NOON, 600 * S, "ann/lab", vec![units(3), units(3)]),
        (NOON, 600 * S, "ann/lab", vec![units(6), units(3)]),
    ];
    assert_eq!(tasks(&log), expected);
    let left_out = ["1 tasks that never ran", "1 workloads without a queue", "1 objects of another kind"];
    assert_eq!(said(&log.left_out), left_out);
    assert_eq!(log.censored, [2]);
    let by_cluster_queue = LogOptions { user: Some("clusterqueue".to_owned()), ..usual() };
    assert_eq!(read(&text, &by_cluster_queue).unwrap().users, ["all"]);
    assert_eq!(read(&text, &of_format(LogFormat::Kubernetes)).unwrap().tasks.len(), 1);
}

#[test]
fn nodes_have_pods_that_wait_for_nobody() {
    let daemon = pod("d", "sys", 0, Some(0), None, r#"{"cpu": "1"}"#).replace(
        r#""name": "d""#,
        r#""ownerReferences": [{"kind": "DaemonSet", "name": "proxy"}], "name": "d""#,
    );
    let log =
        read(&list(&[daemon, pod("a", "ann", 0, Some(1), Some(2), r#"{"cpu": "1"}"#)]), &usual()).unwrap();
    assert_eq!(
        (log.tasks.len(), said(&log.left_out)),
        (1, vec!["1 pods that belong to a node or a DaemonSet".to_owned()])
    );
}

#[test]
fn wrong_objects_are_refused_with_their_place() {
    let one = |requests: &str| pod("a", "ann", 0, Some(30), Some(90), requests);
    let refused = |text: &str| read(text, &usual()).unwrap_err();
    let text = list(&[one(r#"{"cpu": "1"}"#), one("{\n\"cpu\": \"lots\"}")]);
    let line = text[..text.find("lots").unwrap()].lines().count();
    let expected = "expected an amount of zero or more such as 2, 500m or 1.5Gi, got \"lots\"";
    assert_eq!(refused(&text), format!("jobs.csv:{line}: {expected}"));
    let negative = refused(&list(&[one(r#"{"cpu": -1}"#)]));
    assert!(
        negative.contains("expected an amount of zero or more such as 2, 500m or 1.5Gi, got -1"),
        "{negative}"
    );
    let time = refused(&list(&[one(r#"{"cpu": "1"}"#).replace("2026-01-31T12:00:30Z", "soon")]));
    assert!(time.contains("ann/a: lastTransitionTime: expected a time from 1970 to 2116"), "{time}");
    let missing = refused(&list(&[one(r#"{"cpu": "1"}"#).replace("creationTimestamp", "createdAt")]));
    assert!(missing.ends_with("ann/a: expected a creationTimestamp, found none"), "{missing}");
    let most = refused(&list(&[one(r#"{"cpu": "999999999P"}"#)]));
    assert!(most.ends_with("ann/a: expected amounts up to 10^18 in all"), "{most}");
    let cut = refused(&list(&[one(r#"{"cpu": "1"}"#)])[..200]);
    assert!(cut.contains("EOF while parsing"), "{cut}");
    assert!(refused("{}").contains("expected a list with items, or a pod or a workload of Kueue"));
    assert!(
        refused(&list(&[]))
            .contains("expected a list of pods or of workloads of Kueue, found none of either")
    );
    assert!(refused(r#"{"kind": "List", "items": 3}"#).contains("expected a list of items"));
    let unit = LogOptions { time_unit: Some(trueplane_trace::TimeUnit::Seconds), ..usual() };
    assert!(
        read(&list(&[]), &unit).unwrap_err().contains("--time-unit means nothing for the format kubernetes")
    );
    let owner = LogOptions { user: Some("queue".to_owned()), ..usual() };
    let wrong = read(&list(&[one("{}")]), &owner).unwrap_err();
    assert!(
        wrong.contains("expected --user to be one of namespace, serviceaccount or label:KEY, got \"queue\""),
        "{wrong}"
    );
    let rows = read("submit,duration,user,cpu\n0,1,a,1\n", &of_format(LogFormat::Kueue)).unwrap_err();
    assert_eq!(rows, "jobs.csv: expected JSON of the format kueue, found none");
}

#[test]
fn pods_end_in_several_ways() {
    let one = r#"{"cpu": "1"}"#;
    // Evicted before any container ended.
    let evicted = pod("e", "ann", 0, Some(30), None, one)
        .replace("\"Running\"", "\"Failed\"")
        .replace("\"state\": {\"running\": {}}", "\"state\": {}")
        .replace("\"type\": \"PodScheduled\"}", "\"type\": \"PodScheduled\"}, {\"type\": \"DisruptionTarget\", \"status\": \"True\", \"lastTransitionTime\": \"2026-01-31T12:10:00Z\"}");
    // An init container failed, and the others never started.
    let init = pod("i", "ann", 1, Some(30), Some(400), one)
        .replace("\"containerStatuses\"", "\"initContainerStatuses\"")
        .replace("\"Succeeded\"", "\"Failed\"");
    // Somebody deletes it.
    let deleted = pod("d", "ann", 2, Some(30), None, one)
        .replace("\"uid\": \"uid-d\"", "\"uid\": \"uid-d\", \"deletionTimestamp\": \"2026-01-31T12:02:00Z\"");
    let unknown = pod("u", "ann", 3, Some(30), None, one).replace("\"Running\"", "\"Failed\"");
    let log = read(&list(&[evicted, init, deleted, unknown]), &usual()).unwrap();
    let durations: Vec<u64> = log.tasks.iter().map(|task| task.duration.0 / S).collect();
    assert_eq!(durations, [570, 370, 90]);
    assert_eq!(said(&log.left_out), ["1 tasks that have ended, nobody knows when"]);
    assert!(log.censored.is_empty());
}

#[test]
fn lists_are_read_as_tools_write_them() {
    let one = r#"{"cpu": 1.5}"#;
    let done = pod("a", "ann", 0, Some(30), Some(90), one);
    let expected = vec![(NOON, 60 * S, "ann", vec![BILLION * 3 / 2])];
    let bare = done.replace("\"apiVersion\": \"v1\", \"kind\": \"Pod\",", "");
    let sorted = format!("{{\"items\": [{bare}], \"kind\": \"PodList\"}}");
    let event = format!("{{\"type\": \"MODIFIED\", \"object\": {done}}}");
    let null = done.replace("\"labels\"", "\"ownerReferences\": null, \"labels\"");
    for text in [list(std::slice::from_ref(&done)), sorted, format!("[{done}]"), event, list(&[null])] {
        assert_eq!(tasks(&read(&text, &usual()).unwrap()), expected, "{text}");
    }
    // What has ended stays so, whatever an older list says.
    let running = pod("a", "ann", 0, Some(30), None, one);
    let backwards = format!("{}{}", list(&[done]), list(&[running]));
    assert_eq!(tasks(&read(&backwards, &usual()).unwrap()), expected);
    let misspelt = read(&list(&[pod("a", "ann", 0, Some(1), Some(2), one)]), &resources(&["cpu", "gpus"]));
    assert_eq!(
        misspelt.unwrap_err(),
        "jobs.csv: expected resources that somebody needs, and nobody needs gpus"
    );
}

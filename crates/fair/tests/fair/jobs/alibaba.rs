//! Alibaba's lists.

use std::io::Write as _;
use std::path::Path;

use trueplane_fair::workload::{JobsSource, load};

use super::*;

const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";
const INSTANCES: &str = "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,gpu_limit,rdma_request,rdma_limit,\
    memory_request,memory_limit,disk_request,disk_limit,max_instance_per_node,creation_time,scheduled_time,deletion_time\n";

#[test]
fn pods_belong_to_their_class_of_service() {
    let text = format!(
        "{PODS}a,12000,16384,1,460,,LS,Running,0,100,0\nb,88000,327680,8,1000,V100M16|V100M32,BE,Succeeded,20,90,25\n\
         c,500,1,0,0,,LS,Pending,30,40,\nd,500,1,0,0,,LS,Failed,35,36,37\ne,0,0,0,0,,LS,Failed,35,36,35\n"
    );
    let log = read(&text, &usual()).unwrap();
    assert_eq!(log.resources, ["cpu", "memory", "gpu"]);
    let expected = [
        (0, 100 * S, "LS", vec![units(12), units(16_384), BILLION * 46 / 100]),
        (20 * S, 65 * S, "BE", vec![units(88), units(327_680), units(8)]),
    ];
    assert_eq!(tasks(&log), expected);
    assert_eq!(
        said(&log.left_out),
        ["1 tasks that never ran", "1 tasks whose times run backwards", "1 tasks that need nothing"]
    );
    let by_spec = LogOptions { user: Some("name".to_owned()), ..resources(&["gpu"]) };
    let log = read(&text, &by_spec).unwrap();
    assert_eq!((log.users.join(" "), log.resources.join(" ")), ("a b".to_owned(), "gpu".to_owned()));
}

#[test]
fn instances_may_have_been_there_before_and_stay() {
    let text = format!(
        "{INSTANCES}a,HN,app_1,12,12,1,1,25,25,120.0,120.0,640.0,800.0,8,,,\n\
         b,CN,app_0,8,8,0,0,1,1,40.0,40.0,85.0,85.0,-1,,,50\n\
         c,CN,app_0,8,8,0,0,1,1,40.0,40.0,85.0,85.0,-1,10.5,20,\n\
         d,CN,app_1,8,8,0,0,1,1,40.0,40.0,85.0,85.0,-1,475.00000000000006,480,500\n"
    );
    let log = read(&text, &usual()).unwrap();
    assert_eq!(log.resources, ["cpu", "gpu", "rdma", "memory", "disk"]);
    let small = vec![units(8), 0, units(1), units(40), units(85)];
    let expected = [
        (0, 500 * S, "app_1", vec![units(12), units(1), units(25), units(120), units(640)]),
        (0, 50 * S, "app_0", small.clone()),
        (10_500_000_000, 480 * S, "app_0", small.clone()),
        (475 * S, 20 * S, "app_1", small),
    ];
    assert_eq!(tasks(&log), expected);
    assert_eq!(said(&log.cut), ["2 tasks that began before the log", "2 tasks that outlast the log"]);
    assert!(log.left_out.is_empty());
}

#[test]
fn wrong_lists_are_refused() {
    let pod = |row: &str| read(&format!("{PODS}{row}\n"), &usual()).unwrap_err();
    for (row, expected) in [
        ("a,-1,1,0,0,,LS,Failed,1,2,1", "an amount of cpu_milli from 0 to 10^18, got \"-1\""),
        ("a,1,1,many,0,,LS,Failed,1,2,1", "a number from 0 to a million, got \"many\""),
        ("a,1,1,0,0,,,Failed,1,2,1", "the name of a user, got \"\""),
        ("a,1,1,0,0,,LS,Failed,-1,2,1", "seconds from the start of the trace, or nothing, got \"-1\""),
        ("a,1,1,1000000,1e21,,LS,Failed,1,2,1", "an amount from 0 to 10^18, got \"1e21\""),
        ("a,1,1,0,0,,LS,Failed,1,2", "11 columns as in the header, found 10"),
    ] {
        assert_eq!(pod(row), format!("jobs.csv:2: expected {expected}"));
    }
    let error = read("cpu_milli,pod_phase\n", &usual()).unwrap_err();
    assert_eq!(error, "jobs.csv:1: expected a header with a column memory_mib, got \"cpu_milli,pod_phase\"");
    let seconds = LogOptions { time_unit: Some("s".parse().unwrap()), ..usual() };
    assert_eq!(
        read(PODS, &seconds).unwrap_err(),
        "jobs.csv: --time-unit means nothing for the format alibaba2023"
    );
    assert_eq!(read(PODS, &usual()).unwrap_err(), "jobs.csv: expected tasks, found none");
}

#[test]
fn the_real_list_of_instances() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/cluster/alibaba-dlrm-2025.csv.zst");
    if !path.exists() {
        let _ = writeln!(std::io::stderr(), "skipped: no {}", path.display());
        return;
    }
    let log = load(&JobsSource::Path(path), &usual(), &()).unwrap();
    assert_eq!((log.tasks.len(), log.users.len(), log.resources.len()), (23_871, 156, 5));
    assert!(log.left_out.is_empty());
    assert_eq!(said(&log.cut), ["7280 tasks that began before the log", "8878 tasks that outlast the log"]);
    assert!(log.demands.len() < 200, "{}", log.demands.len());
    assert_eq!(log.end().0, 2_677_541 * S);
}

//! Slurm's accounting.

use super::*;

const HEADER: &str = "JobID|User|Account|Submit|Start|End|State|ReqTRES|AllocTRES\n";
/// 2026-01-31T12:00:00.
const NOON: u64 = 1_769_860_800 * S;

#[test]
fn jobs_need_what_was_allocated_and_steps_are_left_out() {
    let text = format!(
        "{HEADER}7|ann|phys|2026-01-31T12:00:00|2026-01-31T12:05:00|2026-01-31T13:05:00|COMPLETED|cpu=2,mem=8G|billing=4,cpu=4,gres/gpu=1,gres/gpu:a100=1,mem=16G,node=1\n\
         7.batch||phys|2026-01-31T12:05:00|2026-01-31T12:05:00|2026-01-31T13:05:00|COMPLETED||cpu=4,mem=16G,node=1\n\
         8_1|bob|chem|2026-01-31T12:00:01|Unknown|Unknown|PENDING|cpu=1,mem=512M|\n\
         9|bob|chem|2026-01-31T12:00:02|None|2026-01-31T12:01:00|CANCELLED by 1001|cpu=1|\n\
         10|bob|chem|2026-01-31T12:00:03|2026-01-31T12:10:03|Unknown|RUNNING|cpu=3,mem=1536M|\n"
    );
    let log = read(&text, &usual()).unwrap();
    assert_eq!(log.resources, ["cpu", "memory", "gpu"]);
    let expected = [
        (NOON, 3600 * S, "ann", vec![units(4), units(16), units(1)]),
        (NOON + 3 * S, 3297 * S, "bob", vec![units(3), BILLION * 3 / 2, 0]),
    ];
    assert_eq!(tasks(&log), expected);
    assert_eq!(said(&log.left_out), ["1 steps of jobs", "2 tasks that never ran"]);
    assert_eq!(said(&log.cut), ["1 tasks that outlast the log"]);
    let by_account = LogOptions { user: Some("Account".to_owned()), ..resources(&["node", "gpu"]) };
    let log = read(&text, &by_account).unwrap();
    assert_eq!((log.users.join(" "), log.resources.join(" ")), ("phys".to_owned(), "node gpu".to_owned()));
}

#[test]
fn memory_has_the_suffixes_of_slurm() {
    for (memory, billionths) in [
        ("1024", BILLION),
        ("512M", BILLION / 2),
        ("1.5G", BILLION * 3 / 2),
        ("2T", BILLION * 2048),
        ("1048576K", BILLION),
        ("1P", BILLION * 1_048_576),
    ] {
        let row = format!(
            "{HEADER}7|a|b|2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T12:00:01|C||mem={memory}\n"
        );
        assert_eq!(read(&row, &resources(&["memory"])).unwrap().demands[0][..], [billionths], "{memory}");
    }
}

#[test]
fn wrong_accounting_is_refused() {
    let row = |cells: &str| read(&format!("{HEADER}{cells}\n"), &usual()).unwrap_err();
    assert!(
        row("7|a|b|soon|None|None|C||cpu=1")
            .starts_with("jobs.csv:2: expected a time such as 2026-01-31T12:00:00")
    );
    assert!(row("7|a|b|Unknown|None|None|C||cpu=1").starts_with("jobs.csv:2: expected a submit time"));
    let tres = row("7|a|b|2026-01-31T12:00:00|2026-01-31T12:00:00|None|C||cpu");
    assert!(tres.starts_with("jobs.csv:2: expected a list of TRES such as cpu=4,mem=16G"), "{tres}");
    assert!(
        row("7|a|b|2026-01-31T12:00:00|2026-01-31T12:00:00|None|C||mem=-1G")
            .contains("expected a list of TRES")
    );
    assert!(row("7|a|b").starts_with("jobs.csv:2: expected 9 columns as in the header, found 3"));
    let fifo = LogOptions { user: Some("Group".to_owned()), ..usual() };
    assert!(
        read(HEADER, &fifo)
            .unwrap_err()
            .contains("a header with the column Group, as sacct -aXP -o JobID,User")
    );
}

#[test]
fn accounting_of_other_versions_is_read() {
    let row = |needs: &str| {
        let text = format!(
            "{HEADER}7|ann|b|2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T12:00:09|C|{needs}\n"
        );
        read(&text, &usual()).map(|log| (log.resources.join(" "), log.demands[0].to_vec()))
    };
    // GPUs by their types only, which count once where both are said.
    let two = Ok(("cpu gpu".to_owned(), vec![units(1), units(5)]));
    assert_eq!(row("|cpu=1,gres/gpu:a100=4,gres/gpu:t4=1"), two);
    assert_eq!(row("|cpu=1,gres/gpu=5,gres/gpu:a100=4,gres/gpu:t4=1"), two);
    assert!(row("|cpu=1,gres/gpu:a100=many").unwrap_err().contains("expected a list of TRES"));
    // A name is not quoted, whatever it has in it.
    let text = "JobIDRaw|JobName|User|Submit|Start|End|AllocTRES\n\
                7|5\" pipe|ann|2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T12:00:09|cpu=1\n\
                8|x|ann|2026-01-31T12:00:00|2026-01-31T18:00:00|2026-01-31T18:00:00|\n";
    let log = read(text, &usual()).unwrap();
    assert_eq!(tasks(&log), [(NOON, 9 * S, "ann", vec![units(1)])]);
    // Cancelled while it waited.
    assert_eq!(said(&log.left_out), ["1 tasks that never ran"]);
    let bare = read("7|ann|2026-01-31T12:00:00\n", &usual()).unwrap_err();
    assert!(bare.contains("as sacct -aXP -o JobID,User,Submit,Start,End,AllocTRES prints it"), "{bare}");
}

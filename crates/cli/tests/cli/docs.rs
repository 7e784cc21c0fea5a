//! What the documents claim is what the command does. Whether their commands can be typed is another matter: `tests/documents`.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;

use serde_json::Value;
use trueplane_limit::policy::Nimble;
use trueplane_limit::{Limiter as _, Verdict};
use trueplane_units::{Bytes, Nanos};

use crate::common::{root, trueplane, trueplane_on};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("the document is there")
}

/// The traces of a page: what the comment above each says of it, and its lines.
fn worked_examples(page: &str) -> Vec<(String, String)> {
    let blocks = page.split("<!-- test: ").skip(1);
    let parse = |block: &str| {
        let (claim, rest) = block.split_once(" -->").expect("the comment ends");
        let trace = rest
            .split_once("```trace\n")
            .and_then(|(_, trace)| trace.split_once("```"))
            .expect("a trace follows")
            .0;
        (claim.to_owned(), trace.replace('.', ""))
    };
    blocks.map(parse).collect()
}

fn compare(trace: &str, flags: &str) -> Value {
    trueplane_on(
        trace.as_bytes(),
        &format!("cache compare - --format csv --header false --columns key=1 --json {flags}"),
    )
    .json()
}

/// The picture of README is that of its first command.
#[test]
fn the_picture_of_readme_is_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().display();
    let trace = root().join("examples/cdn-200k.csv.zst");
    let trace = trace.display();
    let ended = trueplane(&format!("cache compare {trace} --latency 100ms --capacity 5% --report {report}"));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let drawn = fs::read_to_string(folder.path().join("picture.svg")).expect("a picture");
    let path = root().join("docs/picture.svg");
    if std::env::var_os("GOLDEN").is_some_and(|how| how == "write") {
        fs::write(&path, &drawn).expect("it can be written");
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|picture| picture == drawn),
        "docs/picture.svg is old: run `make golden`"
    );
}

#[test]
fn the_worked_examples_come_out_as_by_hand() {
    let examples = worked_examples(&read("docs/concepts/cache.md"));
    let [(delayed, first), (beaten, second)] = &examples[..] else {
        panic!("two examples, not {}", examples.len())
    };

    assert_eq!(delayed, "lru, Z = 10, capacity 1");
    let document = compare(first, "--latency 10steps --capacity 1 --policies lru");
    let lru = &document["tables"]["policies"][0];
    assert_eq!([&lru["misses"], &lru["delayed_hits"], &lru["hits"]], [1, 2, 1]);
    let total = &document["tables"]["totals"][0]["latency_total_steps"];
    assert_eq!((total, lru["latency_mean_steps"].as_f64()), (&Value::from(20), Some(5.0)));
    assert_eq!(
        (lru["classical_hit_rate"].as_f64(), lru["classical_latency_mean_steps"].as_f64()),
        (Some(0.75), Some(2.5))
    );

    assert_eq!(beaten, "belady 15, belady-ad 12, Z = 3, capacity 2");
    let document = compare(second, "--latency 3steps --capacity 2 --policies belady,belady-ad");
    let total = |policy: usize| &document["tables"]["totals"][policy]["latency_total_steps"];
    assert_eq!([total(0), total(1)], [15, 12]);

    // In the findings the same trace has the optimum 12.
    let flags = "--format csv --header false --columns key=1 --latency 3steps --capacity 2 --gap 0% --iterations 5000 --json";
    let document = trueplane_on(second.as_bytes(), &format!("cache bound - {flags}")).json();
    let bound = |row: usize| &document["tables"]["bounds"][row]["latency_total_steps"];
    assert_eq!([bound(0), bound(1)], [12, 12]);
    let policies = document["tables"]["policies"].as_array().expect("all of them");
    let belady = policies.iter().find(|run| run["policy"] == "belady");
    assert_eq!(belady.expect("it is among them")["above_optimum"], 0.25);
}

/// The rows of the page's table of real traces: requests and objects, and wrong picks.
#[test]
fn real_traces_come_out_as_the_page_says() {
    let page = read("docs/findings/cache.md");
    for (file, row) in
        [("OLTP.lis", "OLTP"), ("cloudphysics.csv", "CloudPhysics"), ("burst_250K.csv", "bursty Zipf")]
    {
        let path = format!("../shared/data/cache/{file}.zst");
        if !root().join(&path).exists() {
            // Past the test harness, which keeps back what the macros print.
            let _ = writeln!(std::io::stderr(), "skipped: no {path}");
            continue;
        }
        let row = page.lines().find(|line| line.starts_with(&format!("| {row}"))).expect("the row is there");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let flags = "--time slotted --latency 100steps,1000steps,10000steps --capacity 1%,5%,10%";
        let document = trueplane(&format!("cache compare {path} {flags} --json")).json();
        let facts = &document["facts"];
        assert_eq!(
            format!("{} / {}", facts["requests"], facts["objects"]),
            cells[2].replace(',', ""),
            "{file}"
        );
        let said = document["verdict"].to_string();
        assert!(said.contains(&format!("picks the wrong policy at {} points", cells[3])), "{said}");
        let gap = cells[5].split(" (").next().expect("an error");
        assert!(said.contains(&format!("is {gap}.")), "{said}");
    }
}

#[test]
fn the_bundled_trace_is_what_the_generator_makes() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let path = folder.path().join("again.csv.zst");
    let flags = "cache generate --profile cdn --irt 10us --requests 200K --seed 7 --out";
    let ended = trueplane(&format!("{flags} {}", path.display()));
    assert_eq!((ended.status, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    let bundled = fs::read(root().join("examples/cdn-200k.csv.zst")).expect("it is bundled");
    assert!(fs::read(&path).expect("it was written") == bundled, "examples/cdn-200k.csv.zst is out of date");
}

/// What follows the comment `<!-- test: NAME -->` of a page.
fn claim<'a>(page: &'a str, name: &str) -> &'a str {
    page.split_once(&format!("<!-- test: {name} -->\n")).expect("the page claims it").1
}

/// The cells of the first table of `text`, below its head.
fn rows(text: &str) -> Vec<Vec<String>> {
    let lines =
        text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().trim_matches('`').replace(',', "")).collect()
    };
    lines.skip(2).map(cells).collect()
}

#[test]
fn the_bucket_of_the_worked_example_fills_and_drains_as_by_hand() {
    let page = read("docs/concepts/limit.md");
    let rows = rows(claim(&page, "1Gbps, burst 3000 B, mark 2048 B, packets of 1500 B"));
    let rate = "1Gbps".parse().expect("a rate");
    let mut limiter = Nimble::new(rate, Bytes(3000), Some(Bytes(2048))).expect("it can be configured");
    for row in &rows {
        let [at, before, drained, after, verdict, stored] = &row[..] else { panic!("six cells: {row:?}") };
        let number = |cell: &str| cell.parse::<u64>().expect("a number");
        assert_eq!(limiter.occupancy(), Bytes(number(before)), "{row:?}");
        assert_eq!((number(before) + 1500).saturating_sub(number(drained)), number(after), "{row:?}");
        let quanta = |ticks: u64| ticks >> limiter.rate.quantum();
        let passed = quanta(number(at) / 16) - quanta(limiter.last_ticks.into());
        assert_eq!(passed * u64::from(limiter.rate.mantissa()) / 64, number(drained), "{row:?}");
        let found = limiter.offer(1500, Nanos(number(at)));
        let named = [("pass", Verdict::Pass), ("mark", Verdict::Mark), ("drop", Verdict::Drop)];
        assert!(named.contains(&(verdict.as_str(), found)), "{row:?}: {found:?}");
        assert_eq!(limiter.occupancy(), Bytes(number(stored)), "{row:?}");
    }
    let verdicts: Vec<&str> = rows.iter().map(|row| row[4].as_str()).collect();
    assert_eq!(verdicts, ["pass", "pass", "drop", "mark", "pass"]);
}

#[test]
fn tables_to_drain_by_are_as_large_and_as_exact_as_the_page_says() {
    let rows = rows(claim(&read("docs/findings/limit.md"), "drain tables"));
    let sizes = trueplane("limit size --json").json();
    let verdict = trueplane("limit precision --policies nimble").stdout;
    let [exact, tables @ ..] = &rows[..] else { panic!("no rows") };
    assert!(verdict.contains(&format!("lets through is within {} of", exact[3])), "{verdict}");
    assert_eq!(tables.len(), 4);
    for (row, size) in tables.iter().zip(sizes["tables"]["drain-tables"].as_array().expect("a list")) {
        assert_eq!([&row[1], &row[2]], [&size["ranges"].to_string(), &size["prefixes"].to_string()]);
        assert!(verdict.contains(&format!("{} ({})", row[3], row[0])), "{row:?}: {verdict}");
    }
}

/// The classes of the page, on the capture that it names.
#[test]
fn a_real_capture_comes_out_as_the_page_says() {
    let path = "../shared/data/packets/netflix.pcap";
    if !root().join(path).exists() {
        // Past the test harness, which keeps back what the macros print.
        let _ = writeln!(std::io::stderr(), "skipped: no {path}");
        return;
    }
    let page = read("docs/findings/limit.md");
    let (classes, rest) = claim(&page, "netflix.pcap")
        .strip_prefix("```toml\n")
        .and_then(|block| block.split_once("```"))
        .expect("the classes follow");
    let document =
        trueplane_on(classes.as_bytes(), &format!("limit replay {path} --classes - --json")).json();
    let (packets, policy) = (&document["facts"]["arrived_packets"], &document["parameters"]["policy"]);
    assert_eq!((packets, policy), (&1793.into(), &"nimble".into()));
    let percent = |value: &Value| format!("{:.1}%", value.as_f64().expect("a number") * 100.0);
    let rows_of = |table: &str| document["tables"][table].as_array().expect("a list")[..3].to_vec();
    let found: Vec<Vec<String>> = (rows_of("fairness").iter().zip(rows_of("classes")))
        .map(|(shares, class)| {
            vec![
                class["class"].as_str().expect("a name").to_owned(),
                shares["flows"].to_string(),
                percent(&shares["share_by_flows"]),
                percent(&shares["share_offered"]),
                class["arrived_packets"].to_string(),
                class["dropped_packets"].to_string(),
                percent(&class["drop_share"]),
                percent(&shares["share_admitted"]),
            ]
        })
        .collect();
    assert_eq!(rows(rest), found);
}

/// The classes that the pages show are read.
#[test]
fn classes_files_of_the_pages_are_read() {
    let guide = read("docs/guides/limit-a-tenant.md");
    let files: Vec<&str> =
        guide.split("<<'TOML'\n").skip(1).filter_map(|rest| rest.split("TOML\n").next()).collect();
    assert_eq!(files.len(), 2);
    for text in files {
        let classes = trueplane_limit::classes::Classes::parse("guide", text);
        assert!(classes.is_ok(), "{classes:?}");
    }
}

/// What `trueplane COMMAND --json` prints, run once for every command.
#[derive(Default)]
struct Documents(HashMap<String, Value>);

impl Documents {
    fn of(&mut self, command: &str) -> &Value {
        let run = || trueplane(&format!("{command} --json")).json();
        self.0.entry(command.to_owned()).or_insert_with(run)
    }

    /// The cell of a row and a column of a table of inversions.
    ///
    /// A row is a value of what the command varies, or `eq. 5` for what that expects at the base. A column is `A` (the share of A's
    /// departures that are inversions), `A / B`, `A over B` (by how much A has more), or `A unpifoness`, and may end in `at LOAD`.
    fn cell(&mut self, command: &str, row: &str, column: &str) -> String {
        let (what, command) = match column.split_once(" at ") {
            Some((what, load)) => (what, format!("{command} --load {load}")),
            None => (column, command.to_owned()),
        };
        let document = self.of(&command);
        let is_row = |value: &Value| {
            let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            name.split(':').next() == Some(row)
        };
        let table = |id: &str| document["tables"][id].as_array().cloned().unwrap_or_default();
        let here: Vec<Value> =
            table("variations").into_iter().filter(|variation| is_row(&variation["value"])).collect();
        let is_base = document["facts"].as_object().expect("facts").values().any(is_row);
        assert!(is_base || !here.is_empty() || row == "eq. 5", "{command}: no {row}");
        // What a variation leaves out is as at the base.
        let runs: Vec<Value> = here.into_iter().chain(table("schedulers")).collect();
        let number = |scheduler: &str, field: &str| {
            let run = runs.iter().find(|run| run["scheduler"] == scheduler);
            run.and_then(|run| run[field].as_f64()).unwrap_or_else(|| panic!("{field} of {scheduler}"))
        };
        let inversions = |scheduler| number(scheduler, "inversions");
        match what.split(' ').collect::<Vec<_>>()[..] {
            [one] => format!("{:.1}%", number(one, "inversion_share") * 100.0),
            [one, "/", other] => format!("{:.2}", inversions(one) / inversions(other)),
            [one, "over", other] => {
                let more = (inversions(one) / inversions(other) - 1.0) * 100.0;
                format!("{more:+.0}%").replace('-', "−")
            }
            [one, "unpifoness"] if row == "eq. 5" => format!("{:.2}", number(one, "expected_unpifoness")),
            [one, "unpifoness"] => format!("{:.2}", number(one, "unpifoness_mean")),
            _ => panic!("not a column: {column}"),
        }
    }
}

/// Every table of inversions of the page, from the command that it names.
#[test]
fn packets_leave_in_the_order_that_the_page_says() {
    let page = read("docs/findings/sched.md");
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut documents = Documents::default();
    let mut cells = 0;
    for table in page.split("<!-- test: sched inversions").skip(1) {
        let (flags, table) = table.split_once(" -->\n").expect("the comment ends");
        let command = format!("sched inversions{flags}");
        assert!(words.contains(&format!("`trueplane {command}")), "the page does not name {command}");
        let head = table.lines().next().expect("a head").replace('`', "");
        let columns: Vec<&str> = head.trim_matches('|').split('|').map(str::trim).skip(1).collect();
        for row in rows(table) {
            let cell = |(column, shown): (&&str, &String)| match *column {
                // What the paper has, no command tells.
                "in the paper" => shown.clone(),
                column => documents.cell(&command, &row[0], column),
            };
            let found: Vec<String> = columns.iter().zip(&row[1..]).map(cell).collect();
            assert_eq!(row[1..], found, "{command}: {}", row[0]);
            cells += found.len();
        }
    }
    assert!(cells > 100, "{cells}");
}

#[test]
fn packets_are_dropped_as_the_page_says() {
    let page = read("docs/findings/sched.md");
    let document = trueplane("sched inversions --load 1.1 --packets 300K --json").json();
    let rows = rows(claim(&page, "drops at a load of 1.1"));
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let rows_of = |id: &str| -> Vec<Value> {
            let rows = document["tables"][id].as_array().expect("a list").iter();
            rows.filter(|run| run["scheduler"] == row[0].as_str()).cloned().collect()
        };
        let run = &rows_of("schedulers")[0];
        let ranks = rows_of("by-rank");
        assert_eq!(ranks.len(), 100);
        // A rank that never leaves has no mean delay; it weighs nothing.
        let number = |of: &Value, field: &str| {
            of[field].as_f64().or(of[field].is_null().then_some(0.0)).expect("a number")
        };
        let share = |half: &[Value]| {
            let sum = |field| half.iter().map(|rank| number(rank, field)).sum::<f64>();
            format!("{:.1}%", sum("drops") / sum("arrivals") * 100.0)
        };
        let delay = |half: &[Value]| {
            let departures = half.iter().map(|rank| number(rank, "departures"));
            let delays = half.iter().map(|rank| number(rank, "mean_delay_ns") * number(rank, "departures"));
            format!("{:.1}", delays.sum::<f64>() / departures.sum::<f64>() / 1e3)
        };
        let (low, high) = ranks.split_at(50);
        let dropped = format!("{:.1}%", number(run, "drop_share") * 100.0);
        assert_eq!(row[1..], [dropped, share(low), share(high), delay(low), delay(high)], "{row:?}");
    }
}

#[test]
fn the_newest_flow_gets_what_the_page_says() {
    let rows = rows(claim(&read("docs/findings/sched.md"), "sched bandwidth"));
    let document = trueplane("sched bandwidth --json").json();
    let flows = document["tables"]["bandwidth-sp-pifo-arrivals"].as_array().expect("a list");
    assert_eq!(flows.len(), rows.len());
    for (started, (row, flow)) in rows.iter().zip(flows).enumerate() {
        let rate = |step: usize| {
            let rate = flow[format!("step_{step}_bps")].as_f64();
            assert_eq!(rate.is_none(), step <= started);
            rate.map_or_else(String::new, |rate| format!("{:.1}", rate / 1e9))
        };
        let rates = (1..=rows.len()).map(rate);
        let found: Vec<String> =
            [(started + 1).to_string(), flow["rank"].to_string()].into_iter().chain(rates).collect();
        assert_eq!(*row, found);
    }
}

/// Three packets every ten microseconds, a long time.
fn three_packets() -> String {
    let periods = std::iter::repeat_n("750,a,2000\n500,b,3000\n250,c,4000\n", 4000);
    std::iter::once("packet_bytes,flow,job_ns\n").chain(periods).collect()
}

#[test]
fn the_attacks_of_the_worked_example_do_as_by_hand() {
    let rows = rows(claim(&read("docs/concepts/surge.md"), "three packets in ten microseconds"));
    let document = trueplane_on(
        three_packets().as_bytes(),
        "surge compare trace:- --innocent 1.2Gbps --attack-rate 100Mbps --smallest-packet 500bit --largest-job 10us \
         --policies fcfs,sjf,wsjf --json",
    )
    .json();
    assert_eq!(rows.len(), 3);
    for (row, found) in rows.iter().zip(document["tables"]["rows"].as_array().expect("a list")) {
        let number = |field: &str| found[field].as_f64().expect("a number");
        let (job, bits) = (number("attack_job_ns"), number("attack_packet_bits"));
        let ratio = job / bits * 500.0;
        assert_eq!(row[0], found["policy"]);
        assert_eq!(row[2], format!("{:.0} µs", ratio / 1e3), "{found}");
        assert_eq!(row[3], format!("{:.2} Gbit/s", number("goodput_bps") / 1e9), "{found}");
        assert_eq!(
            [&row[4], &row[4]],
            [&format!("{:.2}", number("displacement_factor")), &format!("{:.2}", number("theory"))]
        );
    }
}

#[test]
fn attacks_displace_what_the_page_says() {
    let page = read("docs/findings/surge.md");
    let mut tables = 0;
    for table in page.split("<!-- test: surge compare").skip(1) {
        let (flags, table) = table.split_once(" -->\n").expect("the comment ends");
        let document = trueplane(&format!("surge compare{flags} --json")).json();
        let worst = document["tables"]["worst"].as_array().expect("a list");
        let rows = rows(table);
        assert_eq!(rows.len(), worst.len());
        for (row, worst) in rows.iter().zip(worst) {
            let cell =
                |field: &str| worst[field].as_f64().map_or("–".to_owned(), |number| format!("{number:.2}"));
            assert_eq!(row[0], worst["policy"]);
            assert_eq!(
                row[1..4],
                [cell("displacement_factor"), cell("theory"), cell("bound")],
                "{flags}: {row:?}"
            );
        }
        tables += 1;
    }
    assert_eq!(tables, 2);
}

#[test]
fn the_one_processor_of_the_guide_is_shared_as_by_hand() {
    let rows = rows(claim(&read("docs/guides/fair-to-small-users.md"), "one processor"));
    let jobs = "submit,duration,user,cpu\n0,8,A,1\n1,2,A,1\n2,2,A,1\n3,2,B,1\n4,2,B,1\n";
    let flags = "fair recommend - --capacity cpu=1 --half-life 1h --policies sdrf --json";
    let document = trueplane_on(jobs.as_bytes(), flags).json();
    let tenants = document["tables"]["tenants"].as_array().expect("a list");
    assert_eq!(rows.len(), 2);
    for row in rows {
        let policy = row[0].trim_matches('`');
        let wait = |name: &str| {
            let of = |tenant: &&Value| tenant["user"] == name && tenant["policy"] == policy;
            let nanos = tenants.iter().find(of).expect("it is there")["wait_mean_ns"].as_f64();
            let tenths = (nanos.expect("a number") / 1e8).round() as u64;
            if tenths.is_multiple_of(10) {
                format!("{} s", tenths / 10)
            } else {
                format!("{}.{} s", tenths / 10, tenths % 10)
            }
        };
        assert_eq!(row[2..4], [wait("A"), wait("B")]);
    }
}

#[test]
fn the_four_machines_of_the_worked_example_run_as_by_hand() {
    let rows = rows(claim(&read("docs/concepts/fair.md"), "four machines"));
    let mut jobs = "user,submit,duration,machines\n".to_owned();
    (0..16).for_each(|_| jobs.push_str("A,0,3600,1\n"));
    (0..3).for_each(|_| jobs.push_str("B,7200,3600,1\n"));
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(rows.len(), 2);
    for row in rows {
        let file = folder.path().join(&row[0]);
        let flags = format!(
            "fair simulate - --capacity machines=4 --half-life 1h --policies {} --schedule {} --json",
            row[0],
            file.display()
        );
        let document = trueplane_on(jobs.as_bytes(), &flags).json();
        let users = document["tables"]["users"].as_array().expect("a list");
        let wait = |name: &str| {
            let user = users.iter().find(|user| user["user"] == name).expect("the user is there");
            format!("{:.0} s", user["wait_mean_ns"].as_f64().expect("a number") / 1e9)
        };
        assert_eq!(row[1..3], [wait("A"), wait("B")]);
        let schedule = fs::read_to_string(&file).expect("it was written");
        let mut lines = schedule.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().expect("a header");
        let place =
            |name: &str| header.iter().position(|column| *column == name).expect("the column is there");
        let (user, finish) = (place("user"), place("finish_ns"));
        let last = lines
            .filter(|line| line[user] == "B")
            .map(|line| line[finish].parse::<u64>().expect("a time"))
            .max();
        assert_eq!(row[3], format!("{} s", last.expect("B ran") / 1_000_000_000));
    }
}

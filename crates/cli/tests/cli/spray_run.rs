//! `trueplane spray run`, `show`, `backend` and `steer` as their users run them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use trueplane_linux::testnet;
use trueplane_linux::testnet::{Probe, Requirement, Spliced, Transport};

use crate::common::{Ended, root, trueplane};

/// What would run, but for what is wrong with it; nobody has such interfaces.
const BASE: &str = "spray run --nf monitor --in tp-none0 --out tp-none1 --cores 0";

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    for (flags, said) in [
        ("--nf monitor --in lo --out lo --cores 0", "expected two interfaces, got lo twice"),
        ("--nf monitor --in lo@a --out lo@a --cores 0", "expected two interfaces, got lo@a twice"),
        ("--nf dpi --in lo --out lo@b --cores 0,1", "dpi cannot be run with spray: "),
        ("--nf dpi --in lo --out lo@b --cores 0,1 --policy adaptive", "dpi cannot be run with adaptive: "),
        ("--nf proxy --in lo --out lo@b --cores 0", "expected one of nat, firewall, balancer"),
        ("--nf monitor --in ../lo --out lo --cores 0", "expected a network device such as eth0"),
        ("--nf monitor --in lo --cores 0", "--out <IFACE>"),
        ("--nf monitor --in lo --out lo@b", "--cores <LIST>"),
    ] {
        let ended = trueplane(&format!("spray run {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
    for (flags, said) in [
        ("--backend dpdk", "expected one of packet, xdp, got \"dpdk\""),
        (
            "--policy flowlet",
            "expected one of rss, rss:default, spray, round-robin, subset:K, adaptive, rss++, got \"flowlet\"",
        ),
        ("--ring 32", "--ring <N>: expected 64 to 65536, got \"32\""),
        ("--public 192.0.2.1", "--public is for --nf nat, got --nf monitor"),
        ("--ring 1000", "--ring: expected a power of two such as 2048, got 1000"),
        ("--flows 100M", "--flows <N>: expected 1 to 67108864, got \"100M\""),
        ("--cycles 11M", "expected 0 to 10000000, got \"11M\""),
        ("--duration 0s", "expected a time above zero"),
        ("--metrics 9479", "got \"9479\""),
        ("--inside 10.0.0.0/33", "--inside <PREFIX>: expected an address or a prefix"),
        ("--ports 90-80", "got \"90-80\""),
    ] {
        let ended = trueplane(&format!("{BASE} {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn processors_are_checked() {
    for (list, said) in [
        ("a", "expected processors such as 0,1 or 0-3, got \"a\""),
        ("0,", "expected processors such as 0,1 or 0-3, got \"0,\""),
        ("0,0", "expected each processor once, got 0 twice"),
        ("3-1", "expected 1 to 128 processors, got 0"),
        ("0-200", "expected 1 to 128 processors, got 201"),
        ("5000", "expected processors such as"),
    ] {
        let ended = trueplane(&format!("spray run --nf monitor --in tp-none0 --out tp-none1 --cores {list}"));
        assert!(ended.refusal().contains(said), "{list}: {}", ended.stderr);
    }
}

#[test]
fn files_are_read_before_anything_is_touched() {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it can be written");
        path.display().to_string()
    };
    let (rules, backends) = (file("rules", "default deny\nalow tcp\n"), file("backends", "10.0.0.1\nten\n"));
    for (flags, said) in [
        (
            "--nf firewall --rules none.txt".to_owned(),
            "error: none.txt: No such file or directory".to_owned(),
        ),
        (
            format!("--nf firewall --rules {rules}"),
            format!("{rules}:2: expected allow, deny or default, got \"alow\""),
        ),
        (
            "--nf balancer --backends none.txt".to_owned(),
            "error: none.txt: No such file or directory".to_owned(),
        ),
        (format!("--nf balancer --backends {backends}"), format!("{backends}:2: expected ")),
    ] {
        let ended = trueplane(&format!("spray run --in tp-none0 --out tp-none1 --cores 0 {flags}"));
        assert!(ended.refusal().contains(&said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn interfaces_have_to_be_there() {
    let Some(()) = testnet::start(&[Requirement::Bpf], || Ok(())) else { return };
    for backend in ["packet", "xdp"] {
        let ended = trueplane(&format!("{BASE} --backend {backend}"));
        assert!(ended.refusal().ends_with("there is no network device tp-none0"), "{}", ended.stderr);
    }
    let ended = trueplane("spray run --nf monitor --in lo@tp-nowhere --out lo --cores 0");
    assert!(ended.refusal().contains("there is no network namespace tp-nowhere"), "{}", ended.stderr);
}

#[test]
fn rules_for_cards_are_printed() {
    let ended = trueplane("spray steer --cores 4 --dev eth0");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
    for (flags, said) in [
        ("--cores 0 --dev eth0", "expected 1 to 128, got \"0\""),
        ("--cores 129 --dev eth0", "expected 1 to 128, got \"129\""),
        (
            "--cores 4 --dev eth0 --policy adaptive",
            "expected one of rss, rss:default, spray, got \"adaptive\"",
        ),
        ("--cores 4 --dev eth0;reboot", "expected a network device such as eth0"),
        ("--cores 4", "--dev <IFACE>"),
    ] {
        let ended = trueplane(&format!("spray steer {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
    let ended = trueplane("spray steer --cores 3 --dev eth0 --policy rss:default");
    assert!(ended.status == 0 && !ended.stdout.contains("hkey"), "{}", ended.stdout);
}

/// The command where no function runs: with a `/run` of its own, since others may run some on this machine.
fn where_none_runs(arguments: &str) -> Option<Ended> {
    let script = "mount -t tmpfs none /run || exit 77; exec \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_trueplane")]);
    let output = command.args(arguments.split_whitespace()).current_dir(root()).output().ok()?;
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    let (status, stdout, stderr) = (output.status.code()?, text(output.stdout), text(output.stderr));
    if status == 77 || stderr.starts_with("unshare: ") {
        let _ = writeln!(std::io::stderr().lock(), "skipped: mounts of its own: {}", stderr.trim_end());
        return None;
    }
    Some(Ended { status, stdout, stderr })
}

#[test]
fn where_no_function_runs_one_line_says_so() {
    for verb in ["show", "show --json", "backend 10.0.0.11:80 down", "show --process 1"] {
        let Some(ended) = where_none_runs(&format!("spray {verb}")) else { return };
        let line = "error: no function runs; start one with `trueplane spray run`";
        assert_eq!(ended.refusal(), line, "{verb}");
    }
}

#[test]
fn a_process_that_runs_none_is_refused() {
    let process = std::process::id();
    for verb in ["show", "backend 10.0.0.11:80 down"] {
        let ended = trueplane(&format!("spray {verb} --process {process}"));
        assert!(ended.refusal().starts_with("error: no function runs"), "{}", ended.stderr);
    }
    for (flags, said) in [
        ("backend 10.0.0.11 down", "got \"10.0.0.11\""),
        ("backend 10.0.0.11:80 off", "expected one of up, down, got \"off\""),
        ("show --process x", "got \"x\""),
    ] {
        let ended = trueplane(&format!("spray {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

/// A function that runs between two hosts; killed with the test, if that fails.
struct Started {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Who asks it reads this.
    begun: String,
}

impl Started {
    /// With these flags besides the interfaces. When this returns, it runs.
    fn new(net: &Spliced, flags: &str) -> Self {
        let ns = net.middle.name();
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueplane"));
        let ends = format!("--in {}@{ns} --out {}@{ns} --cores 0", Spliced::INNER, Spliced::OUTER);
        command.args(["spray", "run"]).args(ends.split_whitespace()).args(flags.split_whitespace());
        command.current_dir(root()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it was built");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut begun = String::new();
        while !begun.ends_with("Ctrl-C ends it.\n") {
            if stdout.read_line(&mut begun).expect("it is text") == 0 {
                let ended = child.wait_with_output().expect("it ends");
                panic!("{flags}: {}", String::from_utf8_lossy(&ended.stderr));
            }
        }
        Self { child, stdout, begun }
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(status.expect("kill is there").success());
    }

    /// A verb about this process.
    fn ask(&self, verb: &str) -> Ended {
        trueplane(&format!("spray {verb} --process {}", self.child.id()))
    }

    /// Ctrl-C; what it has printed since it began.
    fn end(mut self) -> Ended {
        self.signal("-INT");
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).expect("it is text");
        let mut pipe = self.child.stderr.take().expect("it is piped");
        pipe.read_to_string(&mut stderr).expect("it is text");
        let status = self.child.wait().expect("it ends");
        Ended { status: status.code().expect("it was not killed"), stdout, stderr }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn network() -> Option<Spliced> {
    testnet::start(&[Requirement::Bpf, Requirement::Ethtool], Spliced::new)
}

/// Questions of the left host that the right one answers within a second.
fn answered(net: &Spliced) -> u64 {
    let (duration, gap) = (Duration::from_millis(100), Duration::from_millis(10));
    let report = Probe { transport: Transport::Udp, duration, gap }.run(&net.left, &net.right);
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    assert!(report.sent > 0);
    report.sent - report.lost
}

#[test]
fn a_firewall_runs_is_shown_is_told_other_rules_and_ends() {
    let Some(net) = network() else { return };
    for backend in ["packet", "xdp"] {
        let folder = tempfile::tempdir().expect("a folder is to be had");
        let rules = folder.path().join("rules");
        fs::write(&rules, "default allow\n").expect("it can be written");
        let run =
            Started::new(&net, &format!("--nf firewall --backend {backend} --rules {}", rules.display()));
        let process = run.child.id();
        assert!(run.begun.starts_with(&format!("{process}: firewall between inner@")), "{}", run.begun);
        assert!(run.begun.contains(&format!("on processors 0, spray, {backend}; ")), "{}", run.begun);
        assert!(answered(&net) > 0, "{backend}");

        let told = || run.ask("show --json").json();
        let document = told();
        let [found] = &document["tables"]["runs"].as_array().expect("a list")[..] else {
            panic!("{document}")
        };
        assert_eq!((&found["process"], &found["function"]), (&process.into(), &"firewall".into()));
        assert_eq!((&found["dispatch"], &found["backend"]), (&"spray".into(), &backend.into()));
        assert_eq!(document["tables"]["cores"].as_array().map(Vec::len), Some(1));
        assert_eq!(document["warnings"], serde_json::json!([]));
        let text = run.ask("show").stdout;
        assert!(text.contains(&format!("{process}: firewall between inner@")), "{text}");
        let ns = net.middle.name();
        let second = trueplane(&format!("spray run --nf monitor --in lo@{ns} --out inner@{ns} --cores 0"));
        let taken = format!("error: inner@{ns} has a function: process {process} runs firewall on it");
        assert_eq!(second.refusal(), taken);
        let refused = run.ask("backend 10.0.0.11:80 down");
        assert_eq!(refused.refusal(), "error: firewall has no backends; the balancer has");

        let reloads = || told()["tables"]["runs"][0]["reloads"].as_u64().expect("a count");
        assert_eq!(reloads(), 0);
        // The old rules stay; the error comes on stderr, which is read at the end.
        fs::write(&rules, "default allow\ndefault maybe\n").expect("it can be written");
        run.signal("-HUP");
        // Between two answers it looks for signals.
        assert_eq!([reloads(), reloads()], [0, 0]);
        assert!(answered(&net) > 0, "{backend}");
        fs::write(&rules, "default deny\n").expect("it can be written");
        run.signal("-HUP");
        let mut looks = 0;
        while reloads() == 0 {
            looks += 1;
            assert!(looks < 500, "{backend}: it does not read its rules again");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(answered(&net), 0, "{backend}");
        let ended = run.end();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let lines: Vec<&str> = ended.stderr.lines().collect();
        let [bad, "reloaded"] = lines[..] else { panic!("{}", ended.stderr) };
        assert!(bad.starts_with("error: not reloaded: ") && bad.contains("rules:2: expected "), "{bad}");
        let [totals] = ended.stdout.lines().collect::<Vec<_>>()[..] else { panic!("{}", ended.stdout) };
        assert!(totals.contains(" received, ") && totals.contains(" 0 lost in the kernel; "), "{totals}");
        let gone = trueplane(&format!("spray show --process {process}"));
        assert!(gone.refusal().starts_with("error: no function runs"), "{}", gone.stderr);
    }
}

/// A request over HTTP and its whole answer.
fn http(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time above zero");
    write!(stream, "{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn a_balancer_is_scraped_and_its_backends_are_taken_out() {
    let Some(net) = network() else { return };
    let run = Started::new(&net, "--nf balancer --metrics 127.0.0.1:0");
    let address =
        run.begun.lines().find_map(|line| line.strip_prefix("Serving http://")?.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{}", run.begun)).to_owned();
    let taken = trueplane(&format!("{BASE} --metrics {address}"));
    assert_eq!(taken.status, 1);
    let said = "Address already in use; name another address with --metrics";
    assert_eq!(taken.stderr, format!("error: cannot listen on {address}: {said}\n"));

    let answer = http(&address, "GET /metrics");
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.trim_end().ends_with("# EOF"), "{answer}");
    for name in [
        "packets_total{cpu=\"0\",outcome=\"forwarded\"}",
        "flows{cpu=\"0\"}",
        "busy_seconds_total{cpu=\"0\"}",
    ] {
        assert!(answer.contains(&format!("\ntrueplane_spray_{name} ")), "{name}: {answer}");
    }
    let done = run.ask("backend 10.0.0.12:80 down");
    assert_eq!((done.status, done.stdout.as_str(), done.stderr.as_str()), (0, "10.0.0.12:80 down\n", ""));
    // Whoever may read the counters may not change anything.
    for request in ["PUT /backends/10.0.0.11:80/down", "POST /metrics", "PUT /metrics", "DELETE /metrics"] {
        let answer = http(&address, request);
        assert!(answer.starts_with("HTTP/1.1 40"), "{request}: {answer}");
    }
    let refused = run.ask("backend 10.0.0.99:80 down");
    let known = "10.0.0.11:80, 10.0.0.12:80, 10.0.0.13:80, 10.0.0.14:80";
    assert_eq!(refused.refusal(), format!("error: expected one of the backends ({known}), got 10.0.0.99:80"));
    // Health is another configuration, too; nothing else was changed.
    assert_eq!(run.ask("show --json").json()["tables"]["runs"][0]["reloads"], 1);
    let ended = run.end();
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
}

#[test]
fn it_ends_by_itself_after_its_time() {
    let Some(net) = network() else { return };
    let mut started = Started::new(&net, "--nf monitor --duration 200ms");
    let mut stdout = String::new();
    started.stdout.read_to_string(&mut stdout).expect("it is text");
    assert!(started.child.wait().expect("it ends").success());
    assert!(stdout.contains(" received, ") && stdout.lines().count() == 1, "{stdout}");
}

/// Waits for the end of what should end by itself; its status and what it said on stderr.
fn ended(run: &mut Started) -> (Option<i32>, String) {
    for _ in 0..1000 {
        if let Some(status) = run.child.try_wait().expect("it is ours") {
            let mut stderr = String::new();
            let mut pipe = run.child.stderr.take().expect("it is piped");
            pipe.read_to_string(&mut stderr).expect("it is text");
            return (status.code(), stderr);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it goes on");
}

#[test]
fn it_ends_when_an_interface_is_gone() {
    for backend in ["packet", "xdp"] {
        let Some(net) = network() else { return };
        let ns = net.middle.name();
        let mut run = Started::new(&net, &format!("--nf monitor --backend {backend}"));
        net.middle.ip(&["link", "del", "outer"]).expect("it is there");
        let line =
            format!("error: outer@{ns} is gone: it was removed, or moved to another network namespace\n");
        assert_eq!(ended(&mut run), (Some(1), line), "{backend}");
        let process = run.child.id();
        let gone = trueplane(&format!("spray show --process {process}"));
        assert!(gone.refusal().starts_with("error: no function runs"), "{}", gone.stderr);
    }
}

#[test]
fn who_asks_slowly_keeps_nobody_waiting() {
    let Some(net) = network() else { return };
    let run = Started::new(&net, "--nf monitor");
    let path = format!("/run/trueplane/spray/{}.sock", run.child.id());
    let slow: Vec<_> = (0..4).map(|_| UnixStream::connect(&path).expect("it listens")).collect();
    let drip = std::thread::spawn(move || {
        for _ in 0..250 {
            // Whoever is too slow is sent away.
            if slow.iter().all(|mut stream| stream.write_all(b"x").is_err()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
        panic!("a request may take for ever");
    });
    for _ in 0..10 {
        let shown = run.ask("show");
        assert_eq!((shown.status, shown.stderr.as_str()), (0, ""));
    }
    drip.join().expect("it is ended");
    assert_eq!(run.end().status, 0);
}

#[test]
fn files_that_are_none_any_more_are_not_read_again() {
    let Some(net) = network() else { return };
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let rules = folder.path().join("rules");
    fs::write(&rules, "default allow\n").expect("it can be written");
    let run = Started::new(&net, &format!("--nf firewall --rules {}", rules.display()));
    fs::remove_file(&rules).expect("it is there");
    assert!(Command::new("mkfifo").arg(&rules).status().expect("coreutils are there").success());
    run.signal("-HUP");
    // It goes on, by the old rules.
    assert_eq!(run.ask("show --json").json()["tables"]["runs"][0]["reloads"], 0);
    assert!(answered(&net) > 0);
    let ended = run.end();
    let line = format!("error: not reloaded: {}: expected a regular file, found a pipe\n", rules.display());
    assert_eq!((ended.status, ended.stderr), (0, line));
}

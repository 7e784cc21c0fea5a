//! `trueplane limit …` as its users run it: the verbs that limit real packets.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::{Ended, root, trueplane};
use crate::limit_net::{Net, command, end};

/// Ctrl-C.
fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("kill is there").success());
}

fn classes_of(document: &Value) -> &[Value] {
    document["tables"]["classes"].as_array().expect("a list")
}

#[test]
fn limits_are_rehearsed_attached_shown_set_and_detached() {
    let Some(net) = Net::new() else { return };
    let device = format!("tp0@{}", net.pair.left.ns.name());
    let none = format!("{device} has no limits");
    for verb in ["show", "detach", "set left rate=1Gbps"] {
        assert!(net.run(verb).refusal().ends_with(&none), "{verb}");
    }
    let text = net.done("attach --dry-run");
    assert!(text.contains("Nothing was attached") && text.contains("TCP shares the link fairly"), "{text}");
    assert!(net.run("show").refusal().ends_with(&none));

    let text = net.done("attach");
    assert!(text.contains(&format!("Attached. 2 limiters in 32B on {device}.")), "{text}");
    assert!(net.run("attach").refusal().contains("has limits already; --force replaces them"));
    assert!(net.run("attach --dry-run").refusal().contains("already"));
    net.send(20);
    // The idle time before the first drains it, and ten more fill the bucket; XDP does not mark.
    let document = shown(&net, 20);
    let right = &classes_of(&document)[1];
    let found = ["passed_packets", "marked_packets", "dropped_packets"].map(|name| &right[name]);
    assert_eq!(found, [&Value::from(11), &0.into(), &9.into()]);
    assert_eq!(document["tables"]["bytes"][1]["dropped_bytes"], 9 * 1042);
    assert_eq!(
        (&right["class"], &right["limiters"], &right["burst_bytes"]),
        (&"right".into(), &1.into(), &10_450.into())
    );
    assert_eq!(
        (&document["study"], &document["facts"]["device"], &document["facts"]["mode"]),
        (&"limit.show".into(), &device.clone().into(), &"xdp".into())
    );
    let text = net.done("show");
    assert!(
        text.contains("20 packets arrived, 45.0% of their bytes were dropped") && text.contains("(no class)"),
        "{text}"
    );

    let text = net.done("set right burst=20kB mark=never");
    assert_eq!(text, format!("{device}: changed 1 limiter: right burst=20kB mark=never\n"));
    net.send(20);
    // 20000 bytes are room for nine more.
    let document = shown(&net, 40);
    let right = &classes_of(&document)[1];
    assert_eq!((&right["passed_packets"], &right["mark_bytes"]), (&20.into(), &Value::Null));

    // By tc the same limiters go on, and mark who speaks ECN; these do not.
    net.done("attach --force --mode tc");
    net.send(5);
    assert_eq!(classes_of(&shown(&net, 5))[1]["dropped_packets"], 5);
    assert_eq!(net.done("detach"), format!("{device} has no limits any more.\n"));
    assert!(net.run("show").refusal().ends_with(&none));
}

/// The document of `show` once so many packets have arrived from the right.
fn shown(net: &Net, packets: u64) -> Value {
    for _ in 0..500 {
        let document = net.run("show --json").json();
        let count = |name: &str| classes_of(&document)[1][name].as_u64().expect("a count");
        if count("passed_packets") + count("marked_packets") + count("dropped_packets") >= packets {
            return document;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{packets} packets did not arrive");
}

#[test]
fn watching_ends_well_on_ctrl_c() {
    let Some(net) = Net::new() else { return };
    net.done("attach");
    let mut child = command(&net.on("show --watch --interval 50ms --json")).spawn().expect("it was built");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let documents: Vec<Value> = lines
        .by_ref()
        .take(2)
        .map(|line| serde_json::from_str(&line.expect("a line")).expect("a document"))
        .collect();
    interrupt(&child);
    assert!(lines.map(|line| line.expect("a line")).all(|line| serde_json::from_str::<Value>(&line).is_ok()));
    let ended = end(child);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let time = |document: &Value| document["facts"]["time_ns"].as_u64().expect("a time");
    assert!(time(&documents[1]) >= time(&documents[0]) + 50_000_000);
    let [first, .., others] = classes_of(&documents[0]) else { panic!("classes, and packets of none") };
    assert_eq!((&first["arriving_bps"], &others["admitted_bps"]), (&0.into(), &0.into()));
    // As a table, with rates; what takes the limits away ends it as well.
    let mut child = command(&net.on("show --watch --interval 50ms")).spawn().expect("it was built");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    assert!(lines.any(|line| line.expect("a line").contains("arriving")), "there is a table");
    net.done("detach");
    lines.for_each(drop);
    let ended = end(child);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(
        ended.stderr.ends_with("has no limits\n") && ended.stderr.lines().count() == 1,
        "{}",
        ended.stderr
    );
}

#[test]
fn metrics_are_served_until_ctrl_c() {
    let Some(net) = Net::new() else { return };
    net.done("attach");
    net.send(20);
    shown(&net, 20);
    let mut child = command("limit metrics --listen 127.0.0.1:0").spawn().expect("it was built");
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    stdout.read_line(&mut line).expect("a line");
    let address =
        line.trim_end().strip_prefix("Serving http://").and_then(|rest| rest.strip_suffix("/metrics"));
    let address = address.unwrap_or_else(|| panic!("{line}"));
    let get = |path: &str| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time above zero");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    let answer = get("/metrics");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.contains("application/openmetrics-text"),
        "{answer}"
    );
    let labels = format!("device=\"tp0@{}\",class=\"right\"", net.pair.left.ns.name());
    for metric in [
        format!("trueplane_limit_packets_total{{{labels},verdict=\"passed\"}} 11"),
        format!("trueplane_limit_packets_total{{{labels},verdict=\"dropped\"}} 9"),
        format!("trueplane_limit_traffic_bytes_total{{{labels},verdict=\"dropped\"}} {}", 9 * 1042),
        format!("trueplane_limit_burst_bytes{{{labels}}} 10450"),
    ] {
        assert!(answer.lines().any(|line| line == metric), "{metric}: {answer}");
    }
    assert!(answer.trim_end().ends_with("# EOF"), "{answer}");
    let other = get("/");
    assert!(other.starts_with("HTTP/1.1 404"), "{other}");
    let taken = trueplane(&format!("limit metrics --listen {address}"));
    assert_eq!((taken.status, taken.stderr.lines().count()), (1, 1), "{}", taken.stderr);
    assert!(taken.stderr.ends_with("in use; name another address with --listen\n"), "{}", taken.stderr);
    interrupt(&child);
    let ended = end(child);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
}

#[test]
fn what_cannot_be_done_is_refused_in_one_line() {
    let Some(net) = Net::new() else { return };
    net.write("marked.toml", "[[class]]\nname = 'a'\nrate = '1Mbps'\nfwmark = 7\n");
    let file = |name: &str| net.folder.path().join(name).display().to_string();
    let (good, marked, ns) = (file("classes.toml"), file("marked.toml"), net.pair.left.ns.name());
    for (arguments, said) in [
        (format!("attach --dev tp9 --netns {ns} --classes {good}"), "there is no network device tp9@"),
        (
            format!("attach --dev tp0 --netns nowhere --classes {good}"),
            "there is no network namespace nowhere",
        ),
        (
            format!("attach --dev tp0 --netns {ns} --mode xdp --classes {marked}"),
            "classes by fwmark need --mode tc",
        ),
        (
            format!("attach --dev tp0 --netns {ns} --classes {good} --mode xdp --direction egress"),
            "XDP sees incoming packets only",
        ),
        (
            format!("attach --dev tp0 --netns {ns} --classes none.toml"),
            "none.toml: No such file or directory",
        ),
        (format!("attach --dev ../tp0 --classes {good}"), "expected a network device such as eth0"),
        (format!("attach --dev tp0 --classes {good} --clock-every 0"), "expected 1 to 1024, got \"0\""),
        (format!("attach --dev tp0 --classes {good} --credit 2MiB"), "expected 1B to 1MiB, got \"2MiB\""),
        (
            format!("attach --dev tp0 --classes {good} --mode driver"),
            "expected one of xdp, tc, got \"driver\"",
        ),
        ("attach --dev tp0".to_owned(), "--classes <FILE>"),
        (format!("show --netns {ns}"), "--netns needs --dev"),
        (format!("show --dev tp0 --netns {ns} --interval 1s"), "--watch"),
        (format!("show --dev tp0 --netns {ns} --watch --report out"), "--report"),
        (
            format!("show --dev tp0 --netns {ns} --watch --interval 1ms"),
            "expected at least 10ms, got \"1ms\"",
        ),
        ("metrics --listen 9478".to_owned(), "expected an address with a port such as 127.0.0.1:9478"),
    ] {
        let ended = trueplane(&format!("limit {arguments}"));
        assert!(ended.refusal().contains(said), "{arguments}: {}", ended.stderr);
    }
    net.done("attach");
    for (change, said) in [
        ("middle rate=1Mbps", "no class \"middle\"; its classes are left, right"),
        ("right", "<CHANGE>"),
        ("right rate", "expected rate=RATE, burst=SIZE"),
        ("right colour=blue", "expected rate=RATE, burst=SIZE"),
        ("right rate=fast", "rate: expected a rate such as"),
        ("right rate=1bps", "rate from 1kbps to 400Gbps"),
        ("right rate=1Mbps rate=2Mbps", "rate is given twice"),
        ("right mark=20kB", "mark: expected at least 1B and less than the burst"),
        ("right burst=5kB", "mark: expected at least 1B and less than the burst of 5000B, got 8960B"),
    ] {
        let ended = net.run(&format!("set {change}"));
        assert!(ended.refusal().contains(said), "{change}: {}", ended.stderr);
    }
    assert_eq!(classes_of(&net.run("show --json").json())[1]["rate_bps"], 1_000);
}

#[test]
fn loading_that_fails_leaves_nothing_behind() {
    let Some(net) = Net::new() else { return };
    let mut limited = Command::new("prlimit");
    limited.args(["--nofile=12", env!("CARGO_BIN_EXE_trueplane")]).args(net.on("attach").split_whitespace());
    let output = limited.output().expect("util-linux is there");
    let error = String::from_utf8(output.stderr).expect("it is text");
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.contains("Too many open files"), "{error}");
    assert!(net.run("show").refusal().ends_with("has no limits"));
    let link = net.pair.left.ns.ip(&["link", "show", "tp0"]).expect("it is there");
    assert!(!link.contains("xdp"), "{link}");
}

#[test]
fn without_privileges_one_line_names_the_capabilities() {
    let Some(net) = Net::new() else { return };
    net.done("attach");
    for verb in ["attach", "attach --dry-run", "show", "set left rate=2Mbps", "detach"] {
        let mut child = command(&net.on(verb));
        // Somebody else, without capabilities.
        child.uid(65_534).gid(65_534);
        assert_unprivileged(&end(child.spawn().expect("everybody may run it")));
    }
    let mut child = command("limit metrics --listen 127.0.0.1:0");
    child.uid(65_534).gid(65_534);
    assert_unprivileged(&end(child.spawn().expect("everybody may run it")));
}

#[track_caller]
fn assert_unprivileged(ended: &Ended) {
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("needs root, or the capabilities CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON"),
        "{}",
        ended.stderr
    );
}

#[test]
fn among_private_mounts_the_line_names_netns() {
    let Some(net) = Net::new() else { return };
    let inside = |verb: &str| {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", net.pair.left.ns.name(), env!("CARGO_BIN_EXE_trueplane"), "limit"]);
        command.args(verb.split_whitespace()).args(["--dev", "tp0"]).current_dir(root());
        let output = command.output().expect("ip is there");
        let error = String::from_utf8(output.stderr).expect("it is text");
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.contains("ip netns exec") && error.contains("--netns"), "{error}");
    };
    let attach = format!("attach --classes {}", net.folder.path().join("classes.toml").display());
    [&attach, &format!("{attach} --dry-run"), "show", "detach", "set left rate=1Mbps"]
        .into_iter()
        .for_each(inside);
}

#[test]
fn help_says_more_than_one_line_and_has_examples() {
    for (verb, said) in [
        ("attach", "If attaching fails, everything is as it was before"),
        ("show", "what is in the fullest of them"),
        ("set", "every packet meets either the old limit or the new one"),
        ("detach", "The device is left as it was"),
        ("metrics", "read anew for each request"),
    ] {
        let ended = trueplane(&format!("limit {verb} --help"));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{verb}");
        let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said) && text.contains(&format!("Examples: trueplane limit {verb}")), "{text}");
    }
}

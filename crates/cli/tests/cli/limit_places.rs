//! Limits stay with what they limit: devices that are renamed or move, namespaces with two names, commands that are killed.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{Ended, root, trueplane};
use crate::limit_net::{Net, command, end};

/// A verb about a device of a namespace.
fn ask(verb: &str, device: &str, netns: &str) -> Ended {
    trueplane(&format!("limit {verb} --dev {device} --netns {netns}"))
}

/// The device that `show` names.
#[track_caller]
fn shown(device: &str, netns: &str) -> String {
    let document = ask("show --json", device, netns).json();
    document["facts"]["device"].as_str().expect("a device").to_owned()
}

/// All that says that something is attached to the left host's devices.
fn attached(net: &Net) -> String {
    let links = net.pair.left.ns.ip(&["-details", "link", "show"]).expect("they are there");
    let links = links.lines().filter(|line| line.contains("xdp")).collect::<Vec<_>>().join("\n");
    links + &net.pair.left.ns.output(&["tc", "qdisc", "show", "clsact"]).expect("tc is there")
}

const MODES: [&str; 3] = ["--mode xdp", "--mode tc --direction ingress", "--mode tc --direction egress"];

#[test]
fn limits_stay_with_a_device_that_is_renamed() {
    let Some(net) = Net::new() else { return };
    let ns = net.pair.left.ns.name();
    let rename = |from: &str, to: &str| {
        net.pair.left.ns.ip(&["link", "set", from, "name", to]).expect("devices may be renamed");
    };
    for mode in MODES {
        net.done(&format!("attach {mode}"));
        rename("tp0", "tpz");
        assert_eq!(shown("tpz", ns), format!("tpz@{ns}"), "{mode}");
        let set = ask("set right rate=2kbps", "tpz", ns);
        assert_eq!((set.status, set.stderr.as_str()), (0, ""), "{mode}");
        let again = ask(&net.file("attach"), "tpz", ns);
        assert!(again.refusal().contains("has limits already"), "{}", again.stderr);
        // The old name is nobody's, and nothing is taken away by it.
        let moved = format!("there is no network device tp0@{ns}; its limits run on tpz@{ns}");
        for verb in ["show", "detach", "set right rate=1kbps"] {
            let refused = ask(verb, "tp0", ns);
            assert!(refused.refusal().contains(&moved), "{verb}: {}", refused.stderr);
        }
        assert_eq!(shown("tpz", ns), format!("tpz@{ns}"), "{mode}");
        // Another device of the old name has none of them.
        net.pair
            .left
            .ns
            .ip(&["link", "add", "tp0", "type", "veth", "peer", "name", "tpy"])
            .expect("it is added");
        let other = ask("show", "tp0", ns);
        assert!(other.refusal().contains(&format!("tp0@{ns} has no limits")), "{}", other.stderr);
        let other = ask(&net.file("attach --mode tc"), "tp0", ns);
        assert_eq!((other.status, other.stderr.as_str()), (0, ""), "{mode}");
        assert_eq!((shown("tp0", ns), shown("tpz", ns)), (format!("tp0@{ns}"), format!("tpz@{ns}")));
        for device in ["tp0", "tpz"] {
            assert_eq!(ask("detach", device, ns).stdout, format!("{device}@{ns} has no limits any more.\n"));
        }
        net.pair.left.ns.ip(&["link", "del", "tp0"]).expect("it is there");
        rename("tpz", "tp0");
        assert_eq!(attached(&net), "", "{mode}");
    }
}

#[test]
fn limits_are_found_where_a_device_has_moved() {
    let Some(net) = Net::new() else { return };
    let (ns, other) = (net.pair.left.ns.name(), net.pair.right.ns.name());
    let left = &net.pair.left.ns;
    // By XDP they go with it.
    net.done("attach --mode xdp");
    left.ip(&["link", "set", "tp0", "netns", other, "name", "tpm"]).expect("devices may move");
    for verb in ["show", "detach"] {
        let refused = ask(verb, "tp0", ns);
        assert!(refused.refusal().contains(&format!("its limits run on tpm@{other}")), "{}", refused.stderr);
    }
    assert_eq!(shown("tpm", other), format!("tpm@{other}"));
    assert_eq!(ask("detach", "tpm", other).status, 0);
    net.pair.right.ns.ip(&["link", "set", "tpm", "netns", ns, "name", "tp0"]).expect("and back");
}

#[test]
fn limits_that_the_kernel_took_away_with_a_move_are_told() {
    let Some(net) = Net::new() else { return };
    let (ns, other) = (net.pair.left.ns.name(), net.pair.right.ns.name());
    let show = format!("$0 limit show --dev tpm --netns {other}; $0 {}", net.on("show"));
    let (attach, detach) = (net.on("attach --mode tc"), net.on("detach"));
    let moved = format!("ip -n {ns} link set tp0 netns {other} name tpm");
    let script = format!("$0 {attach} && {moved} && {{ {show}; $0 {detach} && $0 {detach}; }}");
    let Some(ended) = where_nothing_is_pinned(&script) else { return };
    let none = format!("error: there is no network device tp0@{ns}");
    let lines = [
        format!("error: tpm@{other} has no limits"),
        format!(
            "{none}; its limits run no more: `trueplane limit detach --dev tp0 --netns {ns}` removes what is left of them"
        ),
        none,
    ];
    assert_eq!(ended.stderr.lines().collect::<Vec<_>>(), lines);
    let removed =
        format!("tp0@{ns} has no limits any more: they had ended, and what was left of them is removed.\n");
    assert!(ended.stdout.ends_with(&removed), "{}", ended.stdout);
}

/// A process in a network namespace of its own, or in that of another; ended when dropped.
struct Inside(Child);

impl Inside {
    fn new(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.spawn().expect("it is there"))
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A name for a network namespace that other tests do not use, and that they would sweep away; gone when dropped.
struct Alias(String);

impl Alias {
    fn new(label: &str, process: &Inside) -> Self {
        let name = format!("tp-{}-900-{label}", std::process::id());
        let status = Command::new("ip").args(["netns", "attach", &name, &process.pid()]).status();
        assert!(status.expect("ip is there").success());
        Self(name)
    }
}

impl Drop for Alias {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "delete", &self.0]).status();
    }
}

#[test]
fn limits_in_a_namespace_without_a_name_are_found_once_it_has_one() {
    let Some(net) = Net::new() else { return };
    let ns = net.pair.left.ns.name();
    net.done("attach --mode xdp");
    let mut hidden = Command::new("unshare");
    hidden.args(["--net", "sleep", "600"]);
    let hidden = Inside::new(hidden);
    // It has its namespace a moment after it is there.
    let own = std::fs::read_link("/proc/self/ns/net").expect("it is there");
    for _ in 0..500 {
        if std::fs::read_link(format!("/proc/{}/ns/net", hidden.pid())).is_ok_and(|other| other != own) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    net.pair.left.ns.ip(&["link", "set", "tp0", "netns", &hidden.pid()]).expect("devices may move");
    for verb in ["show", "detach"] {
        let refused = ask(verb, "tp0", ns);
        assert!(refused.refusal().contains("ip netns attach NAME PID"), "{}", refused.stderr);
    }
    let alias = Alias::new("hidden", &hidden);
    assert_eq!(shown("tp0", &alias.0), format!("tp0@{}", alias.0));
    assert_eq!(ask("detach", "tp0", &alias.0).status, 0);
}

#[test]
fn a_namespace_may_have_two_names() {
    let Some(net) = Net::new() else { return };
    let mut command = net.pair.left.ns.command("sleep");
    command.arg("600");
    let inside = Inside::new(command);
    let alias = Alias::new("alias", &inside);
    net.done("attach");
    assert_eq!(shown("tp0", &alias.0), format!("tp0@{}", alias.0));
    let again = ask(&net.file("attach"), "tp0", &alias.0);
    assert!(again.refusal().contains("has limits already"), "{}", again.stderr);
    assert_eq!(ask("detach", "tp0", &alias.0).status, 0);
    assert!(net.run("show").refusal().ends_with("has no limits"));
    assert_eq!(attached(&net), "");
}

#[test]
fn an_attach_that_is_killed_leaves_limits_that_are_seen() {
    let Some(net) = Net::new() else { return };
    let ns = net.pair.left.ns.name();
    net.done("attach --mode xdp");
    // Whenever it is killed, there are limits, the old ones or the new ones.
    for (round, mode) in (0..40).zip(MODES.iter().cycle()) {
        let mut child = command(&net.on(&format!("attach --force {mode}"))).spawn().expect("it was built");
        thread::sleep(Duration::from_millis(3 * round));
        let _ = child.kill();
        let _ = child.wait();
        let _ = shown("tp0", ns);
        let set = net.run("set right rate=2kbps");
        assert_eq!((set.status, set.stderr.as_str()), (0, ""), "{round}");
    }
    net.done("detach");
    assert_eq!(attached(&net), "");
}

#[test]
fn a_clsact_that_an_attach_made_which_was_killed_goes_with_the_next() {
    let Some(net) = Net::new() else { return };
    let ns = net.pair.left.ns.name();
    let (attach, detach) = (net.on("attach --mode xdp"), net.on("detach"));
    let has_clsact = format!("tc -n {ns} qdisc show dev tp0 | grep -q clsact");
    // The filter is not there yet. The kernel lets go of its program a moment later.
    let halfway = format!(
        "$0 {} && tc -n {ns} filter del dev tp0 ingress && {has_clsact} && sleep 1",
        net.on("attach --mode tc")
    );
    let used = format!("tc -n {ns} filter add dev tp0 egress pref 9 bpf bytecode '1,6 0 0 0,'");
    for (then, stays) in [
        (format!("$0 {detach}"), false),
        (format!("$0 {attach} && $0 {detach}"), false),
        // One that somebody uses stays.
        (format!("{used} && $0 {detach}"), true),
    ] {
        let script = format!("{halfway} && {then} && if {has_clsact}; then echo stays; fi");
        let Some(ended) = where_nothing_is_pinned(&script) else { return };
        assert_eq!(ended.status, 0, "{then}: {}", ended.stderr);
        assert_eq!(ended.stdout.ends_with("stays\n"), stays, "{then}: {}", ended.stdout);
    }
}

/// A script with pins of its own, in which `$0` is the command.
fn where_nothing_is_pinned(script: &str) -> Option<Ended> {
    let script = format!("mount -t bpf none /sys/fs/bpf || exit 77; {script}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", &script]);
    command.arg(env!("CARGO_BIN_EXE_trueplane")).current_dir(root());
    let ended = end(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?);
    if ended.status == 77 || ended.stderr.starts_with("unshare: ") {
        let _ = writeln!(std::io::stderr().lock(), "skipped: pins of its own: {}", ended.stderr.trim_end());
        return None;
    }
    Some(ended)
}

#[test]
fn no_empty_folder_is_left() {
    let Some(net) = Net::new() else { return };
    let (attach, detach) = (net.on("attach"), net.on("detach"));
    let refused = attach.replace("tp0", "tp9");
    let script = format!("$0 {refused}; $0 {attach} && $0 {detach} && test ! -e /sys/fs/bpf/trueplane");
    let Some(ended) = where_nothing_is_pinned(&script) else { return };
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.ends_with("has no limits any more.\n"), "{}", ended.stdout);
}

#[test]
fn what_is_left_of_limits_is_told() {
    let Some(net) = Net::new() else { return };
    let ns = net.pair.left.ns.name();
    let attach = net.on("attach --mode xdp");
    let gone = format!("$0 {attach} && ip -n {ns} link del tp0 && $0 limit show");
    let Some(ended) = where_nothing_is_pinned(&gone) else { return };
    assert_eq!(ended.status, 2);
    let line = format!(
        "error: no network device has limits; those of tp0@{ns} run no more: `trueplane limit detach --dev tp0 --netns {ns}` removes what is left of them\n"
    );
    assert_eq!(ended.stderr, line);
    // Where others run, they are shown, and the rest is told beside them.
    let Some(net) = Net::new() else { return };
    let (ns, other) = (net.pair.left.ns.name(), net.on("attach --mode xdp").replace("tp0", "tpd"));
    let (attach, detach) = (net.on("attach --mode xdp"), net.on("detach"));
    let script = format!(
        "ip -n {ns} link add tpd type veth peer name tpe && $0 {attach} && $0 {other} && ip -n {ns} link del tpd; \
         $0 limit show && $0 {} && $0 limit show && $0 {detach} && test ! -e /sys/fs/bpf/trueplane",
        net.on("detach").replace("tp0", "tpd")
    );
    let Some(ended) = where_nothing_is_pinned(&script) else { return };
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let line = format!(
        "warning: the limits of tpd@{ns} run no more: `trueplane limit detach --dev tpd --netns {ns}` removes what is left of them\n"
    );
    assert_eq!(ended.stderr, line, "told until it is removed");
    assert_eq!(ended.stdout.matches(&format!("tp0@{ns} (xdp, ingress)")).count(), 2, "{}", ended.stdout);
}

#[test]
fn who_may_and_where_are_asked_before_all_else() {
    let Some(net) = Net::new() else { return };
    net.write("classes.toml", "[[class]]\nname = 'a'\nrate = '1Mbps'\nfwmark = 7\n");
    let ns = net.pair.left.ns.name();
    for more in ["--mode xdp", "--mode xdp --dry-run", "--direction egress --mode xdp"] {
        let refused = ask(&net.file(&format!("attach {more}")), "tp9", ns);
        assert!(refused.refusal().contains("there is no network device tp9@"), "{more}: {}", refused.stderr);
        let refused = trueplane(&format!("limit attach {more} --dev tp9 --netns {ns} --classes none.toml"));
        assert!(refused.refusal().contains("there is no network device tp9@"), "{more}: {}", refused.stderr);
        let mut child =
            command(&format!("limit {} --dev tp9 --netns {ns}", net.file(&format!("attach {more}"))));
        let ended = end(child.uid(65_534).gid(65_534).spawn().expect("everybody may run it"));
        assert!(ended.status == 1 && ended.stderr.contains("needs root"), "{more}: {}", ended.stderr);
    }
    let refused = net.run("attach --mode xdp");
    assert!(refused.refusal().contains("classes by fwmark need --mode tc"), "{}", refused.stderr);
}

#[test]
fn without_a_mode_limits_are_where_they_can_be() {
    let Some(net) = Net::new() else { return };
    for (more, mode, said) in [("", "xdp", false), ("--direction egress", "tc", true)] {
        let text = net.done(&format!("attach {more}"));
        assert_eq!(text.contains("By tc, since"), said, "{text}");
        assert_eq!(net.run("show --json").json()["facts"]["mode"], mode);
        net.done("detach");
    }
    net.write("classes.toml", "[[class]]\nname = 'a'\nrate = '1Mbps'\nfwmark = 7\n");
    let text = net.done("attach --dry-run");
    assert!(text.contains("By tc, since XDP sees packets before they can have a mark."), "{text}");
    net.done("attach");
    assert_eq!(net.run("show --json").json()["facts"]["mode"], "tc");
}

#[test]
fn a_filter_of_others_at_our_preference_is_named() {
    let Some(net) = Net::new() else { return };
    let tc = |words: &[&str]| net.pair.left.ns.output(&[&["tc"], words].concat()).expect("it is done");
    tc(&["qdisc", "add", "dev", "tp0", "clsact"]);
    let filter = ["filter", "add", "dev", "tp0", "ingress", "pref", "7", "protocol", "ip"];
    tc(&[&filter[..], &["bpf", "bytecode", "1,6 0 0 0,"]].concat());
    for more in ["", "--force", "--dry-run", "--dry-run --force"] {
        let refused = net.run(&format!("attach --mode tc {more}"));
        assert!(refused.refusal().contains("preference 7"), "{more}: {}", refused.stderr);
    }
    // In the other direction there is room.
    net.done("attach --mode tc --direction egress");
}

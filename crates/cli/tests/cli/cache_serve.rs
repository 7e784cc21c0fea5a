//! `trueplane cache serve` as its users run it.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{root, trueplane};

/// A server on loopback that answers every request with this body. It goes with the tests.
fn origin(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(&stream, body));
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: &TcpStream, body: &str) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|length| length > 0) {
        if line.ends_with("\r\n\r\n") {
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: {length}\r\n\r\n");
            if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
                return;
            }
            line.clear();
        }
    }
}

/// A cache that serves, until it is dropped.
struct Serving {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Lines<BufReader<ChildStderr>>,
}

impl Serving {
    fn new(arguments: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_trueplane"))
            .args(["cache", "serve"])
            .args(arguments.split_whitespace())
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it was built");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let stderr = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        Self { child, stdout, stderr }
    }

    /// The next line of output, and the address in it.
    fn address(&mut self) -> String {
        let line = self.stdout.next().expect("a line").expect("it is text");
        let address = line.split("://").nth(1).and_then(|rest| rest.split(' ').next());
        address.unwrap_or_else(|| panic!("{line}")).to_owned()
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(status.expect("kill is there").success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer to a request for a host.
fn get(address: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time above zero");
    write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn a_configuration_is_read_again_and_nothing_is_lost() {
    let (first, second) = (origin("first"), origin("second"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sites.toml");
    let top = "listen = \"127.0.0.1:0\"\nmemory = \"1MiB\"\nlog = \"access.log\"\n";
    let site = |host: &str, origin: &str| format!("[[site]]\nhosts = \"{host}\"\norigin = \"{origin}\"\n");
    fs::write(&path, format!("{top}{}", site("a.test", &first))).expect("it can be written");
    let path = path.display().to_string();
    let checked = trueplane(&format!("cache serve --config {path} --check"));
    assert_eq!((checked.status, checked.stdout.as_str()), (0, "The configuration is fine: 1 site.\n"));

    let mut cache = Serving::new(&format!("--config {path}"));
    let address = cache.address();
    assert!(get(&address, "a.test").ends_with("first"));
    assert!(get(&address, "b.test").starts_with("HTTP/1.1 421 "));
    fs::write(&path, format!("{top}{}{}", site("a.test", &second), site("b.test", &second))).expect("it can");
    cache.signal("-HUP");
    let line = cache.stderr.next().expect("a line").expect("it is text");
    assert_eq!(line, format!("{path}: read again"));
    assert!(get(&address, "b.test").ends_with("second"));
    // What was stored is still there, though its server is another one now.
    let stored = get(&address, "a.test");
    assert!(stored.contains("trueplane; hit") && stored.ends_with("first"), "{stored}");

    fs::write(&path, format!("{top}{}memory = 1", site("a.test", &first))).expect("it can");
    cache.signal("-HUP");
    let line = cache.stderr.next().expect("a line").expect("it is text");
    assert!(
        line.starts_with(&format!("the configuration from before stays: {path}:7:1: expected one of")),
        "{line}"
    );
    assert!(get(&address, "b.test").contains("trueplane; hit"));

    let taken = trueplane(&format!("cache serve --origin {first} --listen {address}"));
    assert_eq!((taken.status, taken.stderr.lines().count()), (1, 1), "{}", taken.stderr);
    assert!(taken.stderr.ends_with("in use; name another address with --listen\n"), "{}", taken.stderr);

    cache.signal("-TERM");
    let told: Vec<String> = cache.stdout.by_ref().map(|line| line.expect("it is text")).collect();
    assert!(told[0].starts_with("4 requests that a cache may answer: 50.0% hits"), "{told:?}");
    let log = fs::read_to_string(folder.path().join("access.log")).expect("it was written");
    assert_eq!((log.lines().count(), log.matches("\"HIT\"").count()), (5, 2), "{log}");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("it can be written");
        path.display().to_string()
    };
    let good = file("good.toml", "[[site]]\norigin = \"http://127.0.0.1:1\"\n");
    let typo = file("typo.toml", "[[site]]\norigin = \"http://127.0.0.1:1\"\nhost = \"a\"\n");
    let key = file("key.pem", "");
    for (arguments, end) in [
        (String::new(), "expected --origin or --config, got neither".to_owned()),
        (format!("--config {good} --memory 1GiB"), "cannot be used with".to_owned()),
        (format!("--config {typo}"), format!("{typo}:3:1: expected one of the keys")),
        ("--config none.toml".into(), "none.toml: No such file or directory".into()),
        ("--origin http://nowhere.invalid".into(), "origin http://nowhere.invalid: ".into()),
        ("--origin ftp://127.0.0.1".into(), "got \"ftp://127.0.0.1\"".into()),
        ("--origin http://127.0.0.1:1 --policy belady".into(), "policy belady must know the future".into()),
        ("--origin http://127.0.0.1:1 --listen 127.0.0.1".into(), "got \"127.0.0.1\"".into()),
        (
            "--origin http://127.0.0.1:1 --listen-tls 127.0.0.1:0".into(),
            "--listen-tls needs --certificate".into(),
        ),
        (
            format!(
                "--origin http://127.0.0.1:1 --listen-tls 127.0.0.1:0 --certificate none.pem --certificate-key {key}"
            ),
            "none.pem: No such file or directory".into(),
        ),
        (
            format!(
                "--origin http://127.0.0.1:1 --listen-tls 127.0.0.1:0 --certificate {key} --certificate-key {key}"
            ),
            format!("{key}: expected a certificate (PEM), got none"),
        ),
        ("--origin http://127.0.0.1:1 --log none/log".into(), "none/log: No such file or directory".into()),
    ] {
        let ended = trueplane(&format!("cache serve {arguments}"));
        assert!(ended.refusal().contains(&end), "{arguments}: {}", ended.stderr);
    }
}

#[test]
fn a_running_cache_tells_of_itself_and_is_purged() {
    let origin = origin("hello");
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("s").display().to_string();
    let mut cache = Serving::new(&format!(
        "--origin {origin} --listen 127.0.0.1:0 --socket {socket} --admin 127.0.0.1:0"
    ));
    let address = cache.address();
    let admin = cache.address();
    let url = "http://a.test/";
    get(&address, "a.test");
    get(&address, "a.test");

    let ask = |verb: &str, rest: &str| trueplane(&format!("cache {verb} --socket {socket} {rest}"));
    let stats = ask("stats", "--csv");
    assert_eq!(stats.status, 0, "{}", stats.stderr);
    let rows: Vec<&str> = stats.stdout.lines().collect();
    assert!(
        rows[0].starts_with(
            "site,requests,hit_ratio,delayed_hit_ratio,miss_ratio,classical_ns,refined_ns,measured_ns"
        ),
        "{rows:?}"
    );
    assert!(rows[1].starts_with(&format!("{origin},2,0.5,0")), "{rows:?}");
    assert!(ask("stats", "").stdout.contains("by the hit rate"));
    assert!(ask("stats", "--json").stdout.starts_with('{'));
    assert!(ask("top", "").stdout.contains(url));
    assert!(get(admin.trim_end_matches('/'), "localhost").contains("<svg"));

    for (verb, rest, told) in [
        ("purge", url, "1 stored answer purged.\n"),
        ("purge", url, "0 stored answers purged.\n"),
        ("purge", "--tag x", "0 stored answers purged.\n"),
        ("purge", "--prefix http://a.test --soft", "0 stored answers made stale.\n"),
        ("ban", "*", "0 stored answers purged.\n"),
    ] {
        let ended = ask(verb, rest);
        assert_eq!((ended.status, ended.stdout.as_str()), (0, told), "{verb} {rest}: {}", ended.stderr);
    }
    for (verb, rest, end) in [
        ("purge", "", "expected one of URL, --prefix URL and --tag TAG"),
        ("purge", "a.test", "expected a URL such as"),
        ("purge", "http://a.test/ --tag x", "cannot be used with"),
        ("ban", "", "<PATTERN>"),
    ] {
        let refusal = ask(verb, rest);
        assert!(refusal.refusal().contains(end), "{verb} {rest}: {}", refusal.stderr);
    }

    cache.signal("-TERM");
    cache.stdout.by_ref().for_each(drop);
    let ended = ask("stats", "");
    let expected = format!("{socket}: no such socket; `trueplane cache serve --socket` makes it");
    assert!(ended.refusal().contains(&expected), "{}", ended.stderr);
    let refused = trueplane(&format!("cache serve --origin {origin} --listen 127.0.0.1:0 --admin 0.0.0.0:0"));
    assert!(refused.refusal().contains("an address of this machine alone"), "{}", refused.stderr);
}

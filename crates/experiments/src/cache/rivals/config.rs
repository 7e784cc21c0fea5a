//! Configurations of other caches: plain reverse proxies with as much memory as ours.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use trueplane_units::Bytes;

use super::super::options::RivalName;

const MEBIBYTE: u64 = 1 << 20;

/// What a cache has room for.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Room {
    /// Bytes of memory.
    pub(in super::super) memory: u64,
    /// Objects of mean size that fit.
    pub(in super::super) objects: u64,
    /// Bytes of the largest body.
    pub(in super::super) largest: u64,
}

/// The least storage that Varnish starts with.
const LEAST_OF_VARNISH: u64 = MEBIBYTE;
/// The least cache that Traffic Server starts with.
const LEAST_OF_ATS: u64 = 16 * MEBIBYTE;
/// Keys that nginx keeps in a page of its zone: 128 bytes each.
const KEYS_OF_A_PAGE: u64 = 32;
const PAGE: u64 = 4096;
/// Pages of a zone that hold no keys.
const OTHER_PAGES: u64 = 3;
/// Keys for what is on its way: nginx answers with an error where there is no room for one.
const ON_THEIR_WAY: u64 = 512;

impl Room {
    /// Bytes of the zone in which nginx keeps its keys.
    fn zone(self) -> u64 {
        ((self.objects + ON_THEIR_WAY).div_ceil(KEYS_OF_A_PAGE) + OTHER_PAGES) * PAGE
    }

    /// Whole mebibytes, of which HAProxy's cache has one or more.
    fn mebibytes(self) -> u64 {
        (self.memory / MEBIBYTE).clamp(1, 4095)
    }

    /// What memory a cache has, in words.
    pub(in super::super) fn words(self, rival: RivalName) -> String {
        let Self { memory, objects, .. } = self;
        match rival {
            RivalName::Nginx | RivalName::NginxLock => {
                let keys = (self.zone() / PAGE - OTHER_PAGES) * KEYS_OF_A_PAGE;
                format!(
                    "files of {} on disk, but it looks only every 10 s; until then about {keys} objects, by the keys in its zone, where the memory is for {objects}",
                    Bytes(memory)
                )
            }
            RivalName::Varnish => {
                let least = if memory < LEAST_OF_VARNISH { ", its least" } else { "" };
                format!("malloc storage of {}{least}", Bytes(memory.max(LEAST_OF_VARNISH)))
            }
            RivalName::Haproxy => format!("{} MiB: whole mebibytes, in blocks of 1 KiB", self.mebibytes()),
            RivalName::Ats => {
                let storage = memory.max(LEAST_OF_ATS);
                let least = if memory < LEAST_OF_ATS { ", its least" } else { "" };
                format!("storage of {}{least}, and as much of it in memory as was asked for", Bytes(storage))
            }
        }
    }
}

/// Writes the configuration of a cache to `folder`; returns the arguments with which it runs in the foreground.
pub(super) fn write(
    rival: RivalName,
    folder: &Path,
    listen: SocketAddr,
    origin: SocketAddr,
    room: Room,
) -> io::Result<Vec<String>> {
    let here = folder.display();
    let file = |name: &str| folder.join(name).display().to_string();
    Ok(match rival {
        RivalName::Nginx | RivalName::NginxLock => {
            let lock = if rival == RivalName::NginxLock { "on" } else { "off" };
            let Room { memory, .. } = room;
            let zone = room.zone();
            let text = format!(
                "user root;
worker_processes 2;
worker_rlimit_nofile 16384;
daemon off;
pid {here}/pid;
error_log {here}/errors warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    tcp_nodelay on;
    keepalive_requests 100000000;
    client_body_temp_path {here}/client;
    proxy_temp_path {here}/proxy;
    fastcgi_temp_path {here}/fastcgi;
    uwsgi_temp_path {here}/uwsgi;
    scgi_temp_path {here}/scgi;
    proxy_cache_path {here}/cache levels=1:2 keys_zone=objects:{zone} max_size={memory} inactive=1d use_temp_path=off;
    upstream origin {{ server {origin}; keepalive 1024; keepalive_requests 100000000; }}
    server {{
        listen {listen} backlog=4096;
        location / {{
            proxy_pass http://origin;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_cache objects;
            proxy_cache_lock {lock};
        }}
    }}
}}
"
            );
            fs::write(folder.join("nginx.conf"), text)?;
            vec!["-e".to_owned(), file("errors"), "-c".to_owned(), file("nginx.conf")]
        }
        RivalName::Varnish => {
            let (ip, port) = (origin.ip(), origin.port());
            let text = format!(
                "vcl 4.1;
backend default {{ .host = \"{ip}\"; .port = \"{port}\"; .max_connections = 4096; }}
"
            );
            fs::write(folder.join("cache.vcl"), text)?;
            let storage = format!("malloc,{}", room.memory.max(LEAST_OF_VARNISH));
            let listen = listen.to_string();
            let words =
                ["-F", "-j", "none", "-T", "none", "-a", &listen, "-s", &storage, "-p", "default_grace=0"];
            let files = ["-n".to_owned(), file("work"), "-f".to_owned(), file("cache.vcl")];
            words.into_iter().map(str::to_owned).chain(files).collect()
        }
        RivalName::Haproxy => {
            let total = room.mebibytes();
            // Fields come on top; half of the cache is the most that it takes.
            let largest = (room.largest + 4096).min(total * MEBIBYTE / 2);
            let text = format!(
                "global
    maxconn 4096
    nbthread 2
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
cache objects
    total-max-size {total}
    max-object-size {largest}
    max-age 86400
frontend clients
    bind {listen}
    http-request cache-use objects
    http-response cache-store objects
    default_backend origins
backend origins
    http-reuse always
    server origin {origin}
"
            );
            fs::write(folder.join("haproxy.cfg"), text)?;
            vec!["-f".to_owned(), file("haproxy.cfg")]
        }
        RivalName::Ats => {
            write_ats(folder, listen, origin, room)?;
            vec![format!("--run-root={}", file("runroot.yaml"))]
        }
    })
}

/// Traffic Server takes its folders from one file, and its settings from several in one of these.
fn write_ats(folder: &Path, listen: SocketAddr, origin: SocketAddr, room: Room) -> io::Result<()> {
    let here = folder.display();
    for name in ["etc", "run", "log", "cache"] {
        fs::create_dir(folder.join(name))?;
    }
    let places = format!(
        "prefix: /usr
exec_prefix: /usr
bindir: /usr/bin
sbindir: /usr/sbin
sysconfdir: {here}/etc
datadir: {here}/cache
includedir: /usr/include
libdir: /usr/lib/trafficserver
libexecdir: /usr/lib/trafficserver/modules
localstatedir: {here}
runtimedir: {here}/run
logdir: {here}/log
cachedir: {here}/cache
"
    );
    let (ip, port, memory) = (listen.ip(), listen.port(), room.memory);
    let records = format!(
        "CONFIG proxy.config.http.server_ports STRING {port}:ip-in={ip}
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.log.logging_enabled INT 0
CONFIG proxy.config.cache.ram_cache.size INT {memory}
CONFIG proxy.config.http.insert_response_via_str INT 0
"
    );
    let addresses = "ip_allow:
  - apply: in
    ip_addrs: 127.0.0.0/8
    action: allow
    methods: ALL
";
    fs::write(folder.join("runroot.yaml"), places)?;
    let files = [
        ("records.config", records),
        ("storage.config", format!("{here}/cache {}\n", memory.max(LEAST_OF_ATS))),
        ("remap.config", format!("map / http://{origin}/\n")),
        ("ip_allow.yaml", addresses.to_owned()),
        ("plugin.config", String::new()),
    ];
    files.into_iter().try_for_each(|(name, text)| fs::write(folder.join("etc").join(name), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cache_cannot_be_given_is_said() {
        let small = Room { memory: 2_000_000, objects: 100, largest: 65_536 };
        assert_eq!((small.zone(), small.mebibytes()), (23 * 4096, 1));
        assert!(small.words(RivalName::Nginx).contains("about 640 objects"));
        assert!(small.words(RivalName::Ats).contains("its least"));
        let large = Room { memory: 1 << 30, objects: 10_000, largest: 65_536 };
        assert_eq!((large.zone(), large.mebibytes()), (332 * 4096, 1024));
        assert!(!large.words(RivalName::Ats).contains("its least"));
    }
}

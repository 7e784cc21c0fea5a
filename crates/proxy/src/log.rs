//! The access log: a line of JSON for each request, with the names that nginx has for what is in it. `trueplane cache compare --sort` reads it.
//! nginx has none for `origin_time`: the time that the last fetch took of what was served, also for hits, since these would be misses in another cache.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Method, StatusCode};
use trueplane_units::Nanos;

use crate::clock::now;
use crate::head::Took;
use crate::rules::status::{Forwarded, Handled};

/// An access log.
pub(crate) struct Log {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: BufWriter<File>,
    /// Why it ended, if it did.
    failed: Option<io::Error>,
}

impl Log {
    /// Opens a log, and appends to what is there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let state = State { file: append_to(path)?, failed: None };
        Ok(Self { path: path.to_owned(), state: Mutex::new(state) })
    }

    /// Opens it anew, after somebody has moved the old one away.
    pub(crate) fn reopen(&self) -> io::Result<()> {
        let file = append_to(&self.path)?;
        let mut state = self.lock();
        let flushed = state.file.flush();
        *state = State { file, failed: None };
        flushed
    }

    /// Writes what waits to be written.
    pub(crate) fn flush(&self) {
        self.change(BufWriter::flush);
    }

    /// Why nothing is written any more, if so.
    pub(crate) fn failure(&self) -> Option<String> {
        let state = self.lock();
        state.failed.as_ref().map(|error| format!("{}: {error}", self.path.display()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes; what fails once is not tried again, so that no line is written in part.
    fn change(&self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        let mut state = self.lock();
        if state.failed.is_none() {
            state.failed = write(&mut state.file).err();
        }
    }
}

fn append_to(path: &Path) -> io::Result<BufWriter<File>> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    Ok(BufWriter::with_capacity(1 << 16, file))
}

/// The time that an origin took for a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Upstream {
    /// From this time on, until the body has been passed on.
    Since(Nanos),
    /// As long as the fetch took of what is served.
    Fetch,
}

/// A line that is written when the answer has been sent, or its client has left.
pub(crate) struct Line {
    pub(crate) log: Arc<Log>,
    pub(crate) came: Nanos,
    pub(crate) method: Method,
    pub(crate) host: String,
    pub(crate) target: String,
    pub(crate) status: StatusCode,
    pub(crate) sent: u64,
    pub(crate) handled: Option<Handled>,
    pub(crate) upstream: Option<Upstream>,
    /// The time that the last fetch of what is served took.
    pub(crate) took: Option<Took>,
}

impl Line {
    /// The line, at the time at which the answer ends.
    fn text(&self, now: Nanos) -> String {
        let took = self.took.as_ref().and_then(|took| took.get()).map(|fetched| fetched.took);
        let upstream = self.upstream.map(|upstream| match upstream {
            Upstream::Since(time) => now.since(time),
            Upstream::Fetch => took.unwrap_or(now.since(self.came)),
        });
        let or_none = |time: Option<Nanos>| time.map_or_else(|| "-".to_owned(), seconds);
        let json = |text: &str| serde_json::Value::from(text).to_string();
        format!(
            "{{\"msec\":\"{}\",\"host\":{},\"request_method\":{},\"request_uri\":{},\"status\":\"{}\",\"body_bytes_sent\":\"{}\",\
             \"request_time\":\"{}\",\"upstream_cache_status\":\"{}\",\"upstream_response_time\":\"{}\",\"origin_time\":\"{}\"}}\n",
            seconds(self.came),
            json(&self.host),
            json(self.method.as_str()),
            json(&self.target),
            self.status.as_u16(),
            self.sent,
            seconds(now.since(self.came)),
            self.handled.map_or("-", word),
            or_none(upstream),
            or_none(took.or(upstream)),
        )
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let text = self.text(now());
        self.log.change(|file| file.write_all(text.as_bytes()));
    }
}

/// Seconds to the microsecond.
fn seconds(time: Nanos) -> String {
    format!("{}.{:06}", time.0 / 1_000_000_000, time.0 % 1_000_000_000 / 1000)
}

/// What nginx calls it, but for requests that wait for another one's fetch, which it has no word for.
fn word(handled: Handled) -> &'static str {
    match handled {
        Handled::Hit | Handled::Disk => "HIT",
        Handled::Forwarded { is_collapsed: true, .. } => "DELAYED",
        Handled::Forwarded { why, status, .. } => match why {
            Forwarded::Method | Forwarded::Bypass => "BYPASS",
            Forwarded::Miss => "MISS",
            Forwarded::Stale if status.is_none() => "STALE",
            Forwarded::Stale => "EXPIRED",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::Fetched;

    #[test]
    fn a_line_by_hand() {
        let folder = std::env::temp_dir().join(format!("trueplane-log-{}", std::process::id()));
        let log = Arc::new(Log::open(&folder).unwrap());
        let line = Line {
            log: Arc::clone(&log),
            came: Nanos(1_000_000_000),
            method: Method::GET,
            host: "h\"".into(),
            target: "/a".into(),
            status: StatusCode::OK,
            sent: 5,
            handled: Some(Handled::Hit),
            upstream: None,
            took: Some(Arc::new(Fetched { took: Nanos(2_000_000), ended: Nanos(0) }.into())),
        };
        let text = "{\"msec\":\"1.000000\",\"host\":\"h\\\"\",\"request_method\":\"GET\",\"request_uri\":\"/a\",\"status\":\"200\",\
                    \"body_bytes_sent\":\"5\",\"request_time\":\"0.000250\",\"upstream_cache_status\":\"HIT\",\"upstream_response_time\":\"-\",\"origin_time\":\"0.002000\"}\n";
        assert_eq!(line.text(Nanos(1_000_250_000)), text);
        drop(line);
        log.flush();
        assert_eq!(std::fs::read_to_string(&folder).unwrap().lines().count(), 1);
        // After it was moved away, a new one is begun.
        std::fs::remove_file(&folder).unwrap();
        log.reopen().unwrap();
        assert_eq!(std::fs::read_to_string(&folder).unwrap(), "");
        assert_eq!(log.failure(), None);
        std::fs::remove_file(&folder).unwrap();
    }
}

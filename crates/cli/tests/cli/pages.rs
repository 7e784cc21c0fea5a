//! The page of every study in a browser: light and dark, on a wide and on a narrow screen.
//!
//! A page of the test shows all pages in frames, as wide as the screens, and measures them; the browser prints what it has found. The
//! measuring script is in the page around them, so that their own security policy stays as it is.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::common::{root, trueplane};

/// A small run of every study, without the flag for the report. `{}` is a folder for files.
const STUDIES: [(&str, &str); 23] = [
    ("cache.analyze", "examples/cdn-200k.csv.zst --latency 10ms"),
    (
        "cache.bound",
        "examples/cdn-200k.csv.zst --latency 10ms --capacity 500 --iterations 20 --certificate {}/proof.json",
    ),
    ("cache.check", "{}/proof.json examples/cdn-200k.csv.zst"),
    ("cache.compare", "examples/cdn-200k.csv.zst --latency 10ms --capacity 500"),
    ("fair.allocate", "examples/demands.json"),
    ("fair.recommend", "examples/jobs.csv --half-life 10min,1h"),
    ("fair.simulate", "examples/jobs.csv --capacity 70%"),
    ("fair.sweep", "examples/jobs.csv"),
    ("limit.isolation", "--duration 3ms --stagger 1ms --flows 2,8 --rate 10Gbps"),
    ("limit.precision", "--rate 10Gbps,40Gbps --duration 1ms"),
    ("limit.replay", "examples/tenants.pcap --classes examples/classes.toml"),
    ("limit.size", ""),
    (
        "offload.compare",
        "zipf:0.99,keys=10K,hot-in=100/1s,seconds=2 --rate 100K --entries 512 --batch 8 --update-rate 500,5K --control-rate 10K,50K \
         --history 32x4",
    ),
    ("offload.size", ""),
    ("sched.bandwidth", "--step 1ms"),
    ("sched.fabric", "--duration 2ms --leaves 2 --hosts-per-leaf 4"),
    ("sched.feedback", "--duration 5ms --push-down cost,one"),
    ("sched.inversions", "--packets 20000"),
    ("spray.compare", "--runs 1 --packets 5000 --cores 4 --flows 1,8,64 --cycles 0,1000,10000"),
    ("spray.concurrency", "examples/tenants.pcap"),
    ("spray.reordering", "--flows 1,4 --duration 10ms"),
    ("surge.compare", "iid:packets=4K --largest-job 1ms"),
    ("surge.guard", "examples/packets.csv"),
];

/// Studies that measure this machine.
const LIVE: [&str; 3] = ["cache.experiment", "limit.experiment", "spray.experiment"];

/// Widths of screens in pixels.
const WIDTHS: [u32; 2] = [1280, 400];

/// Finds what reaches beyond the page and words that reach beyond their drawing, and says how much of the page was looked at.
const MEASURE: &str = r#"
const lines = [];
for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument, where = frame.title, root = page.documentElement;
  for (const fold of page.querySelectorAll("details")) fold.open = true;
  const say = words => lines.push(where + ": " + words);
  if (root.scrollWidth > root.clientWidth) say("the page is " + root.scrollWidth + " wide");
  for (const drawing of page.querySelectorAll(".drawing, .panels"))
    if (drawing.scrollWidth > drawing.clientWidth + 1) say("a drawing is " + drawing.scrollWidth + " wide");
  let words = 0;
  for (const drawing of page.querySelectorAll("svg")) {
    const edge = drawing.getBoundingClientRect();
    for (const text of drawing.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      words += 1;
      if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 || box.bottom > edge.bottom + 1)
        say("clipped: " + text.textContent.trim());
    }
  }
  say("measured " + (page.querySelector("h1") ? 1 : 0) + " " + words + " " + getComputedStyle(page.body).backgroundColor);
}
document.body.textContent = lines.join("\n");
"#;

/// What the browser has found.
struct Found {
    /// Names of pages, words in their drawings, and their ground.
    measured: Vec<(String, usize, String)>,
    problems: Vec<String>,
}

pub(crate) fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|ended| ended.status.success()))
}

/// Shows the page of the test in `folder` in this scheme: 0 is dark, 1 is light.
fn shown(browser: &str, folder: &Path, scheme: u8) -> Found {
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--enable-logging=stderr",
        ])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--user-data-dir={}", folder.join(format!("profile-{scheme}")).display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", folder.join("all.html").display()))
        .output()
        .expect("the browser ends");
    let printed = String::from_utf8_lossy(&output.stdout);
    let body = printed.split_once("<body>").expect("a page was printed").1;
    let body = body.split_once("</body>").expect("a whole page was printed").0;
    let (mut measured, mut problems) = (Vec::new(), Vec::new());
    for line in body.lines() {
        match line.split_once(": measured 1 ").and_then(|(name, rest)| Some((name, rest.split_once(' ')?))) {
            Some((name, (words, ground))) => {
                measured.push((name.to_owned(), words.parse().expect("a number"), ground.to_owned()));
            }
            None => problems.push(line.to_owned()),
        }
    }
    let said = String::from_utf8_lossy(&output.stderr);
    problems.extend(said.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned));
    Found { measured, problems }
}

#[test]
fn every_page_fits_its_screen_and_clips_no_word() {
    let Some(browser) = browser() else {
        let _ = writeln!(std::io::stderr(), "skipped: pages are looked at with chromium");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let mut all = "<!DOCTYPE html><meta charset=utf-8><body>".to_owned();
    for (study, flags) in STUDIES {
        let flags = flags.replace("{}", &folder.path().display().to_string());
        let report = folder.path().join(study);
        let command = format!("{} {flags} --report {}", study.replace('.', " "), report.display());
        let ended = trueplane(&command);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{command}");
        for width in WIDTHS {
            let _ = write!(
                all,
                "<iframe title='{study} at {width}' src='{study}/index.html' style='width:{width}px;height:900px;border:0'></iframe>"
            );
        }
    }
    let _ = write!(all, "<script>addEventListener('load', () => {{ {MEASURE} }})</script>");
    fs::write(folder.path().join("all.html"), all).expect("it can be written");
    let [dark, light] = [0, 1].map(|scheme| shown(browser, folder.path(), scheme));
    for found in [&dark, &light] {
        assert_eq!(found.problems, [] as [&str; 0]);
        assert_eq!(found.measured.len(), STUDIES.len() * WIDTHS.len());
        assert!(found.measured.iter().filter(|(_, words, _)| *words > 0).count() > STUDIES.len());
    }
    for (dark, light) in dark.measured.iter().zip(&light.measured) {
        assert_eq!((&dark.0, dark.1), (&light.0, light.1));
        assert_ne!(dark.2, light.2, "{}: one ground for light and dark", dark.0);
    }
}

/// The list above has every study that there is.
#[test]
fn every_study_has_a_page_that_is_looked_at() {
    let schemas = fs::read_dir(root().join("docs/reference/schema")).expect("there are schemas");
    let names =
        schemas.map(|entry| entry.expect("it can be read").file_name().into_string().expect("it is text"));
    let studies: BTreeSet<String> =
        names.map(|name| name.trim_end_matches(".json").to_owned()).filter(|name| name != "live").collect();
    let listed: BTreeSet<String> =
        STUDIES.iter().map(|(study, _)| *study).chain(LIVE).map(str::to_owned).collect();
    assert_eq!(listed, studies);
}

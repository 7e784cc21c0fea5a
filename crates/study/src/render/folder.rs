//! The report as a folder: `index.html`, one CSV per table and plot, `report.json`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use super::names::{DOCUMENT, FileNames};
use super::picture::picture;
use super::{csv, page};
use crate::report::{Plot, Report, Table};

/// The page that opens in a browser.
const PAGE: &str = "index.html";
/// The picture of the three numbers.
const PICTURE: &str = "picture.svg";
/// Writes `report` into the folder `dir`, which is created where needed, and returns the path of the page.
///
/// All files are written aside first and then moved into place, the page last: a full disk or a crash leaves no file
/// half-written. Tables and plots of a report that was here before are removed; other files are left alone.
///
/// # Errors
/// Whatever the file system reports, with the path in front.
pub fn write_report(report: &Report, dir: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(dir).map_err(|error| at(dir, &error))?;
    // Inside `dir`, not beside it: `dir` may be a mount point, and a rename cannot cross file systems.
    let staging =
        tempfile::Builder::new().prefix(".trueplane-").tempdir_in(dir).map_err(|error| at(dir, &error))?;
    let files = files(report).map_err(|error| at(dir, &error))?;
    for (name, bytes) in &files {
        fs::write(staging.path().join(name), bytes).map_err(|error| at(&dir.join(name), &error))?;
    }
    let before = files_before(dir);
    for (name, _) in &files {
        let target = dir.join(name);
        fs::rename(staging.path().join(name), &target).map_err(|error| at(&target, &error))?;
    }
    for name in before.iter().filter(|name| files.iter().all(|(new, _)| new != *name)) {
        let target = dir.join(name);
        match fs::remove_file(&target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&target, &error)),
            _ => {}
        }
    }
    Ok(dir.join(PAGE))
}

/// Every file with its content; the page last, so that what it links to is there before it is.
fn files(report: &Report) -> io::Result<Vec<(String, Vec<u8>)>> {
    let names = FileNames::of(report);
    let mut files = Vec::new();
    for (table, name) in report.tables.iter().zip(&names.tables) {
        files.push((name.clone(), csv::table(table)?));
    }
    for (plot, name) in report.plots.iter().zip(&names.plots) {
        files.push((name.clone(), csv::plot(plot)?));
    }
    let mut document = serde_json::to_vec_pretty(&report.document)?;
    document.push(b'\n');
    files.push((DOCUMENT.to_owned(), document));
    files.extend(picture(report).map(|svg| (PICTURE.to_owned(), svg.into_bytes())));
    files.push((PAGE.to_owned(), page::page(report, &names).into_bytes()));
    Ok(files)
}

/// The tables and plots of a report that was written here before, by its document; none if there is no such document.
fn files_before(dir: &Path) -> Vec<String> {
    let document = fs::read(dir.join(DOCUMENT)).ok();
    let document: Option<Value> = document.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(document) = document.filter(|document| document["study"].is_string()) else { return Vec::new() };
    let ids = |key: &str| {
        let named = document[key].as_object();
        named.map_or_else(Vec::new, |named| named.keys().cloned().collect())
    };
    let report = Report {
        tables: ids("tables").into_iter().map(|id| Table { id, ..Table::default() }).collect(),
        plots: ids("plots").into_iter().map(|id| Plot { id, ..Plot::default() }).collect(),
        ..Report::default()
    };
    let names = FileNames::of(&report);
    names.tables.into_iter().chain(names.plots).chain([PICTURE.to_owned()]).collect()
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    fn names_in(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_holds_the_page_and_its_data() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("a/b");
        let report = sample::report();
        let page = write_report(&report, &dir).unwrap();
        assert_eq!(page, dir.join("index.html"));
        let expected = [
            "gap.csv",
            "hit-rate.csv",
            "index.html",
            "latency.csv",
            "policies-100ms.csv",
            "policies-10ms.csv",
            "policies-1ms.csv",
            "report.json",
        ];
        assert_eq!(names_in(&dir), expected);
        let html = fs::read_to_string(page).unwrap();
        for name in expected.iter().filter(|name| **name != "index.html") {
            assert!(html.contains(&format!("href=\"{name}\"")), "{name}");
        }
        let document: Value = serde_json::from_slice(&fs::read(dir.join("report.json")).unwrap()).unwrap();
        assert_eq!(document, report.document);
    }

    #[test]
    fn a_second_report_replaces_the_first_and_leaves_other_files_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("notes.txt"), "mine").unwrap();
        let mut report = sample::report();
        write_report(&report, dir.path()).unwrap();
        report.title = "the second".into();
        let page = write_report(&report, dir.path()).unwrap();
        assert!(fs::read_to_string(page).unwrap().contains("the second"));
        assert_eq!(fs::read_to_string(dir.path().join("notes.txt")).unwrap(), "mine");
        assert_eq!(names_in(dir.path()).len(), 9);
        // What only an earlier report had would pass for a part of this one.
        report.document = serde_json::json!({ "study": "a.b", "tables": { "old": [] }, "plots": {} });
        write_report(&report, dir.path()).unwrap();
        fs::write(dir.path().join("old.csv"), "of the third").unwrap();
        write_report(&report, dir.path()).unwrap();
        assert_eq!(names_in(dir.path()).len(), 9);
    }

    #[test]
    fn errors_name_the_path() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("taken");
        fs::write(&file, "").unwrap();
        let error = write_report(&sample::report(), &file).unwrap_err();
        assert!(error.to_string().starts_with(file.to_str().unwrap()), "{error}");

        let blocked = parent.path().join("report/index.html");
        fs::create_dir_all(&blocked).unwrap();
        let error = write_report(&sample::report(), &parent.path().join("report")).unwrap_err();
        assert!(error.to_string().starts_with(blocked.to_str().unwrap()), "{error}");
    }

    #[test]
    fn no_id_leaves_the_folder_or_hides_another() {
        let table = |id: &str| Table { id: id.into(), ..Table::default() };
        let report = Report {
            tables: ["../../etc/passwd", "", "Same", "same"].map(table).into(),
            plots: vec![Plot { id: "same".into(), ..Plot::default() }],
            ..Report::default()
        };
        let names = FileNames::of(&report);
        assert_eq!(names.tables, ["etc-passwd.csv", "data.csv", "Same.csv", "same-2.csv"]);
        assert_eq!(names.plots, ["same-3.csv"]);
    }
}

//! Runs the command as a user would, from the root of the repository.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a command left behind.
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The one JSON document on stdout. The document of a study has to fit the study's schema.
    pub(crate) fn json(&self) -> Value {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""));
        let document: Value =
            serde_json::from_str(&self.stdout).expect("stdout is one JSON document and nothing else");
        if document.get("schema").is_some() {
            check_schema(&document);
        }
        document
    }

    /// The one line of an error of status 2.
    #[track_caller]
    pub(crate) fn refusal(&self) -> &str {
        assert_eq!((self.status, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        let line = self.stderr.strip_suffix('\n').expect("a whole line");
        assert!(!line.contains('\n') && line.starts_with("error: "), "{line}");
        line
    }
}

/// Holds a document to the generated schema of its study.
fn check_schema(document: &Value) {
    let file = |name: &str| root().join(format!("docs/reference/schema/{name}.json"));
    // What xtask knows to be a study has a schema of its own; live commands share one.
    let study = document["study"].as_str().expect("a name");
    let name = if file(study).exists() { study } else { "live" };
    let schema = std::fs::read_to_string(file(name)).expect("there is a schema");
    let schema: Value = serde_json::from_str(&schema).expect("a schema is JSON");
    let problems = trueplane_testing::schema::problems(&schema, document);
    assert!(problems.is_empty(), "the document does not fit {name}: {problems:#?}");
    let verdict: Vec<&str> =
        document["verdict"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let words = verdict.iter().map(|sentence| sentence.split_whitespace().count()).sum::<usize>();
    assert!(verdict.len() <= 5 && words <= 120, "{} sentences, {words} words: {verdict:#?}", verdict.len());
}

/// `trueplane` with these arguments, split at spaces, and this standard input.
pub(crate) fn trueplane_on(input: &[u8], arguments: &str) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueplane"))
        .args(arguments.split_whitespace())
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    // A command that refuses its flags does not read.
    let _ = child.stdin.take().expect("it is piped").write_all(input);
    let output = child.wait_with_output().expect("it ends");
    Ended {
        status: output.status.code().expect("it was not killed"),
        stdout: String::from_utf8(output.stdout).expect("it is text"),
        stderr: String::from_utf8(output.stderr).expect("it is text"),
    }
}

pub(crate) fn trueplane(arguments: &str) -> Ended {
    trueplane_on(b"", arguments)
}

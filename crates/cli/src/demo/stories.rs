//! The stories: a question, the study that answers it on a sample, and the command that answers it for the user.

use clap::{Args as _, Command, FromArgMatches as _};
use trueplane_study::Study;
use trueplane_study::report::Report;

use crate::failure::Failure;
use crate::study::Run;
use crate::watch::Watch;

/// A question that people ask, and how it is answered.
pub(super) struct Story {
    /// The question, in one sentence.
    pub(super) question: &'static str,
    /// The command line that answers it on samples, which stand in the folder [`SAMPLES`].
    pub(super) command: &'static str,
    /// The command line that answers it on the user's own data.
    pub(super) own: &'static str,
    /// The study of that command.
    study: fn(&[String], &Watch) -> Result<Report, Failure>,
}

/// The folder of the samples in command lines.
pub(super) const SAMPLES: &str = "examples/";

/// All stories, in the order in which they are told.
pub(super) const STORIES: [Story; 5] = [
    Story {
        question: "Does the cache policy with the best hit rate also have the lowest latency?",
        command: "trueplane cache compare examples/cdn-200k.csv.zst --latency 100ms",
        own: "trueplane cache compare access.log --latency 100ms",
        study: find::<trueplane_cache::compare::Compare>,
    },
    Story {
        question: "One tenant opens 40 connections. What do the others get, and what would limits change?",
        command: "trueplane limit replay examples/tenants.pcap --classes examples/classes.toml",
        own: "tcpdump -i eth0 -c 100000 -w - | trueplane limit replay - --classes classes.toml",
        study: find::<trueplane_limit::replay::Replay>,
    },
    Story {
        question: "Who waits on a shared cluster because its scheduler forgets the past?",
        command: "trueplane fair simulate examples/jobs.csv --capacity 50%",
        own: "trueplane fair simulate jobs.csv --capacity 50%",
        study: find::<trueplane_fair::simulate::Simulate>,
    },
    Story {
        question: "How much can an attacker's slow packets cost your users?",
        command: "trueplane surge guard examples/packets.csv",
        own: "trueplane surge guard packets.csv",
        study: find::<trueplane_surge::guard::Guard>,
    },
    Story {
        question: "Packets are hashed to eight cores. How many cores work when one flow is large?",
        command: "trueplane spray compare --flows 1,64 --cycles 10000 --policies rss,spray",
        own: "trueplane spray compare capture.pcap --cycles 10000 --policies rss,spray",
        study: find::<trueplane_spray::compare::Compare>,
    },
];

impl Story {
    /// Runs the study on the samples in `folder`, which ends in a slash.
    pub(super) fn run(&self, folder: &str, watch: &Watch) -> Result<Report, Failure> {
        // The first three words name the study.
        let words = self.command.split_whitespace().skip(3);
        let words: Vec<String> = words.map(|word| word.replacen(SAMPLES, folder, 1)).collect();
        (self.study)(&words, watch)
    }
}

/// Runs a study with these words of a command line.
fn find<S: Study>(words: &[String], watch: &Watch) -> Result<Report, Failure> {
    let command = Run::<S>::augment_args(Command::new(S::NAME).no_binary_name(true));
    let run = command.try_get_matches_from(words).and_then(|matches| Run::<S>::from_arg_matches(&matches));
    run.map_err(|error| Failure::flags(&error))?.find(watch)
}

//! Running the programs on packets that never were on a wire.

use std::mem::MaybeUninit;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, OpenObject, ProgramInput};
use trueplane_linux::error::Error;
use trueplane_linux::privileges;
use trueplane_units::Nanos;

use super::program::{Programs, limiter_bytes};
use super::{Counter, Tuning};
use crate::classes::Classes;
use crate::classifier::Classifier;
use crate::format::RateWord;
use crate::policy::Nimble;

/// Program to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The one that is attached for XDP.
    Xdp,
    /// The one that is attached to tc.
    Tc,
    /// As for XDP, with a source address that changes within its /8 from one run to the next.
    Walk,
    /// Only what no limiter can do without, parsing and the clock, with a source address that changes likewise.
    Floor,
}

/// The size of the kernel's `struct __sk_buff` up to its mark and a little more; the rest counts as zero.
const SK_BUFF_BYTES: usize = 64;

/// The programs on a test bench: the kernel runs them on given packets (`BPF_PROG_TEST_RUN`), and nothing is attached anywhere.
pub struct Bench {
    // The programs borrow from the object, which therefore is never dropped; a bench is made for as long as a test runs.
    programs: Programs<'static>,
    classifier: Classifier,
}

impl Bench {
    /// Loads the programs for `classes`.
    pub fn new(classes: &Classes, tuning: Tuning) -> Result<Self, Error> {
        privileges::require("running limits on a test bench")?;
        let classifier = Classifier::new(classes);
        let object: &'static mut MaybeUninit<OpenObject> = Box::leak(Box::new(MaybeUninit::uninit()));
        Ok(Self { programs: Programs::load(&classifier, tuning, true, object)?, classifier })
    }

    /// Sets the time of [`super::Clock::Given`], and with it the size that packets are taken to have; 0 for their own.
    pub fn set_given(&mut self, now: Nanos, bytes: u32) {
        if let Some(variables) = self.programs.skel.maps.bss_data.as_deref_mut() {
            variables.given_now_ns = now.0;
            variables.given_bytes = bytes;
        }
    }

    /// Runs a program on a frame, `repeat` times; returns whether the last one was let through, and the mean time of one.
    pub fn run(&self, subject: Subject, frame: &[u8], repeat: u32) -> Result<(bool, Duration), Error> {
        self.run_marked(subject, frame, 0, repeat)
    }

    /// As [`Self::run`], with a mark on the packet, which only the program of tc sees.
    pub fn run_marked(
        &self,
        subject: Subject,
        frame: &[u8],
        fwmark: u32,
        repeat: u32,
    ) -> Result<(bool, Duration), Error> {
        self.test_run(subject, frame, fwmark, repeat, None)
    }

    /// As [`Self::run_marked`], once; returns whether the packet was let through, and the packet as it came out.
    pub fn run_frame(&self, subject: Subject, frame: &[u8], fwmark: u32) -> Result<(bool, Vec<u8>), Error> {
        let mut out = vec![0; frame.len()];
        let (through, _) = self.test_run(subject, frame, fwmark, 1, Some(&mut out))?;
        Ok((through, out))
    }

    fn test_run(
        &self,
        subject: Subject,
        frame: &[u8],
        fwmark: u32,
        repeat: u32,
        out: Option<&mut [u8]>,
    ) -> Result<(bool, Duration), Error> {
        const XDP_PASS: u32 = 2;
        const TC_ACT_UNSPEC: u32 = u32::MAX;
        // The kernel's `struct __sk_buff`, whose third word is the mark.
        let mut context = [0; SK_BUFF_BYTES];
        context[8..12].copy_from_slice(&fwmark.to_ne_bytes());
        let progs = &self.programs.skel.progs;
        let (program, pass, context_in) = match subject {
            Subject::Xdp => (&progs.limit_xdp, XDP_PASS, None),
            Subject::Tc => (&progs.limit_tc, TC_ACT_UNSPEC, Some(&mut context[..])),
            Subject::Walk => (&progs.limit_walk, XDP_PASS, None),
            Subject::Floor => (&progs.limit_floor, XDP_PASS, None),
        };
        let input = ProgramInput {
            data_in: Some(frame),
            data_out: out,
            context_in,
            repeat,
            ..ProgramInput::default()
        };
        let output = program.test_run(input).map_err(Error::kernel("run the limiter's program"))?;
        Ok((output.return_value == pass, output.duration))
    }

    /// Gives all cores the same credit with a limiter, in bytes, and says whether packets that use it are marked.
    pub fn set_credit(&self, index: u32, bytes: u32, marked: bool) -> Result<(), Error> {
        let credit = [bytes.to_ne_bytes(), u32::from(marked).to_ne_bytes()].concat();
        let credits = &self.programs.skel.maps.credits;
        for key in self.credit_keys(index) {
            credits.update(&key, &credit, MapFlags::ANY).map_err(Error::kernel("set a credit"))?;
        }
        Ok(())
    }

    /// Each core's credit with a limiter: bytes, and whether packets that use it are marked.
    pub fn credits(&self, index: u32) -> Result<Vec<(u32, bool)>, Error> {
        let credits = &self.programs.skel.maps.credits;
        let word =
            |value: &[u8], at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| value[4 * at + byte]));
        let mut found = Vec::new();
        for key in self.credit_keys(index) {
            let value = credits.lookup(&key, MapFlags::ANY).map_err(Error::kernel("read a credit"))?;
            found.extend(value.map(|value| (word(&value, 0), word(&value, 1) != 0)));
        }
        Ok(found)
    }

    /// The places of all cores' credit with a limiter.
    fn credit_keys(&self, index: u32) -> impl Iterator<Item = [u8; 4]> {
        let limiters = self.classifier.limiter_count();
        let cores = self.programs.skel.maps.credits.max_entries() / limiters;
        (0..cores).map(move |core| (core * limiters + index).to_ne_bytes())
    }

    /// Sweeps all limiters at the time of [`Self::set_given`].
    pub fn sweep(&self) -> Result<(), Error> {
        let run = self.programs.skel.progs.sweep_given.test_run(ProgramInput::default());
        run.map(drop).map_err(Error::kernel("run the sweep"))
    }

    /// A limiter as it is.
    pub fn limiter(&self, index: u32) -> Result<Nimble, Error> {
        let refused = Error::kernel("read a limiter");
        let value =
            self.programs.skel.maps.limiters.lookup(&index.to_ne_bytes(), MapFlags::ANY).map_err(refused)?;
        let value = value.ok_or_else(|| Error::Request(format!("there is no limiter {index}")))?;
        let word = |at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| value[4 * at + byte]));
        Ok(Nimble {
            last_ticks: word(0),
            occupancy_units: word(1),
            rate: RateWord(word(2)),
            burst_units: word(3),
        })
    }

    /// Puts a limiter into a state.
    pub fn set_limiter(&self, index: u32, limiter: &Nimble) -> Result<(), Error> {
        let refused = Error::kernel("set a limiter");
        self.programs
            .skel
            .maps
            .limiters
            .update(&index.to_ne_bytes(), &limiter_bytes(limiter), MapFlags::ANY)
            .map_err(refused)
    }

    /// A counter, over all cores.
    pub fn counter(&self, index: u32) -> Result<Counter, Error> {
        Counter::read(&self.programs.skel.maps.counters, index)
    }

    /// The numbers and names of classes, limiters and counters.
    pub fn classifier(&self) -> &Classifier {
        &self.classifier
    }
}

//! The eBPF programs with their tables, loaded and filled for a set of classes.

use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, OpenObject, Program, ProgramInput as Input};
use trueplane_linux::clock;
use trueplane_linux::error::Error;

use super::hook::Mode;
use super::skeleton::{LimitSkel, LimitSkelBuilder, OpenLimitSkel, types};
use super::{Clock, Tuning};
use crate::classifier::{Classifier, Direction, PrefixRule, Target};
use crate::format::REFRESH_NANOS;
use crate::policy::Nimble;

/// Limiters that one turn of the sweep looks at: a fraction of a millisecond.
const SWEEP_CHUNK: u32 = 4096;

/// The programs, loaded and ready to be attached or run on test packets.
pub(crate) struct Programs<'obj> {
    /// Skeleton that libbpf made of the programs.
    pub(crate) skel: LimitSkel<'obj>,
}

impl<'obj> Programs<'obj> {
    /// Loads the programs into `object` and fills their tables; with `timing`, also those that are only for timing.
    pub(crate) fn load(
        classifier: &Classifier,
        tuning: Tuning,
        timing: bool,
        object: &'obj mut MaybeUninit<OpenObject>,
    ) -> Result<Self, Error> {
        let refused = || Error::kernel("load the limiter's programs");
        let mut open = LimitSkelBuilder::default().open(object).map_err(refused())?;
        open.progs.limit_walk.set_autoload(timing);
        open.progs.limit_floor.set_autoload(timing);
        configure(&mut open, classifier, tuning).map_err(refused())?;
        let programs = Self { skel: open.load().map_err(refused())? };
        programs.fill(classifier, tuning.clock).map_err(Error::kernel("fill the limiter's tables"))?;
        Ok(programs)
    }

    /// A descriptor of any of the programs, where one is needed to ask the kernel.
    pub(crate) fn any(&self) -> BorrowedFd<'_> {
        self.skel.progs.limit_xdp.as_fd()
    }

    /// The kernel's number of the program for a mode.
    pub(crate) fn number(&self, mode: Mode) -> Result<u32, Error> {
        let program = match mode {
            Mode::Xdp => self.skel.progs.limit_xdp.as_fd(),
            Mode::Tc => self.skel.progs.limit_tc.as_fd(),
        };
        Program::id_from_fd(program).map_err(Error::kernel("look at the limiter's programs"))
    }

    /// Starts the sweep that keeps idle limiters' clocks from wrapping unseen.
    pub(crate) fn start_sweep(&self) -> Result<(), Error> {
        let refused = || Error::kernel("start the sweep of idle limiters");
        let output = self.skel.progs.start_sweep.test_run(Input::default()).map_err(refused())?;
        match output.return_value {
            0 => Ok(()),
            code => Err(refused()(libbpf_rs::Error::from_raw_os_error((code as i32).abs()))),
        }
    }

    /// Takes over what is in the buckets of limiters that have the same name in what runs now: `before` has them by name.
    pub(crate) fn inherit(
        &self,
        classifier: &Classifier,
        before: impl Fn(&str) -> Option<Nimble>,
    ) -> Result<(), Error> {
        let limiters = &self.skel.maps.limiters;
        for (index, mut limiter) in (0..).zip(classifier.limiters()) {
            let name = classifier.limiter_name(index).unwrap_or_default();
            let Some(mut old) = before(&name) else { continue };
            // What has drained until now drained at the old rate.
            old.advance(clock::monotonic());
            (limiter.last_ticks, limiter.occupancy_units) = (old.last_ticks, old.occupancy_units);
            limiters
                .update(&index.to_ne_bytes(), &limiter_bytes(&limiter), MapFlags::ANY)
                .map_err(Error::kernel("take over the limiters' state"))?;
        }
        Ok(())
    }

    /// Pins what has to outlive this process beyond the programs themselves.
    pub(crate) fn pin(&mut self, folder: &Path) -> libbpf_rs::Result<()> {
        let maps = &mut self.skel.maps;
        maps.limiters.pin(folder.join("limiters"))?;
        maps.counters.pin(folder.join("counters"))?;
        // A timer runs for as long as somebody holds its map.
        maps.sweeps.pin(folder.join("sweeps"))
    }

    fn fill(&self, classifier: &Classifier, reading: Clock) -> libbpf_rs::Result<()> {
        let maps = &self.skel.maps;
        let now = clock::monotonic();
        // A given clock begins at zero.
        let started = |limiter: Nimble| if reading == Clock::Given { limiter } else { limiter.idle_at(now) };
        let limiters = (0u32..).zip(classifier.limiters().map(started));
        put_all(
            &maps.limiters,
            limiters.map(|(index, limiter)| (index.to_ne_bytes(), limiter_bytes(&limiter).to_vec())),
        )?;
        let around = (0..classifier.limiter_count()).filter_map(|limiter| {
            Some((limiter.to_ne_bytes(), (classifier.parent(limiter)? + 1).to_ne_bytes().to_vec()))
        });
        put_all(&maps.parents, around)?;
        let rules = classifier.rules();
        let by_vlan = rules
            .vlans
            .iter()
            .map(|(vlan, target)| (u32::from(*vlan).to_ne_bytes(), target_bytes(target, 0)));
        put_all(&maps.vlans, by_vlan)?;
        let by_mark =
            rules.fwmarks.iter().map(|(mark, target)| (mark.to_ne_bytes(), target_bytes(target, 0)));
        put_all(&maps.fwmarks, by_mark)?;
        for rule in &rules.prefixes {
            let map = match (rule.direction, rule.prefix.addr()) {
                (Direction::Source, IpAddr::V4(_)) => &maps.source4,
                (Direction::Destination, IpAddr::V4(_)) => &maps.destination4,
                (Direction::Source, IpAddr::V6(_)) => &maps.source6,
                (Direction::Destination, IpAddr::V6(_)) => &maps.destination6,
            };
            map.update(
                &trie_key(rule),
                &target_bytes(&rule.target, rule.prefix.prefix_len()),
                MapFlags::ANY,
            )?;
        }
        Ok(())
    }
}

/// Sizes the tables and sets what is constant to the programs.
fn configure(open: &mut OpenLimitSkel<'_>, classifier: &Classifier, tuning: Tuning) -> libbpf_rs::Result<()> {
    let limiters = classifier.limiter_count();
    // One more, for packets of no class.
    let counters = classifier.counter_count() + 1;
    let has_parents = (0..limiters).any(|limiter| classifier.parent(limiter).is_some());
    let rules = classifier.rules();
    let prefixes = |direction: Direction, four: bool| {
        let found = |rule: &&PrefixRule| rule.direction == direction && rule.prefix.addr().is_ipv4() == four;
        rules.prefixes.iter().filter(found).count() as u32
    };
    let (source4, destination4) = (prefixes(Direction::Source, true), prefixes(Direction::Destination, true));
    let (source6, destination6) =
        (prefixes(Direction::Source, false), prefixes(Direction::Destination, false));

    let maps = &mut open.maps;
    maps.limiters.set_max_entries(limiters.max(1))?;
    maps.parents.set_max_entries(if has_parents { limiters } else { 1 })?;
    let cores = u32::try_from(libbpf_rs::num_possible_cpus()?).unwrap_or(u32::MAX);
    maps.credits.set_max_entries(if tuning.draw_bytes > 0 { limiters.saturating_mul(cores) } else { 1 })?;
    maps.counters.set_max_entries(counters)?;
    maps.fwmarks.set_max_entries((rules.fwmarks.len() as u32).max(1))?;
    maps.source4.set_max_entries(source4.max(1))?;
    maps.destination4.set_max_entries(destination4.max(1))?;
    maps.source6.set_max_entries(source6.max(1))?;
    maps.destination6.set_max_entries(destination6.max(1))?;

    // A few rules are faster tried one by one than looked up in a trie.
    let ranges = ranges(classifier);
    let turns = limiters.div_ceil(SWEEP_CHUNK).max(1);
    let mut settings = types::settings {
        clock_every: match tuning.clock {
            Clock::Exact | Clock::Given => 1,
            Clock::Amortised { every } => every,
        },
        draw_bytes: tuning.draw_bytes,
        ranges: ranges.len() as u32,
        sweep_chunk: SWEEP_CHUNK.min(limiters.max(1)),
        sweep_every_ns: REFRESH_NANOS / u64::from(turns),
        has_fwmarks: u8::from(!rules.fwmarks.is_empty()),
        has_vlans: u8::from(!rules.vlans.is_empty()),
        has_source4: u8::from(ranges.is_empty() && source4 > 0),
        has_destination4: u8::from(ranges.is_empty() && destination4 > 0),
        has_source6: u8::from(source6 > 0),
        has_destination6: u8::from(destination6 > 0),
        has_parents: u8::from(has_parents),
        given_clock: u8::from(matches!(tuning.clock, Clock::Given)),
        limiters,
        counters,
        fallback: rules.default.as_ref().map_or_else(types::target::default, |rule| target(rule, 0)),
        ..types::settings::default()
    };
    settings.range[..ranges.len()].copy_from_slice(&ranges);
    if let Some(rodata) = open.maps.rodata_data.as_deref_mut() {
        rodata.settings = settings;
    }
    Ok(())
}

/// The rules on IPv4 addresses in the order in which they count, if they are few enough to be tried one by one.
fn ranges(classifier: &Classifier) -> Vec<types::range> {
    let mut rules: Vec<_> =
        classifier.rules().prefixes.iter().filter(|rule| rule.prefix.addr().is_ipv4()).collect();
    if rules.len() > types::settings::default().range.len() {
        return Vec::new();
    }
    rules.sort_by_key(|rule| (rule.direction == Direction::Destination, u8::MAX - rule.prefix.prefix_len()));
    let range = |rule: &PrefixRule| {
        let (IpAddr::V4(network), IpAddr::V4(mask)) = (rule.prefix.addr(), rule.prefix.netmask()) else {
            return types::range::default();
        };
        types::range {
            network: network.to_bits(),
            mask: mask.to_bits(),
            by_destination: u8::from(rule.direction == Direction::Destination),
            unused: [0; 3],
            target: target(&rule.target, rule.prefix.prefix_len()),
        }
    };
    rules.into_iter().map(range).collect()
}

fn target(target: &Target, prefix_len: u8) -> types::target {
    types::target {
        limiter: target.limiter,
        counter: target.counter,
        prefix_len,
        width: target.width as u8,
        count_each: u8::from(target.count_each),
        valid: 1,
    }
}

/// `struct target` of the program.
fn target_bytes(rule: &Target, prefix_len: u8) -> Vec<u8> {
    let target = target(rule, prefix_len);
    let mut bytes = Vec::with_capacity(size_of::<types::target>());
    bytes.extend(target.limiter.to_ne_bytes());
    bytes.extend(target.counter.to_ne_bytes());
    bytes.extend([target.prefix_len, target.width, target.count_each, target.valid]);
    bytes
}

/// `struct limiter` of the program: the four words in their order.
pub(crate) fn limiter_bytes(limiter: &Nimble) -> [u8; 16] {
    let words = [limiter.last_ticks, limiter.occupancy_units, limiter.rate.0, limiter.burst_units];
    let mut bytes = [0; 16];
    for (at, word) in bytes.chunks_exact_mut(4).zip(words) {
        at.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

/// `struct key4` or `struct key6` of the program.
fn trie_key(rule: &PrefixRule) -> Vec<u8> {
    let mut key = u32::from(rule.prefix.prefix_len()).to_ne_bytes().to_vec();
    match rule.prefix.addr() {
        IpAddr::V4(address) => key.extend(address.octets()),
        IpAddr::V6(address) => key.extend(address.octets()),
    }
    key
}

/// Updates in batches: a million limiters one by one would take seconds.
fn put_all<K: AsRef<[u8]>>(
    map: &impl MapCore,
    entries: impl Iterator<Item = (K, Vec<u8>)>,
) -> libbpf_rs::Result<()> {
    const BATCH: usize = 8192;
    let (mut keys, mut values, mut count) = (Vec::new(), Vec::new(), 0);
    let mut entries = entries.peekable();
    while let Some((key, value)) = entries.next() {
        keys.extend_from_slice(key.as_ref());
        values.extend_from_slice(&value);
        count += 1;
        if count == BATCH || entries.peek().is_none() {
            map.update_batch(&keys, &values, count as u32, MapFlags::ANY, MapFlags::ANY)?;
            (keys, values, count) = (Vec::new(), Vec::new(), 0);
        }
    }
    Ok(())
}

//! What was attached, as it is kept beside the limiters.

use std::path::Path;

use libbpf_rs::libbpf_sys::bpf_map_create_opts;
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use serde::{Deserialize, Serialize};
use trueplane_linux::device::Device;
use trueplane_linux::error::Error;

use super::Tuning;
use super::hook::{Direction, Hook, Mode};
use crate::classes::Classes;

/// Description of attached limits, kept beside the limiters for whoever comes later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct About {
    /// The device; of limits that run, by the name that it has now.
    pub device: Device,
    /// The kernel's number of the device's network namespace when they were attached.
    #[serde(default)]
    pub namespace: u64,
    /// The device's index, likewise.
    pub index: i32,
    /// The kernel's hook.
    pub mode: Mode,
    /// Direction of the packets that are limited.
    pub direction: Direction,
    /// Exactness of the programs.
    pub tuning: Tuning,
    /// The limits as they were attached; [`Attached::limiter`](super::Attached::limiter) tells what has been set since.
    pub classes: Classes,
    /// The kernel's number of the program that runs.
    pub program_id: u32,
    /// Whether the device had no clsact before.
    pub made_clsact: bool,
}

/// Names of the pins for a device.
pub(super) const PINS: [&str; 4] = ["about", "counters", "limiters", "sweeps"];

/// Room for the numbers that are filled in after the map was made.
const ABOUT_SLACK: usize = 64;

impl About {
    /// Hook at which the program runs.
    pub(super) fn hook(&self) -> Hook {
        Hook { index: self.index, mode: self.mode, direction: self.direction }
    }

    /// Whether the clsact at which a program at `hook` would run is one that was made for this.
    pub(super) fn keeps_place(&self, hook: Hook) -> bool {
        self.made_clsact && (self.mode, hook.mode) == (Mode::Tc, Mode::Tc)
    }

    /// A map that holds this, and nothing else.
    pub(super) fn create_map(&self) -> Result<MapHandle, Error> {
        let size = self.encode()?.len() + ABOUT_SLACK;
        let options =
            bpf_map_create_opts { sz: size_of::<bpf_map_create_opts>() as u64, ..Default::default() };
        let refused = Error::kernel("create the table of what is attached");
        let map =
            MapHandle::create(MapType::Array, Some("about"), 4, size as u32, 1, &options).map_err(refused)?;
        self.store(&map)?;
        Ok(map)
    }

    pub(super) fn store(&self, map: &MapHandle) -> Result<(), Error> {
        let mut value = self.encode()?;
        value.resize(map.value_size() as usize, 0);
        map.update(&0u32.to_ne_bytes(), &value, MapFlags::ANY)
            .map_err(Error::kernel("store what is attached"))
    }

    /// Reads the description that is pinned in a folder.
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        Self::load(&open(folder, "about")?)
    }

    fn load(map: &MapHandle) -> Result<Self, Error> {
        let refused = Error::kernel("read what is attached");
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(refused)?.unwrap_or_default();
        let end = value.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        serde_json::from_slice(&value[..end]).map_err(|error| {
            Error::Request(format!("limits that another version of trueplane attached: {error}"))
        })
    }

    fn encode(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self)
            .map_err(|error| Error::Request(format!("the classes cannot be stored: {error}")))
    }
}

/// A map that is pinned in a folder.
pub(super) fn open(folder: &Path, name: &str) -> Result<MapHandle, Error> {
    let path = folder.join(name);
    let refused = Error::kernel(format!("open {}", path.display()));
    MapHandle::from_pinned_path(&path).map_err(refused)
}

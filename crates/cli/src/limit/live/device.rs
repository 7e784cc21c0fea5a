//! Which network device.

use std::io::Write as _;

use trueplane_limit::live as limit;
use trueplane_linux::Device;
use trueplane_units::{Datum, Value, parameters, unexpected};

use crate::failure::Failure;

/// A name that the system knows. One that is not given is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Name(String);

impl Value for Name {
    fn expected() -> String {
        "a name".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(unexpected(Self::expected(), text)) } else { Ok(Self(text.to_owned())) }
    }

    fn show(&self) -> String {
        self.0.clone()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

parameters! {
    /// The device of a command that has to name one.
    #[derive(Clone, Debug)]
    pub(crate) struct OneDevice {
        /// Network device, such as eth0.
        dev: Name => { value: "IFACE", required: true },
        /// Network namespace of the device, by its name in `ip netns`. Use this flag instead of `ip netns exec`.
        netns: Option<Name> => { value: "NETNS" },
    }
}

impl OneDevice {
    pub(crate) fn device(&self) -> Result<Device, Failure> {
        Ok(Device::new(&self.dev.0, self.netns.as_ref().map(|Name(name)| name.as_str()))?)
    }
}

parameters! {
    /// The device of a command that can find one.
    #[derive(Clone, Debug)]
    pub(crate) struct AnyDevice {
        /// Network device, such as eth0.
        dev: Option<Name> => { value: "IFACE", default_words: "the only one that has limits" },
        /// Network namespace of the device, by its name in `ip netns`. Use this flag instead of `ip netns exec`.
        netns: Option<Name> => { value: "NETNS", requires: "dev" },
    }
}

impl AnyDevice {
    pub(crate) fn device(&self) -> Result<Device, Failure> {
        if let Some(dev) = &self.dev {
            return OneDevice { dev: dev.clone(), netns: self.netns.clone() }.device();
        }
        let (attached, lost) = limit::survey()?;
        let mut devices: Vec<_> = attached.iter().map(|attached| attached.about().device.clone()).collect();
        if let ([], [first, ..]) = (&devices[..], &lost[..]) {
            return Err(Failure::input(format!(
                "no network device has limits; those of {} {first}",
                first.device
            )));
        }
        for lost in lost {
            // Whoever closed stderr does not want to know.
            let _ = writeln!(std::io::stderr(), "warning: the limits of {} {lost}", lost.device);
        }
        match devices.len() {
            1 => Ok(devices.remove(0)),
            0 => {
                Err(Failure::input("no network device has limits; attach some with `trueplane limit attach`"))
            }
            _ => {
                let names = devices.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                Err(Failure::input(format!(
                    "several network devices have limits ({names}); name one with --dev"
                )))
            }
        }
    }
}

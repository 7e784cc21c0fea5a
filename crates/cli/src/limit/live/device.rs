//! Which network device.

use std::io::Write as _;

use trueplane_limit::live as limit;
use trueplane_linux::Device;

use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct DeviceArgs {
    /// The network device, such as eth0
    #[arg(long, value_name = "IFACE")]
    dev: String,

    /// The device's network namespace, as `ip netns` names it; use this rather than `ip netns exec`
    #[arg(long, value_name = "NAME")]
    netns: Option<String>,
}

impl DeviceArgs {
    pub(crate) fn device(&self) -> Result<Device, Failure> {
        Ok(Device::new(&self.dev, self.netns.as_deref())?)
    }
}

#[derive(clap::Args)]
pub(crate) struct OptionalDeviceArgs {
    /// The network device [default: the only one that has limits]
    #[arg(long, value_name = "IFACE")]
    dev: Option<String>,

    /// The device's network namespace, as `ip netns` names it; use this rather than `ip netns exec`
    #[arg(long, value_name = "NAME", requires = "dev")]
    netns: Option<String>,
}

impl OptionalDeviceArgs {
    pub(crate) fn device(&self) -> Result<Device, Failure> {
        if let Some(name) = &self.dev {
            return Ok(Device::new(name, self.netns.as_deref())?);
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

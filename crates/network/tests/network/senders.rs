//! Every sender there is, for tables of tests.

use trueplane_network::Nanos;
use trueplane_network::transport::control::Echo;
use trueplane_network::transport::settings::Pacing;
use trueplane_network::transport::{
    CongestionControl, Control, Cubic, Dctcp, NewReno, RackTlp, Receiver, ReceiverSettings, Recovery,
    Reduction, Reno, Sack, Sender, SenderSettings, TimeoutOnly, TimeoutSettings, WindowSettings, preset,
};

/// Segment size of the senders in tests, in bytes.
pub(crate) const SEGMENT: u32 = 1_000;

/// A sender whose parts were chosen while the program runs.
pub(crate) type AnySender = Sender<Control, Recovery>;

/// A sender to be made, with its name.
#[derive(Clone)]
pub(crate) struct Kind {
    pub(crate) name: String,
    settings: SenderSettings,
    control: Control,
    recovery: Recovery,
}

impl Kind {
    pub(crate) fn sender(&self) -> AnySender {
        Sender::new(self.settings, self.control.clone(), self.recovery.clone()).unwrap()
    }

    pub(crate) fn receiver(&self) -> Receiver {
        Receiver::new(ReceiverSettings::immediate(65_535, self.settings.segment), self.echo())
    }

    pub(crate) fn echo(&self) -> Echo {
        self.control.echo()
    }

    pub(crate) fn segment(&self) -> u64 {
        u64::from(self.settings.segment)
    }

    pub(crate) fn timeout(&self) -> TimeoutSettings {
        self.settings.timeout
    }

    pub(crate) fn has_fin(&self) -> bool {
        self.settings.fin
    }
}

pub(crate) fn windows() -> WindowSettings {
    WindowSettings::standard(SEGMENT)
}

fn kind(
    name: &str,
    settings: SenderSettings,
    control: impl Into<Control>,
    recovery: impl Into<Recovery>,
) -> Kind {
    Kind { name: name.to_owned(), settings, control: control.into(), recovery: recovery.into() }
}

pub(crate) fn recoveries() -> [(&'static str, Recovery); 4] {
    [
        ("new-reno", NewReno::new().into()),
        ("sack", Sack::new().into()),
        ("rack-tlp", RackTlp::new(Nanos(0)).into()),
        ("timeout-only", TimeoutOnly::new().into()),
    ]
}

pub(crate) fn controls() -> [(&'static str, Control); 5] {
    [
        ("reno", Reno::new(windows()).into()),
        ("reno-ecn", Reno::new(windows()).with_ecn().into()),
        ("cubic", Cubic::new(windows()).into()),
        ("cubic-ecn", Cubic::new(windows()).with_ecn().into()),
        ("dctcp", Dctcp::new(windows()).into()),
    ]
}

/// Every congestion control with every loss recovery, and the presets.
pub(crate) fn all() -> Vec<Kind> {
    let standard = SenderSettings::standard(SEGMENT);
    let paced = Some(Pacing { slow_start_percent: 200, avoidance_percent: 120 });
    let mut all = Vec::new();
    for (control_name, control) in controls() {
        for (recovery_name, recovery) in recoveries() {
            let name = format!("{control_name}/{recovery_name}");
            all.push(kind(&name, standard, control.clone(), recovery.clone()));
        }
    }
    for (recovery_name, recovery) in recoveries() {
        let settings = SenderSettings { pacing: paced, ..standard };
        all.push(kind(&format!("paced/{recovery_name}"), settings, Reno::new(windows()), recovery));
    }
    let proportional = SenderSettings { reduction: Reduction::Proportional, ..standard };
    all.push(kind("proportional-reno/sack", proportional, Reno::new(windows()), Sack::new()));
    all.push(kind(
        "proportional-cubic/rack-tlp",
        proportional,
        Cubic::new(windows()),
        RackTlp::new(Nanos(0)),
    ));
    let (settings, control, recovery) = preset::standard_tcp();
    all.push(kind("standard-tcp", settings, control, recovery));
    let (settings, control, recovery) = preset::standard_dctcp();
    all.push(kind("standard-dctcp", settings, control, recovery));
    let (settings, control, recovery) = preset::standard_pfabric();
    all.push(kind("standard-pfabric", settings, control, recovery));
    let (settings, control, recovery) = preset::minimal_pfabric();
    all.push(kind("minimal-pfabric", settings, control, recovery));
    all
}

#![no_main]

use libfuzzer_sys::fuzz_target;
use trueplane_sim::trace::{Columns, Format, PacketKey, TimeUnit, Trace, TraceOptions};

// What users write in flags.
fuzz_target!(|text: &str| {
    for (name, format) in Format::NAMES {
        assert_eq!(name.parse(), Ok(format));
    }
    let _ = (text.parse::<Format>(), text.parse::<TimeUnit>(), text.parse::<PacketKey>());
    if let Ok(columns) = text.parse::<Columns>() {
        let options = TraceOptions { columns: Some(columns), ..TraceOptions::default() };
        let _ = Trace::from_bytes("fuzz.csv", b"time,key,size\n1,2,3\n".to_vec(), &options);
    }
});

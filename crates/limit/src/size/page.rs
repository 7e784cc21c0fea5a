//! What people see of `limit size`: figure 15 of Nimble for every layout, and the tables to drain by.

use trueplane_study::report::{Axis, Plot, Series, Unit};
use trueplane_study::{Measured, Page};
use trueplane_units::{Bytes, Percent};

use super::found::{Form, Found, Layout, TableSize};
use super::options::Options;

/// Memories are drawn from so many times less to as many times more than what there is.
const DRAWN_SPAN: u64 = 64;

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    if let Some(nimble) = found.layouts.first() {
        page.numbers(
            format!("memory for {} limiters", options.limiters),
            "limiters_bytes",
            // Nobody is limited.
            Bytes(0),
            nimble.limiters_bytes,
            Measured::By("trueplane limit attach --dry-run"),
        );
    }
    page.table("layouts", "What a limiter takes", &found.layouts)
        .col("layout", "layout", |layout| name(layout))
        .col("bytes", "bytes", |layout| layout.bytes)
        .col(format!("fit into {}", options.memory), "limiters_in_memory", |layout| layout.limiters_in_memory)
        .col(format!("{} take", options.limiters), "limiters_bytes", |layout| layout.limiters_bytes)
        .col("state", "state", |layout| state(layout));
    page.table(
        "drain-tables",
        "Beside them, once for all: the table to drain by where there is no multiplication",
        &found.drain_tables,
    )
    .col("maximum error", "error_max", |table| Percent(table.error_max()))
    .col("ranges", "ranges", |table| table.ranges)
    .col("at 8 bytes", "ranges_bytes", |table| table.ranges_bytes)
    .col("TCAM prefixes", "prefixes", |table| table.prefixes)
    .col("at 12 bytes", "prefixes_bytes", |table| table.prefixes_bytes);
    page.plot(fitting(options, &found.layouts));
    page.plot(lines(&found.drawn_tables));
}

fn name(layout: &Layout) -> String {
    let policy = layout.policy;
    match layout.form {
        Form::Deployed => policy.to_string(),
        Form::Credit(1) => format!("{policy}, credit on 1 core"),
        Form::Credit(cores) => format!("{policy}, credit on {cores} cores"),
        Form::Words => format!("{policy}, 32-bit words"),
        Form::Reference => format!("{policy}, reference"),
    }
}

fn state(layout: &Layout) -> String {
    match layout.form {
        Form::Deployed | Form::Words => layout.policy.properties().words.join(", "),
        Form::Credit(_) => "the same, and 8 bytes for each core".to_owned(),
        Form::Reference => "the same, in 64 and 128 bits".to_owned(),
    }
}

fn fitting(options: &Options, layouts: &[Layout]) -> Plot {
    let memories = || {
        let smallest = (options.memory.0 / DRAWN_SPAN).max(1);
        (0..=2 * DRAWN_SPAN.ilog2()).map(move |doubling| smallest.saturating_mul(1 << doubling))
    };
    // A layout as large as one before it is drawn with it.
    let mut series: Vec<(u64, Series)> = Vec::new();
    for layout in layouts {
        if let Some((_, drawn)) = series.iter_mut().find(|(bytes, _)| *bytes == layout.bytes) {
            drawn.name = format!("{}; {}", drawn.name, name(layout));
            continue;
        }
        let points = memories().map(|memory| (memory as f64, (memory / layout.bytes) as f64)).collect();
        series.push((layout.bytes, Series { name: name(layout), points, ..Series::default() }));
    }
    Plot {
        id: "fitting".to_owned(),
        title: "Limiters by memory".to_owned(),
        note: "The paper has room for 64 K limiters of Nimble in 1 MiB.".to_owned(),
        x: Axis { label: "memory (bytes)".to_owned(), unit: Unit::Plain, log: true },
        y: Axis { label: "limiters".to_owned(), unit: Unit::Plain, log: true },
        series: series.into_iter().map(|(_, series)| series).collect(),
    }
}

fn lines(tables: &[TableSize]) -> Plot {
    let curve = |name: &str, lines: fn(&TableSize) -> u64| Series {
        name: name.to_owned(),
        points: tables.iter().map(|table| (table.error_max(), lines(table) as f64)).collect(),
        ..Series::default()
    };
    Plot {
        id: "table-lines".to_owned(),
        title: "Lines of the table to drain by".to_owned(),
        note: "Each halving of the error about doubles the table.".to_owned(),
        x: Axis { label: "maximum error of the drain".to_owned(), unit: Unit::Percent, log: true },
        y: Axis { label: "lines".to_owned(), unit: Unit::Plain, log: true },
        series: vec![curve("ranges", |table| table.ranges), curve("TCAM prefixes", |table| table.prefixes)],
    }
}

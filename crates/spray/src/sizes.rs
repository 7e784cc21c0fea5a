//! How long flows are.

use std::path::Path;

use trueplane_study::Error;
use trueplane_trace::without_code;

/// A distribution of flow sizes: points of bytes and the share of flows that have no more, straight lines between.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSizes {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Bytes of a full segment on Ethernet.
const SEGMENT: f64 = 1460.0;

/// Few elephants with most of the bytes among many mice: the web search workload of M. Alizadeh et al., *pFabric*, SIGCOMM 2013.
const WEB_SEARCH: [(f64, f64); 12] = [
    (4e3, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];

impl FlowSizes {
    /// Flow sizes of a web search workload.
    pub fn web_search() -> Self {
        Self { name: "web-search".to_owned(), points: WEB_SEARCH.into() }
    }

    /// Reads a CSV file with a line of names and then bytes and share in each line, both rising, the last share 1.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a line is not what it should be.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::Parameters(format!("{name}: {}", without_code(&error))))?;
        Self::parse(&name, &text)
    }

    /// The same from text.
    ///
    /// # Errors
    ///
    /// A line is not what it should be.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (number, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
            let refuse = |expected: &str| {
                Error::Parameters(format!("{name}:{}: expected {expected}, found \"{line}\"", number + 1))
            };
            let cells = line.split_once(',').and_then(|(bytes, share)| {
                Some((bytes.trim().parse::<f64>().ok()?, share.trim().parse::<f64>().ok()?))
            });
            let Some((bytes, share)) = cells else {
                return Err(refuse("bytes and a share such as 4000,0.15"));
            };
            let before = points.last().copied().unwrap_or((0.0, 0.0));
            if !(bytes > before.0 && bytes <= 1e15 && share >= before.1 && share <= 1.0) {
                return Err(refuse("more bytes and no smaller share than before, up to 1"));
            }
            points.push((bytes, share));
        }
        match points.last() {
            Some((_, 1.0)) => Ok(Self { name: name.to_owned(), points }),
            Some((_, share)) => {
                Err(Error::Parameters(format!("{name}: expected a last share of 1, found {share}")))
            }
            None => Err(Error::Parameters(format!("{name}: expected lines of bytes and share, found none"))),
        }
    }

    /// Name of the distribution.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The packets of a flow, one at least, for an even draw from 0 to 1. O(points).
    pub fn packets(&self, draw: f64) -> u64 {
        let mut before = self.points[0];
        for &(bytes, share) in &self.points {
            if draw <= share {
                let within = if share > before.1 { (draw - before.1) / (share - before.1) } else { 1.0 };
                let bytes = before.0 + (bytes - before.0) * within.clamp(0.0, 1.0);
                return (bytes / SEGMENT).ceil().max(1.0) as u64;
            }
            before = (bytes, share);
        }
        (before.0 / SEGMENT).ceil().max(1.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_what_is_built_in() {
        let csv: String = WEB_SEARCH.iter().map(|(bytes, share)| format!("{bytes},{share}\n")).collect();
        let read = FlowSizes::parse("file", &format!("bytes,cdf\n{csv}")).unwrap();
        assert_eq!(read.points, FlowSizes::web_search().points);
        let packets = [0.0, 0.15, 0.175, 1.0].map(|draw| read.packets(draw));
        assert_eq!(packets, [3, 7, 11, 20_548]);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, said) in [
            ("bytes,cdf\n1000,x\n", "file:2: expected bytes and a share"),
            ("bytes,cdf\n1000,0\n900,1\n", "file:3: expected more bytes"),
            ("bytes,cdf\n1000,0.5\n", "expected a last share of 1, found 0.5"),
            ("bytes,cdf\n", "found none"),
        ] {
            let error = FlowSizes::parse("file", text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}

//! All formats, each by its file.

use crate::Format;
use crate::access_log::AccessLog;
use crate::capture::Capture;
use crate::cloudfront::CloudFront;
use crate::csv::Csv;
use crate::dialect::Dialect;
use crate::json_log::JsonLog;
use crate::lis::Lis;
use crate::oracle_general::OracleGeneral;
use crate::twitter::Twitter;

/// The format of this name.
pub(super) fn dialect(format: Format) -> &'static dyn Dialect {
    match format {
        Format::Csv => &Csv,
        Format::OracleGeneral => &OracleGeneral,
        Format::Twitter => &Twitter,
        Format::Lis => &Lis,
        Format::Pcap => &Capture,
        Format::AccessLog => &AccessLog,
        Format::JsonLog => &JsonLog,
        Format::CloudFront => &CloudFront,
    }
}

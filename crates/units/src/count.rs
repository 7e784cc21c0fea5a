//! Counts as people write them.

use crate::scale_decimal;

/// A count with an optional `K`, `M` or `G`, powers of ten, or `Ki`, `Mi` or `Gi`, powers of two.
pub(crate) fn count(text: &str) -> Option<u64> {
    const SCALES: [(&str, u64); 7] = [
        ("K", 1_000),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
    ];
    let scaled = SCALES.into_iter().find_map(|(suffix, scale)| Some((text.strip_suffix(suffix)?, scale)));
    let (number, scale) = scaled.unwrap_or((text, 1));
    // `1.5` is no count, `1.5K` is.
    scale_decimal(number, scale).filter(|_| scale > 1 || !number.contains('.'))
}

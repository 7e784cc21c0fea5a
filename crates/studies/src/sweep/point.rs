//! A point of a sweep: what it is given, and what comes of it.

use std::sync::Arc;

use trueplane_study::Error as StudyError;

use crate::Error;

/// Parameters by the names of their fields, with values as on the command line. Points share their texts.
pub(super) type Given = Vec<(Arc<str>, Arc<str>)>;

/// The rows of a point as CSV, and whether the store had them.
pub(super) type Rows = (Vec<u8>, bool);

/// Something went wrong that is not the point's fault.
#[expect(clippy::needless_pass_by_value, reason = "it is for map_err")]
pub(super) fn internal(error: impl ToString) -> Error {
    Error::Study(StudyError::Internal(error.to_string()))
}

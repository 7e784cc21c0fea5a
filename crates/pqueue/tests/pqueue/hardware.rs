//! `Partitioned` in the place of the hardware queue.

use trueplane_pqueue::Partitioned;
use trueplane_pqueue::bbq::{Operation, Response, Status};

/// A response, with zeros if nothing was taken.
pub(crate) fn response(status: Status, taken: Option<(u32, u64)>) -> Response {
    let (priority, data) = taken.unwrap_or_default();
    Response { status, priority, data }
}

/// Does the operation on `queues`, and answers as the hardware would.
pub(crate) fn of_partitioned(
    queues: &mut Partitioned<u64, 4>,
    partition: u32,
    operation: Operation,
) -> Response {
    let queue = partition as usize;
    let taken = match operation {
        Operation::Enqueue { priority, data } => {
            let added = queues.insert(queue, priority.into(), data).is_ok();
            return response(if added { Status::Ok } else { Status::Full }, None);
        }
        Operation::DequeueMin => queues.extract_min(queue),
        Operation::DequeueMax => queues.extract_max(queue),
    };
    let taken = taken.map(|(priority, data)| (priority as u32, data));
    response(if taken.is_some() { Status::Ok } else { Status::Empty }, taken)
}

//! What stands in the kernel's traffic control, asked for over netlink.

use std::io;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// The queueing disciplines at which filters hang, of which a device can have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discipline {
    /// For both directions.
    Clsact,
    /// For incoming packets only. At the place of outgoing ones it takes filters too, and runs them on incoming ones.
    Ingress,
}

/// The queueing discipline at which the device's filters hang, if there is one.
pub(crate) fn discipline(device_index: i32) -> io::Result<Option<Discipline>> {
    let mut request = TcMessage::default();
    request.header.index = device_index;
    let disciplines = dump(RouteNetlinkMessage::GetQueueDiscipline(request))?;
    let kind = |attribute: &TcAttribute| match attribute {
        TcAttribute::Kind(kind) if kind == "clsact" => Some(Discipline::Clsact),
        TcAttribute::Kind(kind) if kind == "ingress" => Some(Discipline::Ingress),
        _ => None,
    };
    Ok(disciplines.iter().find_map(|message| match message {
        // The kernel answers for all devices.
        RouteNetlinkMessage::NewQueueDiscipline(found) if found.header.index == device_index => {
            found.attributes.iter().find_map(kind)
        }
        _ => None,
    }))
}

/// How many filters hang on the device's `clsact`, in both directions.
pub(crate) fn clsact_filters(device_index: i32) -> io::Result<usize> {
    let mut count = 0;
    for minor in [TcHandle::MIN_INGRESS, TcHandle::MIN_EGRESS] {
        let mut request = TcMessage::default();
        request.header.index = device_index;
        request.header.parent = TcHandle { major: 0xffff, minor };
        let filters = dump(RouteNetlinkMessage::GetTrafficFilter(request))?;
        // A filter's head, without a handle, is told beside the filter itself.
        count += filters
            .iter()
            .filter(|message| {
                matches!(message, RouteNetlinkMessage::NewTrafficFilter(found)
                if u32::from(found.header.handle) != 0)
            })
            .count();
    }
    Ok(count)
}

/// All answers to a request.
fn dump(request: RouteNetlinkMessage) -> io::Result<Vec<RouteNetlinkMessage>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut message = NetlinkMessage::from(request);
    message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.finalize();
    let mut buffer = vec![0; message.buffer_len()];
    message.serialize(&mut buffer);
    socket.send(&buffer, 0)?;

    let mut answers = Vec::new();
    loop {
        let (datagram, _) = socket.recv_from_full()?;
        let mut rest = datagram.as_slice();
        while !rest.is_empty() {
            let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
            // Messages are padded to four bytes.
            let length = (message.header.length as usize).next_multiple_of(4).max(4).min(rest.len());
            rest = &rest[length..];
            match message.payload {
                NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                NetlinkPayload::Done(_) => return Ok(answers),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => {}
            }
        }
    }
}

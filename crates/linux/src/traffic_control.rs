//! What stands in the kernel's traffic control, asked for over netlink.

use std::io;

use netlink_packet_core::{
    DecodeError, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable, NlasIterator, parse_i32, parse_string, parse_u32,
};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// Parents of the filters of incoming and of outgoing packets (`TC_H_MIN_INGRESS` and `TC_H_MIN_EGRESS` of `TC_H_CLSACT`,
/// <linux/pkt_sched.h>).
const CLSACT_PARENTS: [u32; 2] = [0xffff_fff2, 0xffff_fff3];

/// The queueing disciplines at which filters hang, of which a device can have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Discipline for both directions.
    Clsact,
    /// Discipline for incoming packets only. At the place of outgoing ones it takes filters too, and runs them on incoming ones.
    Ingress,
}

/// The queueing discipline at which the device's filters hang, if there is one.
pub fn discipline(device_index: i32) -> io::Result<Option<Discipline>> {
    let request = Message { kind: libc::RTM_GETQDISC, device_index, ..Message::default() };
    // The kernel answers for all devices.
    let mut ours = dump(request)?
        .into_iter()
        .filter(|found| found.kind == libc::RTM_NEWQDISC && found.device_index == device_index);
    Ok(ours.find_map(|found| match found.name.as_str() {
        "clsact" => Some(Discipline::Clsact),
        "ingress" => Some(Discipline::Ingress),
        _ => None,
    }))
}

/// Number of filters on the device's `clsact`, in both directions.
pub fn clsact_filters(device_index: i32) -> io::Result<usize> {
    Ok(filters(device_index, false)?.len() + filters(device_index, true)?.len())
}

/// The filters of the device's incoming packets, or of its outgoing ones.
pub fn filters(device_index: i32, of_outgoing: bool) -> io::Result<Vec<Message>> {
    let parent = CLSACT_PARENTS[usize::from(of_outgoing)];
    let mut found = dump(Message { kind: libc::RTM_GETTFILTER, device_index, parent, ..Message::default() })?;
    // A filter's head, without a handle, is told beside the filter itself.
    found.retain(|found| found.kind == libc::RTM_NEWTFILTER && found.handle != 0);
    Ok(found)
}

/// A message of traffic control: `struct tcmsg` of <linux/rtnetlink.h>, and of its attributes the name of what it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    kind: u16,
    device_index: i32,
    handle: u32,
    parent: u32,
    /// Preference and protocol of a filter, the protocol in network order.
    info: u32,
    /// The discipline's kind, or the filter's.
    pub name: String,
}

impl Message {
    /// A filter's place among the others.
    pub fn preference(&self) -> u32 {
        self.info >> 16
    }

    /// Whether a filter is a program for packets of all protocols, as ours are.
    pub fn is_bpf_for_all(&self) -> bool {
        self.name == "bpf" && u16::from_be((self.info & 0xffff) as u16) == libc::ETH_P_ALL as u16
    }
}

/// The bytes of `struct tcmsg`: family and padding, device, handle, parent, information.
const HEADER: usize = 20;

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        HEADER
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..HEADER].fill(0);
        buffer[4..8].copy_from_slice(&self.device_index.to_ne_bytes());
        buffer[8..12].copy_from_slice(&self.handle.to_ne_bytes());
        buffer[12..16].copy_from_slice(&self.parent.to_ne_bytes());
        buffer[16..20].copy_from_slice(&self.info.to_ne_bytes());
    }
}

impl NetlinkDeserializable for Message {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        if payload.len() < HEADER {
            return Err(DecodeError::from(format!("expected {HEADER} bytes or more, got {}", payload.len())));
        }
        let mut name = String::new();
        for attribute in NlasIterator::new(&payload[HEADER..]) {
            let attribute = attribute?;
            if attribute.kind() == libc::TCA_KIND {
                name = parse_string(attribute.value())?;
            }
        }
        Ok(Self {
            kind: header.message_type,
            device_index: parse_i32(&payload[4..8])?,
            handle: parse_u32(&payload[8..12])?,
            parent: parse_u32(&payload[12..16])?,
            info: parse_u32(&payload[16..20])?,
            name,
        })
    }
}

/// All answers to a request.
fn dump(request: Message) -> io::Result<Vec<Message>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut message = NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::InnerMessage(request));
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
            let message = NetlinkMessage::<Message>::deserialize(rest)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_layout_of_the_kernel() {
        let request = Message {
            kind: libc::RTM_GETTFILTER,
            device_index: 7,
            handle: 1,
            parent: 0xffff_fff2,
            info: 7 << 16 | u32::from((libc::ETH_P_ALL as u16).to_be()),
            name: "bpf".to_owned(),
        };
        assert!(request.preference() == 7 && request.is_bpf_for_all());
        let mut bytes = [0xee; HEADER];
        request.serialize(&mut bytes);
        let numbers: Vec<u32> =
            bytes.chunks(4).map(|four| u32::from_ne_bytes(four.try_into().unwrap())).collect();
        assert_eq!(numbers, [0, 7, 1, 0xffff_fff2, request.info]);
    }

    #[test]
    fn the_name_is_read_behind_other_attributes() {
        let attribute = |kind: u16, value: &[u8]| {
            let length = 4 + value.len() as u16;
            let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
            bytes.extend_from_slice(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let answer = Message {
            kind: libc::RTM_NEWQDISC,
            device_index: 3,
            handle: 0xffff_0000,
            parent: 0xffff_fff1,
            info: 1,
            name: "clsact".to_owned(),
        };
        let mut bytes = vec![0; HEADER];
        answer.serialize(&mut bytes);
        bytes.extend(attribute(libc::TCA_OPTIONS, &[1, 2, 3, 4]));
        bytes.extend(attribute(libc::TCA_KIND, b"clsact\0"));
        let mut header = NetlinkHeader::default();
        header.message_type = libc::RTM_NEWQDISC;
        assert_eq!(Message::deserialize(&header, &bytes).unwrap(), answer);
        assert!(Message::deserialize(&header, &bytes[..HEADER - 1]).is_err());
        assert!(Message::deserialize(&header, &bytes[..bytes.len() - 6]).is_err());
    }
}

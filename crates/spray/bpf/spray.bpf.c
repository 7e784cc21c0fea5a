// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * Which core a packet goes to, decided where sockets share an interface: packet sockets, to which the program returns the number of the
 * socket, which is that of the core (PACKET_FANOUT_EBPF), or AF_XDP sockets, to one of which it redirects.
 *
 * The twin of crates/spray/src/dispatch and of what that needs of crates/spray/src/packet/headers.rs; vectors/spray/dispatch.json holds both
 * to each other.
 *
 * The kernel has taken the outermost VLAN tag off by the time that it asks for packet sockets, and what the program sees begins behind the
 * Ethernet header; on the kernel's test bench, and for AF_XDP, the tag is still there. All begin behind the Ethernet header with the type of
 * what follows.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "spray.gen.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define MAX_TAGS 2
#define ETHERNET_BYTES 14
/* Receive queues of an interface that can have AF_XDP sockets; the loader has the same number. */
#define MAX_QUEUES 64
/* Addresses of IPv6 and ports, as the hash of a card takes them. */
#define HASHED_BYTES 36

/* Numbers of the policies, which the loader knows. */
enum mode { RSS, RSS_DEFAULT, SPRAY, ROUND_ROBIN, SUBSET, ADAPTIVE, COUNTED };

/* What the loader decides; constants to the verifier, which drops the code that they exclude. */
struct settings {
	__u32 mode;
	/* 1 to TP_SPRAY_ROWS. */
	__u32 cores;
	/* Cores of a flow in SUBSET, 1 to `cores`. */
	__u32 subset;
	/* Entries of `strides` that are used. */
	__u32 strides;
};

const volatile struct settings settings = { .mode = RSS, .cores = 1, .subset = 1, .strides = 1 };
/* SUBSET: numbers below that of cores which have no divisor in common with it. */
const volatile __u8 strides[TP_SPRAY_ROWS] = { 1 };

/* The core of each row of the indirection table, which the loader fills and may change at any time. */
volatile __u8 indirection[TP_SPRAY_ROWS];
/* ADAPTIVE: the core of TCP packets of each row by the low byte of their checksum, which the loader may change at any time, too. */
volatile __u8 ways[TP_SPRAY_ROWS][256];
/* ADAPTIVE, COUNTED: packets of each row that have a checksum, and others. Cores that count at once may lose one. */
volatile __u64 with_checksum[TP_SPRAY_ROWS];
volatile __u64 without[TP_SPRAY_ROWS];
/* RSS_DEFAULT: what each value of each byte adds to the hash. */
volatile __u32 toeplitz[HASHED_BYTES][256];
/* ROUND_ROBIN. */
volatile __u64 next = 0;
/* AF_XDP: no socket gets a packet any more. */
volatile bool is_closed = false;

/* The AF_XDP socket of each interface's every queue and core. */
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 2 * MAX_QUEUES * TP_SPRAY_ROWS);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

/* Packets for each core's AF_XDP sockets, interface by interface. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * TP_SPRAY_ROWS);
	__type(key, __u32);
	__type(value, __u64);
} redirected SEC(".maps");

/* A packet, whichever way the kernel shows it. */
struct view {
	/* A constant to the compiler: a program may not even contain what is for the other kind. */
	bool is_xdp;
	struct __sk_buff *skb;
	struct xdp_md *xdp;
	/* Behind the Ethernet header. */
	__u32 length;
	/* What follows there, in host order, and tags that are not there any more. */
	__u16 type;
	int tags;
};

/* What a card sees of a packet. */
struct arrival {
	/* Source and destination, IPv4 in the first eight bytes; then, behind the addresses, the ports. In network order. */
	union {
		__u8 bytes[HASHED_BYTES];
		__u16 words[HASHED_BYTES / 2];
	} hashed;
	/* How many bytes of it there are; none without addresses. */
	__u32 length;
	/* TCP's, in host order, if it has one. */
	bool has_checksum;
	__u16 checksum;
};

static __always_inline bool load(const struct view *view, __u32 at, void *to, __u32 length)
{
	if (view->is_xdp)
		return !bpf_xdp_load_bytes(view->xdp, ETHERNET_BYTES + at, to, length);
	return !bpf_skb_load_bytes_relative(view->skb, at, to, length, BPF_HDR_START_NET);
}

static __always_inline bool is_vlan(__u16 type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

/* Reads the ports, and TCP's checksum, of a whole datagram whose transport lies from `at` to below `end`. */
static __always_inline void transport(const struct view *view, __u32 at, __u32 end, __u8 protocol, struct arrival *arrival)
{
	__u8 header[20];
	__u32 there = end > at ? end - at : 0;

	if (protocol == PROTOCOL_TCP) {
		if (there < 20 || !load(view, at, header, 20))
			return;
		__u32 own = (header[12] >> 4) * 4;

		if (own < 20 || own > there)
			return;
		arrival->has_checksum = true;
		arrival->checksum = (__u16)header[16] << 8 | header[17];
	} else if (protocol == PROTOCOL_UDP) {
		if (there < 8 || !load(view, at, header, 4))
			return;
	} else {
		return;
	}
	/* The addresses are eight bytes or 32. */
	if (arrival->length == 8)
		__builtin_memcpy(arrival->hashed.bytes + 8, header, 4);
	else
		__builtin_memcpy(arrival->hashed.bytes + 32, header, 4);
	arrival->length += 4;
}

static __always_inline void ipv4(const struct view *view, __u32 at, struct arrival *arrival)
{
	__u8 header[20];
	__u32 rest = view->length - at;

	if (!load(view, at, header, sizeof(header)))
		return;
	__u32 own = (header[0] & 0xf) * 4;
	__u32 total = (__u32)header[2] << 8 | header[3];
	/* All but "do not fragment": more fragments, and the offset. */
	bool whole = !((header[6] & 0x3f) | header[7]);

	/* Cards that segment leave the total length zero. */
	if (total == 0)
		total = rest;
	if (own < 20 || own > rest || total < own)
		return;
	__builtin_memcpy(arrival->hashed.bytes, header + 12, 8);
	arrival->length = 8;
	if (whole)
		transport(view, at + own, at + (total < rest ? total : rest), header[9], arrival);
}

static __always_inline void ipv6(const struct view *view, __u32 at, struct arrival *arrival)
{
	__u8 header[40], extension[8];
	__u32 rest = view->length - at;

	if (!load(view, at, header, sizeof(header)))
		return;
	__u32 length = (__u32)header[4] << 8 | header[5];
	/* Zero is a jumbogram, or a card that segments. */
	__u32 end = at + (length && 40 + length < rest ? 40 + length : rest);
	__u8 protocol = header[6];

	__builtin_memcpy(arrival->hashed.bytes, header + 8, 32);
	arrival->length = 32;
	at += 40;
	for (int i = 0; i < TP_SPRAY_MAX_EXTENSIONS; i++) {
		bool fragment = protocol == 44, authentication = protocol == 51;

		if (protocol != 0 && protocol != 43 && protocol != 60 && !fragment && !authentication)
			break;
		__u32 there = end > at ? end - at : 0;

		/* A header that is cut short is what follows, and is no transport. */
		if (there < 8 || !load(view, at, extension, sizeof(extension)))
			return;
		/* Part of a datagram. */
		if (fragment && (((__u32)extension[2] << 8 | extension[3]) & 0xfff9))
			return;
		__u32 own = fragment ? 8 : authentication ? ((__u32)extension[1] + 2) * 4 : ((__u32)extension[1] + 1) * 8;

		if (own > there || (authentication && own < 12))
			return;
		protocol = extension[0];
		at += own;
	}
	transport(view, at, end, protocol, arrival);
}

static __always_inline void look(const struct view *view, struct arrival *arrival)
{
	__u16 type = view->type;
	int tags = view->tags;
	__u32 at = 0;
	__u8 byte;

	for (int i = 0; i < MAX_TAGS; i++) {
		__u8 tag[4];

		if (!is_vlan(type))
			break;
		if (tags++ == MAX_TAGS || !load(view, at, tag, sizeof(tag)))
			return;
		type = (__u16)tag[2] << 8 | tag[3];
		at += 4;
	}
	if ((type != ETHERTYPE_IPV4 && type != ETHERTYPE_IPV6) || !load(view, at, &byte, 1))
		return;
	/* The version tells the family. */
	if (byte >> 4 == 4)
		ipv4(view, at, arrival);
	else if (byte >> 4 == 6)
		ipv6(view, at, arrival);
}

/* The symmetric hash, either half of it. */
static __always_inline __u16 symmetric(const struct arrival *arrival)
{
	__u16 sum = 0;

	/* What is not there is zero. */
	for (int i = 0; i < HASHED_BYTES / 2; i++)
		sum ^= arrival->hashed.words[i];
	sum = bpf_ntohs(sum);
	return tp_spray_permutation[0][sum >> 8] ^ tp_spray_permutation[1][sum & 0xff];
}

/* Toeplitz' hash under the key of the specification. */
static __always_inline __u32 by_default_key(const struct arrival *arrival)
{
	__u32 hash = 0;

	for (__u32 i = 0; i < HASHED_BYTES; i++) {
		if (i >= arrival->length)
			break;
		hash ^= toeplitz[i][arrival->hashed.bytes[i]];
	}
	/* A card hashes ports of TCP and UDP only, and zeros add nothing. */
	return hash;
}

static __always_inline __u32 core_of(__u32 row)
{
	return indirection[row % TP_SPRAY_ROWS];
}

static __always_inline __u32 choose(const struct view *view)
{
	struct arrival arrival = {};
	__u32 cores = settings.cores;

	if (cores == 0)
		return 0;
	if (settings.mode == ROUND_ROBIN)
		return __sync_fetch_and_add(&next, 1) % cores;
	look(view, &arrival);
	if (settings.mode == SPRAY && arrival.has_checksum)
		return arrival.checksum % cores;
	if (settings.mode == RSS_DEFAULT)
		return core_of(by_default_key(&arrival));
	__u16 hash = symmetric(&arrival);
	__u32 row = hash % TP_SPRAY_ROWS;

	if (settings.mode == SUBSET && arrival.has_checksum && settings.subset && settings.strides) {
		__u32 stride = strides[(hash / TP_SPRAY_ROWS) % settings.strides % TP_SPRAY_ROWS];

		return (core_of(row) + arrival.checksum % settings.subset * stride) % cores;
	}
	if (settings.mode == ADAPTIVE || settings.mode == COUNTED) {
		if (arrival.has_checksum)
			with_checksum[row]++;
		else
			without[row]++;
		if (settings.mode == ADAPTIVE && arrival.has_checksum)
			return ways[row][arrival.checksum & 0xff];
	}
	return core_of(row);
}

SEC("socket")
int spray(struct __sk_buff *skb)
{
	struct view view = {
		.skb = skb,
		.length = skb->len,
		.type = bpf_ntohs((__u16)skb->protocol),
		.tags = skb->vlan_present ? 1 : 0,
	};

	return choose(&view);
}

static __always_inline __u32 choose_xdp(struct xdp_md *xdp)
{
	struct view view = { .is_xdp = true, .xdp = xdp };
	__u8 type[2];

	/* Shorter is no frame, and whoever has it finds out. */
	if (bpf_xdp_load_bytes(xdp, ETHERNET_BYTES - 2, type, sizeof(type)))
		return 0;
	view.length = bpf_xdp_get_buff_len(xdp) - ETHERNET_BYTES;
	view.type = (__u16)type[0] << 8 | type[1];
	return choose(&view);
}

static __always_inline int redirect(struct xdp_md *xdp, __u32 interface)
{
	if (is_closed)
		return XDP_PASS;
	__u32 core = choose_xdp(xdp), queue = xdp->rx_queue_index;

	if (core >= TP_SPRAY_ROWS || queue >= MAX_QUEUES)
		return XDP_PASS;
	int action = bpf_redirect_map(&sockets, (interface * MAX_QUEUES + queue) * TP_SPRAY_ROWS + core, XDP_PASS);

	if (action == XDP_REDIRECT) {
		__u32 counter = interface * TP_SPRAY_ROWS + core;
		__u64 *count = bpf_map_lookup_elem(&redirected, &counter);

		if (count)
			__sync_fetch_and_add(count, 1);
	}
	return action;
}

/* One for each interface: their numbers may be the same, where they are of different namespaces. */
SEC("xdp")
int redirect_inner(struct xdp_md *xdp)
{
	return redirect(xdp, 0);
}

SEC("xdp")
int redirect_outer(struct xdp_md *xdp)
{
	return redirect(xdp, 1);
}

/* For the kernel's test bench: the core alone. */
SEC("xdp")
int chosen(struct xdp_md *xdp)
{
	return choose_xdp(xdp);
}

/* While the sockets of an interface are being joined, and while they are being emptied: none gets a packet. */
SEC("socket")
int closed(struct __sk_buff *skb)
{
	return 0;
}

/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * The twin of crates/limit/src/frame.rs: where a packet comes from and goes to.
 * vectors/limit/classifier.json holds both to each other.
 */
#ifndef TP_LIMIT_FRAME_H
#define TP_LIMIT_FRAME_H

#include <linux/types.h>
#include <bpf/bpf_endian.h>

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define VLAN_ID_MASK 0x0fff
#define NO_VLAN 0xffff
#define MAX_TAGS 2

enum family { NEITHER, IPV4, IPV6 };

struct frame {
	enum family family;
	/* The outermost, or NO_VLAN. */
	__u16 vlan;
	/* Where the IP header begins, if there is one. */
	__u16 ip;
	/* IPv4 in the first word; in network order. */
	__u32 source[4];
	__u32 destination[4];
};

static __always_inline bool is_vlan(__u16 type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

/* Reads what lies from `data` to `data_end`; `vlan` is a tag that the kernel has taken off already, or NO_VLAN. */
static __always_inline void parse(void *data, void *data_end, __u16 vlan, struct frame *frame)
{
	__u8 *at = data;
	int tags = vlan == NO_VLAN ? 0 : 1;
	__u16 type;

	frame->family = NEITHER;
	frame->vlan = vlan;
	if (at + 14 > (__u8 *)data_end)
		return;
	type = bpf_ntohs(*(__u16 *)(at + 12));
	at += 14;
	for (int i = 0; i < MAX_TAGS; i++) {
		if (!is_vlan(type))
			break;
		if (tags++ == MAX_TAGS || at + 4 > (__u8 *)data_end)
			return;
		if (frame->vlan == NO_VLAN)
			frame->vlan = bpf_ntohs(*(__u16 *)at) & VLAN_ID_MASK;
		type = bpf_ntohs(*(__u16 *)(at + 2));
		at += 4;
	}
	frame->ip = at - (__u8 *)data;
	if (type == ETHERTYPE_IPV4) {
		if (at + 20 > (__u8 *)data_end)
			return;
		__u32 header = (*at & 0xf) * 4;

		if (*at >> 4 != 4 || header < 20 || at + header > (__u8 *)data_end)
			return;
		frame->source[0] = *(__u32 *)(at + 12);
		frame->destination[0] = *(__u32 *)(at + 16);
		frame->family = IPV4;
	} else if (type == ETHERTYPE_IPV6) {
		if (at + 40 > (__u8 *)data_end || *at >> 4 != 6)
			return;
		for (int i = 0; i < 4; i++) {
			frame->source[i] = *(__u32 *)(at + 8 + 4 * i);
			frame->destination[i] = *(__u32 *)(at + 24 + 4 * i);
		}
		frame->family = IPV6;
	}
}

#endif

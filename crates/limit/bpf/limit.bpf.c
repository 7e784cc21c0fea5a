// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * Rate limits in the kernel: classify, look up, update. XDP polices; tc also marks ECN.
 *
 * The loader (crates/limit/src/live) fills the tables before it attaches and pins them; the programs need it no more. How packets
 * find their limiter is crates/limit/src/classifier.rs; what a limiter does, limit_bucket.h; how cores share one,
 * crates/limit/src/credit.rs.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>

#include "limit_bucket.h"
#include "limit_frame.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Where a rule leads: a limiter of its own, or one of 2^width by the bits of the address behind the prefix. */
struct target {
	__u32 limiter;
	__u32 counter;
	__u8 prefix_len;
	__u8 width;
	__u8 count_each;
	__u8 valid;
};

/* A rule on IPv4 addresses that is tried in order, in place of a trie; addresses in host order. */
struct range {
	__u32 network;
	__u32 mask;
	__u8 by_destination;
	__u8 unused[3];
	struct target target;
};

#define MAX_RANGES 8

/* What the loader decides; constants to the verifier, which drops the code that they exclude. */
struct settings {
	/* Packets per reading of the clock on each core; 1 reads it for each. */
	__u32 clock_every;
	/* Bytes that a core draws in advance from a limiter; 0 draws none. */
	__u32 draw_bytes;
	__u32 ranges;
	/* Limiters looked at per turn of the sweep, and how often a turn comes. */
	__u32 sweep_chunk;
	__u64 sweep_every_ns;
	__u8 has_fwmarks, has_vlans, has_source4, has_destination4, has_source6, has_destination6, has_parents;
	/* For vectors: time is `given_now_ns`, size `given_bytes`. */
	__u8 given_clock;
	__u32 limiters;
	__u32 counters;
	struct target fallback;
	struct range range[MAX_RANGES];
};

const volatile struct settings settings;

__u64 given_now_ns;
/* The packet's size, if not 0. */
__u32 given_bytes;

struct counter {
	__u64 packets[3];
	__u64 bytes[3];
};

/* A core's credit with one limiter. */
struct credit {
	__u32 bytes;
	__u32 marked;
};

struct clock {
	__u64 now_ns;
	__u64 jiffies;
	__u32 left;
	__u32 unused;
};

struct sweep {
	struct bpf_timer timer;
	__u32 next;
	__u32 unused;
};

struct key4 {
	__u32 prefix_len;
	__u32 address;
};

struct key6 {
	__u32 prefix_len;
	__u32 address[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct limiter);
} limiters SEC(".maps");

/* The index of the limiter around each limiter, plus one; 0 for none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} parents SEC(".maps");

/*
 * Core by core, each with all limiters: a table per core of the kernel's would be looked up through another, as large, and that is
 * another cache miss.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct credit);
} credits SEC(".maps");

/* One for each that the classifier names; the last for packets of no class. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counter);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct clock);
} clocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sweep);
} sweeps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct target);
} fwmarks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct target);
} vlans SEC(".maps");

#define TRIE(name, key_type)                        \
	struct {                                    \
		__uint(type, BPF_MAP_TYPE_LPM_TRIE); \
		__uint(map_flags, BPF_F_NO_PREALLOC); \
		__uint(max_entries, 1);             \
		__type(key, key_type);              \
		__type(value, struct target);       \
	} name SEC(".maps")

TRIE(source4, struct key4);
TRIE(destination4, struct key4);
TRIE(source6, struct key6);
TRIE(destination6, struct key6);

/* Where a packet is accounted. */
struct match {
	__u32 limiter;
	__u32 counter;
};

/* The limiter that `target` selects by the first 64 bits of an address in host order. */
static __always_inline bool select(const volatile struct target *target, __u64 address, struct match *match)
{
	__u32 index = target->width ? (address << target->prefix_len) >> (64 - target->width) : 0;

	match->limiter = target->limiter + index;
	match->counter = target->counter + (target->count_each ? index : 0);
	return true;
}

static __always_inline __u64 first64(enum family family, const __u32 *address)
{
	__u64 high = bpf_ntohl(address[0]);

	return high << 32 | (family == IPV6 ? bpf_ntohl(address[1]) : 0);
}

static __always_inline bool by_range(const struct frame *frame, struct match *match)
{
	__u32 source = bpf_ntohl(frame->source[0]), destination = bpf_ntohl(frame->destination[0]);

	for (int i = 0; i < MAX_RANGES && i < settings.ranges; i++) {
		const volatile struct range *range = &settings.range[i];
		__u32 address = range->by_destination ? destination : source;

		if ((address & range->mask) == range->network)
			return select(&range->target, (__u64)address << 32, match);
	}
	return false;
}

static __always_inline bool by_trie4(void *trie, const __u32 *address, struct match *match)
{
	struct key4 key = { .prefix_len = 32, .address = address[0] };
	struct target *target = bpf_map_lookup_elem(trie, &key);

	return target && select(target, first64(IPV4, address), match);
}

static __always_inline bool by_trie6(void *trie, const __u32 *address, struct match *match)
{
	struct key6 key = { .prefix_len = 128 };
	struct target *target;

	__builtin_memcpy(key.address, address, sizeof(key.address));
	target = bpf_map_lookup_elem(trie, &key);
	return target && select(target, first64(IPV6, address), match);
}

/* Mark, VLAN, source, destination, default: the first that says something. */
static __always_inline bool classify(const struct frame *frame, __u32 fwmark, struct match *match)
{
	struct target *target;

	if (settings.has_fwmarks && fwmark) {
		target = bpf_map_lookup_elem(&fwmarks, &fwmark);
		if (target)
			return select(target, 0, match);
	}
	if (settings.has_vlans && frame->vlan != NO_VLAN) {
		__u32 vlan = frame->vlan;

		target = bpf_map_lookup_elem(&vlans, &vlan);
		if (target && target->valid)
			return select(target, 0, match);
	}
	if (frame->family == IPV4) {
		if (settings.ranges && by_range(frame, match))
			return true;
		if (settings.has_source4 && by_trie4(&source4, frame->source, match))
			return true;
		if (settings.has_destination4 && by_trie4(&destination4, frame->destination, match))
			return true;
	} else if (frame->family == IPV6) {
		if (settings.has_source6 && by_trie6(&source6, frame->source, match))
			return true;
		if (settings.has_destination6 && by_trie6(&destination6, frame->destination, match))
			return true;
	}
	return settings.fallback.valid && select(&settings.fallback, 0, match);
}

/*
 * The time. Reading the clock is more than half of a packet's cost, so each core may do it for every n-th packet and whenever
 * a jiffy has passed: the time is then late by less than a jiffy, and a limiter drains that much later, never more.
 */
static __always_inline __u64 clock_now(void)
{
	__u32 zero = 0;
	struct clock *clock;

	if (settings.given_clock)
		return given_now_ns;
	if (settings.clock_every <= 1)
		return bpf_ktime_get_ns();
	clock = bpf_map_lookup_elem(&clocks, &zero);
	if (!clock)
		return bpf_ktime_get_ns();
	__u64 jiffies = bpf_jiffies64();

	if (!clock->left || clock->jiffies != jiffies) {
		clock->now_ns = bpf_ktime_get_ns();
		clock->jiffies = jiffies;
		clock->left = settings.clock_every;
	}
	clock->left--;
	return clock->now_ns;
}

/* A charge that may have to be taken back. */
struct charged {
	struct limiter *limiter;
	struct credit *credit;
	__u32 bytes;
	struct charge charge;
};

/* Offers a packet to a limiter through this core's credit (crates/limit/src/credit.rs). */
static __always_inline enum verdict offer_credit(struct limiter *limiter, struct credit *credit, __u32 bytes, __u64 *now_ns, struct charged *charged)
{
	__u32 lacking;

	charged->credit = credit;
	charged->bytes = bytes;
	if (credit->bytes >= bytes) {
		credit->bytes -= bytes;
		return credit->marked ? MARK : PASS;
	}
	lacking = bytes - credit->bytes;
	if (!*now_ns)
		*now_ns = clock_now();
	charged->charge = charge(limiter, lacking + settings.draw_bytes, lacking, *now_ns, false);
	if (charged->charge.verdict != DROP) {
		credit->bytes = charged->charge.fell_back ? 0 : settings.draw_bytes;
		credit->marked = charged->charge.verdict == MARK;
	}
	return charged->charge.verdict;
}

/* Offers a packet to one limiter. */
static __always_inline enum verdict offer(__u32 index, __u32 bytes, __u64 *now_ns, struct charged *charged)
{
	struct limiter *limiter = bpf_map_lookup_elem(&limiters, &index);

	charged->limiter = limiter;
	charged->credit = NULL;
	if (!limiter)
		return PASS;
	if (settings.draw_bytes) {
		__u32 at = bpf_get_smp_processor_id() * settings.limiters + index;
		struct credit *credit = bpf_map_lookup_elem(&credits, &at);

		if (credit)
			return offer_credit(limiter, credit, bytes, now_ns, charged);
	}
	if (!*now_ns)
		*now_ns = clock_now();
	charged->charge = charge(limiter, bytes, bytes, *now_ns, false);
	return charged->charge.verdict;
}

/* Gives back what a packet was charged that the limit around did not let through. */
static __always_inline void take_back(struct charged *charged)
{
	struct credit *credit = charged->credit;

	if (!charged->limiter)
		return;
	if (!credit) {
		uncharge(charged->limiter, &charged->charge);
		return;
	}
	credit->bytes += charged->bytes;
	/* A core never holds more than it draws at once: the rest goes back to the limiter. */
	if (credit->bytes > settings.draw_bytes) {
		struct charge surplus = { .units = (credit->bytes - settings.draw_bytes) << TP_LIMIT_UNIT_SHIFT };

		credit->bytes = settings.draw_bytes;
		uncharge(charged->limiter, &surplus);
	}
}

static __always_inline enum verdict offer_all(__u32 index, __u32 bytes)
{
	struct charged charged = {}, around = {};
	__u64 now_ns = 0;
	enum verdict inner = offer(index, bytes, &now_ns, &charged), outer;
	__u32 *parent;

	if (!settings.has_parents)
		return inner;
	parent = bpf_map_lookup_elem(&parents, &index);
	if (!parent || !*parent)
		return inner;
	if (inner == DROP) {
		struct limiter *limiter;
		__u32 at = *parent - 1;

		/* For the limit around, time has passed. */
		limiter = bpf_map_lookup_elem(&limiters, &at);
		if (limiter && !settings.draw_bytes)
			charge(limiter, bytes, bytes, now_ns, true);
		return DROP;
	}
	outer = offer(*parent - 1, bytes, &now_ns, &around);
	if (outer == DROP)
		take_back(&charged);
	return outer > inner ? outer : inner;
}

static __always_inline void count(__u32 index, enum verdict verdict, __u32 bytes)
{
	struct counter *counter = bpf_map_lookup_elem(&counters, &index);

	if (!counter || verdict > DROP)
		return;
	counter->packets[verdict]++;
	counter->bytes[verdict] += bytes;
}

static __always_inline __u32 size(__u32 bytes)
{
	return settings.given_clock && given_bytes ? given_bytes : bytes;
}

static __always_inline int police(void *data, void *data_end, __u32 bytes)
{
	struct frame frame = {};
	struct match match = {};
	enum verdict verdict;

	bytes = size(bytes);
	parse(data, data_end, NO_VLAN, &frame);
	if (!classify(&frame, 0, &match)) {
		count(settings.counters - 1, PASS, bytes);
		return XDP_PASS;
	}
	verdict = offer_all(match.limiter, bytes);
	/* Without marks there is nothing between passing and dropping. */
	count(match.counter, verdict == DROP ? DROP : PASS, bytes);
	return verdict == DROP ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int limit_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *data_end = (void *)(long)ctx->data_end;

	return police(data, data_end, data_end - data);
}

/* For frames in several buffers (jumbo frames, receive offloads). */
SEC("xdp.frags")
int limit_xdp_frags(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *data_end = (void *)(long)ctx->data_end;

	return police(data, data_end, bpf_xdp_get_buff_len(ctx));
}

/* Ethernet, two tags, the longest IPv4 header. */
#define HEADERS 82

/*
 * Marks a packet behind tags that are still in the frame, where the kernel's helper takes the tag for the IP header. Returns
 * whether the packet bears a mark.
 */
static __always_inline bool mark_behind_tags(struct __sk_buff *skb, const struct frame *frame)
{
	__u32 at = frame->ip + 1;
	__u8 ce = frame->family == IPV4 ? 0x03 : 0x30;
	__u8 before, after;

	if (bpf_skb_load_bytes(skb, at, &before, 1) || !(before & ce))
		return false;
	after = before | ce;
	if (after == before)
		return true;
	/* Of IPv4, what the header's own checksum takes off makes up for what the mark adds to that of the whole. */
	if (frame->family == IPV6)
		return !bpf_skb_store_bytes(skb, at, &after, 1, BPF_F_RECOMPUTE_CSUM);
	return !bpf_l3_csum_replace(skb, frame->ip + 10, bpf_htons(before), bpf_htons(after), 2) &&
	       !bpf_skb_store_bytes(skb, at, &after, 1, 0);
}

static __always_inline bool mark(struct __sk_buff *skb, const struct frame *frame)
{
	/* The helper goes by the type alone, and would write into what is no IP header. */
	if (frame->family == NEITHER)
		return false;
	return frame->ip == 14 ? bpf_skb_ecn_set_ce(skb) : mark_behind_tags(skb, frame);
}

SEC("tc")
int limit_tc(struct __sk_buff *skb)
{
	__u16 vlan = skb->vlan_present ? skb->vlan_tci & VLAN_ID_MASK : NO_VLAN;
	__u32 bytes = size(skb->wire_len > skb->len ? skb->wire_len : skb->len);
	struct frame frame = {};
	struct match match = {};
	enum verdict verdict;

	if (skb->data_end - skb->data < HEADERS && skb->data_end - skb->data < skb->len)
		bpf_skb_pull_data(skb, skb->len < HEADERS ? skb->len : HEADERS);
	parse((void *)(long)skb->data, (void *)(long)skb->data_end, vlan, &frame);
	if (!classify(&frame, skb->mark, &match)) {
		count(settings.counters - 1, PASS, bytes);
		return TC_ACT_UNSPEC;
	}
	verdict = offer_all(match.limiter, bytes);
	/* Who does not speak ECN cannot be told. */
	if (verdict == MARK && !mark(skb, &frame))
		verdict = PASS;
	count(match.counter, verdict, bytes);
	return verdict == DROP ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

struct turn {
	__u32 first;
	__u64 now_ns;
};

static long refresh_one(__u32 i, struct turn *turn)
{
	__u32 index = turn->first + i;
	struct limiter *limiter = bpf_map_lookup_elem(&limiters, &index);

	if (!limiter)
		return 1;
	refresh(limiter, turn->now_ns);
	return 0;
}

/* One turn of the sweep; returns where the next begins. */
static __always_inline __u32 sweep_from(__u32 first, __u64 now_ns)
{
	struct turn turn = { .first = first, .now_ns = now_ns };

	bpf_loop(settings.sweep_chunk, refresh_one, &turn, 0);
	first += settings.sweep_chunk;
	return first >= settings.limiters ? 0 : first;
}

static int sweep_turn(void *map, __u32 *key, struct sweep *sweep)
{
	sweep->next = sweep_from(sweep->next, bpf_ktime_get_ns());
	bpf_timer_start(&sweep->timer, settings.sweep_every_ns, 0);
	return 0;
}

/* Starts the sweep; it runs for as long as the maps are pinned. */
SEC("syscall")
int start_sweep(void *ctx)
{
	__u32 zero = 0;
	struct sweep *sweep = bpf_map_lookup_elem(&sweeps, &zero);
	long error;

	if (!sweep)
		return -1;
	error = bpf_timer_init(&sweep->timer, &sweeps, 1 /* CLOCK_MONOTONIC */);
	if (error)
		return error;
	error = bpf_timer_set_callback(&sweep->timer, sweep_turn);
	if (error)
		return error;
	return bpf_timer_start(&sweep->timer, settings.sweep_every_ns, 0);
}

/* A whole sweep at `given_now_ns`, for vectors. */
SEC("syscall")
int sweep_given(void *ctx)
{
	struct turn turn = { .first = 0, .now_ns = given_now_ns };

	return bpf_loop(settings.limiters, refresh_one, &turn, 0);
}

/*
 * For timing: the packet's source address steps through all addresses of its /8 in an order that caches cannot foresee
 * (a full-period congruential generator), from one run to the next. Not loaded otherwise.
 */
static __always_inline bool next_address(void *data, void *data_end)
{
	__u32 *source = data + 26;

	if ((void *)(source + 1) > data_end)
		return false;
	__u32 host = bpf_ntohl(*source);

	*source = bpf_htonl((host & 0xff000000) | ((host * 1664525 + 1013904223) & 0x00ffffff));
	return true;
}

SEC("?xdp")
int limit_walk(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *data_end = (void *)(long)ctx->data_end;

	return next_address(data, data_end) ? police(data, data_end, data_end - data) : XDP_ABORTED;
}

/* What no limiter can do without: parsing, and the clock. */
SEC("?xdp")
int limit_floor(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *data_end = (void *)(long)ctx->data_end;
	struct frame frame = {};

	if (!next_address(data, data_end))
		return XDP_ABORTED;
	parse(data, data_end, NO_VLAN, &frame);
	return clock_now() + frame.source[0] == 0 ? XDP_DROP : XDP_PASS;
}

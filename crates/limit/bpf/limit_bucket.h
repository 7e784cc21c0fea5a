/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * The twin of crates/limit/src/policy/nimble.rs: the same words, the same arithmetic, the same verdicts.
 * vectors/limit/nimble.json holds both to each other.
 */
#ifndef TP_LIMIT_BUCKET_H
#define TP_LIMIT_BUCKET_H

#include <linux/types.h>

#include "limit.gen.h"

enum verdict { PASS = 0, MARK = 1, DROP = 2 };

/* What changes with every packet, one word for compare-and-swap. */
union state {
	struct {
		__u32 last_ticks;
		__u32 occupancy_units;
	};
	__u64 word;
};

/* What an operator sets, one word so that a change is seen whole or not at all. */
union config {
	struct {
		__u32 rate;
		__u32 burst_units;
	};
	__u64 word;
};

/* 16 bytes; `struct Nimble` of Rust. */
struct limiter {
	__u64 state;
	__u64 config;
};

/* What becomes of the state when a packet arrives. */
struct step {
	enum verdict verdict;
	union state admitted;
	union state refused;
	/* What admission adds to what is left after draining. */
	__u32 added_units;
};

#define RATE_PART(rate, part) (((rate) >> TP_LIMIT_##part##_LOWEST) & TP_LIMIT_##part##_MASK)

/* The time of a packet: a clock that was read before that of the last one says that none has passed. */
static __always_inline __u32 time_of(union state before, __u64 now_ns)
{
	__u32 now = now_ns >> TP_LIMIT_TICK_SHIFT;

	return (__u32)(now - before.last_ticks) > 0xffffffffU - TP_LIMIT_LATE_TICKS ? before.last_ticks : now;
}

/* What the rate drains until `now`, in units. */
static __always_inline __u64 drained_by(union state before, union config config, __u32 now)
{
	__u32 quantum = RATE_PART(config.rate, QUANTUM);
	__u32 into_quantum = before.last_ticks & ((1U << quantum) - 1);
	__u64 quanta = ((__u64)into_quantum + (__u32)(now - before.last_ticks)) >> quantum;

	return quanta * RATE_PART(config.rate, MANTISSA);
}

/* The state after time has passed. */
static __always_inline union state drain(union state before, union config config, __u64 now_ns)
{
	__u32 now = time_of(before, now_ns);
	__u64 drained = drained_by(before, config, now);
	union state after = {
		.last_ticks = now,
		.occupancy_units = before.occupancy_units > drained ? before.occupancy_units - drained : 0,
	};

	return after;
}

static __always_inline struct step step(union state before, union config config, __u32 bytes, __u64 now_ns)
{
	__u64 mark = (__u64)RATE_PART(config.rate, MARK_MANTISSA) << RATE_PART(config.rate, MARK_SHIFT);
	__u32 now = time_of(before, now_ns);
	__u64 drained = drained_by(before, config, now);
	__u64 occupancy = before.occupancy_units;
	__u64 filled = occupancy + ((__u64)bytes << TP_LIMIT_UNIT_SHIFT);
	__u64 after = filled > drained ? filled - drained : 0;
	__u32 left = occupancy > drained ? occupancy - drained : 0;
	struct step step;

	/* A drop leaves the drain for later, unless that would make a difference. */
	step.refused = before;
	if (drained >= occupancy || now - before.last_ticks >= TP_LIMIT_REFRESH_TICKS) {
		step.refused.last_ticks = now;
		step.refused.occupancy_units = left;
	}
	if (after > config.burst_units) {
		step.verdict = DROP;
		step.admitted = step.refused;
		step.added_units = 0;
		return step;
	}
	step.verdict = mark && after > mark ? MARK : PASS;
	step.admitted.last_ticks = now;
	step.admitted.occupancy_units = after;
	step.added_units = after - left;
	return step;
}

/* How often a compare-and-swap is tried before the packet is dropped; every failure is another core's success. */
#define TRIES 64

/* What was done to a limiter. */
struct charge {
	enum verdict verdict;
	/* Whether it was `least` that was charged. */
	bool fell_back;
	/* What admission added to what was left after draining. */
	__u32 units;
	/* The state that it left, and that which refusal would have left; 0 if not known. */
	__u64 admitted, refused;
};

/*
 * Offers `want` bytes to the limiter, and if that is too much, `least`; with `refuse`, only time passes. Fails if another core
 * was faster.
 */
static __always_inline bool try_charge(struct limiter *limiter, __u32 want, __u32 least, __u64 now_ns, bool refuse, struct charge *charge)
{
	union config config = { .word = *(volatile __u64 *)&limiter->config };
	union state before = { .word = *(volatile __u64 *)&limiter->state };
	struct step outcome = step(before, config, want, now_ns);
	union state after;

	charge->fell_back = outcome.verdict == DROP && least != want;
	if (charge->fell_back)
		outcome = step(before, config, least, now_ns);
	charge->verdict = outcome.verdict;
	after = refuse || outcome.verdict == DROP ? outcome.refused : outcome.admitted;
	charge->units = outcome.added_units;
	charge->admitted = after.word;
	charge->refused = outcome.refused.word;
	/* Nothing to write spares the other cores the cache line: so it is with most drops. */
	return after.word == before.word || __sync_val_compare_and_swap(&limiter->state, before.word, after.word) == before.word;
}

/*
 * The same until it succeeds, in a function of its own, which is verified once. A charge is returned as one number: the units
 * above 32 bits of verdict and `fell_back`.
 */
__noinline __u64 charge_contended(struct limiter *limiter, __u32 want, __u32 least, __u64 now_ns, bool refuse)
{
	struct charge charge = {};

	if (!limiter)
		return DROP;
	for (int i = 0; i < TRIES; i++)
		if (try_charge(limiter, want, least, now_ns, refuse, &charge))
			return (__u64)charge.units << 32 | charge.fell_back << 2 | charge.verdict;
	return DROP;
}

static __always_inline struct charge charge(struct limiter *limiter, __u32 want, __u32 least, __u64 now_ns, bool refuse)
{
	struct charge charge = {};

	if (!try_charge(limiter, want, least, now_ns, refuse, &charge)) {
		__u64 packed = charge_contended(limiter, want, least, now_ns, refuse);

		charge.verdict = packed & 3;
		charge.fell_back = packed >> 2 & 1;
		charge.units = packed >> 32;
		charge.admitted = charge.refused = 0;
	}
	return charge;
}

/* Takes a charge back that another limit did not agree to: as if it had never been, unless another core came between. */
static __always_inline void uncharge(struct limiter *limiter, const struct charge *charge)
{
	if (charge->admitted && __sync_val_compare_and_swap(&limiter->state, charge->admitted, charge->refused) == charge->admitted)
		return;
	for (int i = 0; i < TRIES; i++) {
		union state before = { .word = *(volatile __u64 *)&limiter->state };
		union state after = before;

		after.occupancy_units = before.occupancy_units > charge->units ? before.occupancy_units - charge->units : 0;
		if (__sync_val_compare_and_swap(&limiter->state, before.word, after.word) == before.word)
			return;
	}
}

/* Lets time pass for the limiter. */
static __always_inline void advance(struct limiter *limiter, __u64 now_ns)
{
	union config config = { .word = *(volatile __u64 *)&limiter->config };

	for (int i = 0; i < TRIES; i++) {
		union state before = { .word = *(volatile __u64 *)&limiter->state };
		union state after = drain(before, config, now_ns);

		if (__sync_val_compare_and_swap(&limiter->state, before.word, after.word) == before.word)
			return;
	}
}

/* Drains a limiter that has long been idle, before its clock wraps unseen. */
static __always_inline void refresh(struct limiter *limiter, __u64 now_ns)
{
	union state before = { .word = *(volatile __u64 *)&limiter->state };
	__u32 elapsed = (__u32)(now_ns >> TP_LIMIT_TICK_SHIFT) - before.last_ticks;

	if (elapsed >= TP_LIMIT_REFRESH_TICKS && elapsed <= 0xffffffffU - TP_LIMIT_LATE_TICKS)
		advance(limiter, now_ns);
}

#endif

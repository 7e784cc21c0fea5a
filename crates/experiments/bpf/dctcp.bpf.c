// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/*
 * DCTCP, the Data Center TCP of RFC 8257, as a congestion control "tp_dctcp" that the kernel loads as struct_ops.
 *
 * The receiver echoes each packet's congestion mark exactly; the sender keeps a running estimate alpha of the share of
 * bytes that were marked, and cuts its window by alpha / 2 once per window. Growth, and the reaction to loss, are Reno's.
 * A connection without ECN is handed to Reno altogether.
 *
 * Departures from the RFC:
 * - The kernel cuts at the first echo of a window, so with the alpha of the windows before (the RFC: at the window's
 *   end, with the alpha of that window), and spreads the cut over the round trip (proportional rate reduction).
 * - On a change of marks the receiver also sends the ACK of the changed packet at once, where the RFC lets it wait.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define ALPHA_ONE (1U << 20)	/* alpha is Q20 */
#define ALPHA_GAIN_SHIFT 4	/* g = 1/16, RFC 8257 §4.2 */
#define MIN_WINDOW 2U		/* packets, as Reno; RFC 5681 §3.1 */
#define MAX_COUNTED_BYTES (1U << 30)

/* From the kernel's headers, which BTF does not carry: they are macros there. */
#define SOL_TCP 6
#define TCP_CONGESTION 13
#define TCP_CONG_NEEDS_ECN 0x2
#define TCP_ECN_NEGOTIATED (0x1 | 0x10)	/* RFC 3168, or accurate ECN */
#define TCP_ECN_DEMAND_CWR 0x4		/* our ACKs carry ECE */
#define ICSK_ACK_TIMER 0x2		/* an ACK is being delayed */
#define ICSK_ACK_NOW 0x10		/* the ACK must go with this packet */
#define CA_ACK_ECE 0x4
#define TCP_CA_RECOVERY 3

enum tcp_ca_event {
	CA_EVENT_LOSS = 3,
	CA_EVENT_ECN_NO_CE = 4,
	CA_EVENT_ECN_IS_CE = 5,
};

/* What is used of the kernel's structures; libbpf finds the true offsets when it loads the program. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Some member, for a kernel function's argument is not found compatible with a structure that is only declared. */
struct sock {
	int sk_rcvbuf;
};

struct inet_connection_sock {
	struct {
		__u8 pending;
	} icsk_ack;
	__u64 icsk_ca_priv[13];
};

struct tcp_sock {
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 rcv_nxt;
	__u32 rcv_wup;
	__u8 ecn_flags;
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
};

#pragma clang attribute pop

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;

/* One connection's state, in the socket's private area for congestion controls. */
struct dctcp {
	/* The sender, RFC 8257 §3.3. */
	__u32 alpha;		/* Q20: the estimated share of marked bytes */
	__u32 window_end;	/* DCTCP.WindowEnd: the observation window ends when this is acknowledged */
	__u32 counted_una;	/* acknowledged bytes are counted up to here */
	__u32 acked_bytes;	/* DCTCP.BytesAcked */
	__u32 marked_bytes;	/* DCTCP.BytesMarked */
	__u32 loss_cwnd;	/* packets: the window before the last loss, should the loss prove to be none */
	/* The receiver, RFC 8257 §3.2. */
	__u32 prior_rcv_nxt;	/* what was received before the packet at hand */
	__u32 ce;		/* DCTCP.CE: the last packet was marked */
};

_Static_assert(sizeof(struct dctcp) <= sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv),
	       "the kernel keeps 104 bytes for us");

static __always_inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline struct inet_connection_sock *inet_csk(const struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static __always_inline struct dctcp *state_of(const struct sock *sk)
{
	return (struct dctcp *)inet_csk(sk)->icsk_ca_priv;
}

static __always_inline __u32 at_least(__u32 value, __u32 floor)
{
	return value > floor ? value : floor;
}

static __always_inline void start_observation_window(struct dctcp *state, const struct tcp_sock *tp)
{
	state->window_end = tp->snd_nxt;
	state->acked_bytes = 0;
	state->marked_bytes = 0;
}

static char reno[] = "reno";

SEC("struct_ops")
void BPF_PROG(dctcp_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct dctcp *state = state_of(sk);

	if (!(tp->ecn_flags & TCP_ECN_NEGOTIATED)) {
		/* No mark would ever be echoed; Reno also stops calling our packets ECN-capable. */
		bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
		return;
	}
	/* All are taken as marked until the first window tells: safe where the path is full, RFC 8257 §4.2. */
	state->alpha = ALPHA_ONE;
	state->counted_una = tp->snd_una;
	state->loss_cwnd = 0;
	state->prior_rcv_nxt = tp->rcv_nxt;
	state->ce = false;
	start_observation_window(state, tp);
}

/* The window to fall to when ECE is echoed: cwnd × (1 − alpha / 2), RFC 8257 §3.3. Asked for once per window. */
SEC("struct_ops")
__u32 BPF_PROG(dctcp_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 cwnd = tp->snd_cwnd;
	__u32 cut = (__u64)cwnd * state_of(sk)->alpha / (2 * ALPHA_ONE);

	return at_least(cwnd - cut, MIN_WINDOW);
}

/* alpha ← alpha × (1 − g) + g × M, with M = marked / acked; RFC 8257 §3.3. */
static __always_inline void update_alpha(struct dctcp *state)
{
	__u64 share = ((__u64)state->marked_bytes << 20) / at_least(state->acked_bytes, 1);
	__u32 alpha = state->alpha;
	__u32 decay = alpha >> ALPHA_GAIN_SHIFT;

	/* Rounding must not keep the last sixteenths of a unit for ever. */
	if (!decay)
		decay = alpha;
	alpha = alpha - decay + (share >> ALPHA_GAIN_SHIFT);
	state->alpha = alpha < ALPHA_ONE ? alpha : ALPHA_ONE;
}

/* Every ACK: counts acknowledged and marked bytes, SACK left aside, RFC 8257 §3.3 steps 1 to 8. */
SEC("struct_ops")
void BPF_PROG(dctcp_in_ack_event, struct sock *sk, __u32 flags)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct dctcp *state = state_of(sk);
	__u32 una = tp->snd_una;
	__u32 acked = una - state->counted_una;

	state->counted_una = una;
	/* A window lasts until what was in flight at its start is acknowledged; a longer count could overflow. */
	if (acked <= MAX_COUNTED_BYTES && state->acked_bytes <= MAX_COUNTED_BYTES) {
		state->acked_bytes += acked;
		if (flags & CA_ACK_ECE)
			state->marked_bytes += acked;
	}
	if ((__s32)(una - state->window_end) <= 0)
		return;
	update_alpha(state);
	start_observation_window(state, tp);
}

/* Loss is answered as Reno does, whatever the marks said: RFC 8257 §3.5. */
static __always_inline void react_to_loss(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 cwnd = tp->snd_cwnd;

	state_of(sk)->loss_cwnd = cwnd;
	tp->snd_ssthresh = at_least(cwnd >> 1, MIN_WINDOW);
}

SEC("struct_ops")
void BPF_PROG(dctcp_set_state, struct sock *sk, __u8 new_state)
{
	if (new_state == TCP_CA_RECOVERY)
		react_to_loss(sk);
}

static __always_inline void echo(struct tcp_sock *tp, bool ce)
{
	if (ce)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/*
 * Whether what came before the packet at hand is still to be acknowledged. A timer alone does not tell: since Linux 6.7
 * a socket that is in use puts off its ACKs, those that must go at once too, until its backlog is worked off
 * (net.ipv4.tcp_backlog_ack_defer). rcv_wup is what the last ACK acknowledged, or more after one of ours here, and
 * after one of ours the packet's own ACK is pending as ICSK_ACK_NOW.
 */
static __always_inline bool awaits_ack(const struct sock *sk, const struct tcp_sock *tp, const struct dctcp *state)
{
	return inet_csk(sk)->icsk_ack.pending & (ICSK_ACK_TIMER | ICSK_ACK_NOW) ||
	       (__s32)(state->prior_rcv_nxt - tp->rcv_wup) > 0;
}

/*
 * A data packet came, marked or not: RFC 8257 §3.2, figure 1. One delayed ACK can tell of one state only, so a change
 * first acknowledges what came before it, with the echo of that time.
 */
static __always_inline void receive(struct sock *sk, bool ce)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct dctcp *state = state_of(sk);

	if (state->ce != ce) {
		if (awaits_ack(sk, tp, state)) {
			echo(tp, state->ce);
			bpf_tcp_send_ack(tp, state->prior_rcv_nxt);
		}
		inet_csk(sk)->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	state->prior_rcv_nxt = tp->rcv_nxt;
	state->ce = ce;
	/* On every packet: the sender's CWR, which plain ECN obeys, has cleared it. */
	echo(tp, ce);
}

SEC("struct_ops")
void BPF_PROG(dctcp_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	switch (event) {
	case CA_EVENT_ECN_IS_CE:
		receive(sk, true);
		break;
	case CA_EVENT_ECN_NO_CE:
		receive(sk, false);
		break;
	case CA_EVENT_LOSS:
		react_to_loss(sk);
		break;
	}
}

/* Slow start, then a packet per round trip: RFC 8257 §3.4 leaves growth as it is. */
SEC("struct_ops")
void BPF_PROG(dctcp_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(dctcp_undo_cwnd, struct sock *sk)
{
	return at_least(tcp_sk(sk)->snd_cwnd, state_of(sk)->loss_cwnd);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops tp_dctcp = {
	.init = (void *)dctcp_init,
	.ssthresh = (void *)dctcp_ssthresh,
	.cong_avoid = (void *)dctcp_cong_avoid,
	.set_state = (void *)dctcp_set_state,
	.cwnd_event = (void *)dctcp_cwnd_event,
	.in_ack_event = (void *)dctcp_in_ack_event,
	.undo_cwnd = (void *)dctcp_undo_cwnd,
	.flags = TCP_CONG_NEEDS_ECN,
	.name = "tp_dctcp",
};

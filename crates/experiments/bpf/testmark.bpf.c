// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/* For tests: marks one in so many ECN-capable packets as having met congestion. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

volatile __u32 one_in = 0;	/* none */
volatile __u64 seen = 0;
volatile __u64 marked = 0;

SEC("tc")
int mark(struct __sk_buff *skb)
{
	__u64 number = __sync_fetch_and_add(&seen, 1) + 1;

	if (one_in && number % one_in == 0 && bpf_skb_ecn_set_ce(skb))
		__sync_fetch_and_add(&marked, 1);
	return TC_ACT_OK;
}

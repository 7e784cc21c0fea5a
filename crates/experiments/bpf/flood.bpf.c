// SPDX-License-Identifier: (GPL-2.0-only OR MIT)
/* For measurements: sends what the kernel's test bench gives it out of the interface, as often as asked (BPF_F_TEST_XDP_LIVE_FRAMES). */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("xdp")
int flood(struct xdp_md *xdp)
{
	return XDP_TX;
}

/* An end of a veth pair takes such frames only where a program runs. */
SEC("xdp")
int pass(struct xdp_md *xdp)
{
	return XDP_PASS;
}

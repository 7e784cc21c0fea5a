"""Ranks, orders of service, attacks and schedulers that are written in Python."""

import heapq

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import ROOT

from trueplane import ParameterError, fair, sched, surge

SECOND = 1_000_000_000
US = 1_000


def test_a_port_goes_by_a_rank_function():
    # A packet of 1250 B takes 1 µs at 10 Gbit/s: all come at once, and the first is sent as it comes.
    sent = sched.serve(
        [0, 0, 0, 0], 1250, rank=lambda flow, size, now: 10 - flow, flows=[1, 2, 3, 4], rate="10Gbps", scheduler="pifo"
    )
    assert sent["rank"].to_pylist() == [9, 8, 7, 6]
    assert sent["sent_ns"].to_pylist() == [3 * US, 2 * US, 1 * US, 0]
    assert sent["inversion"].to_pylist() == [0, 0, 0, 0]
    fifo = sched.serve([0, 0, 0, 0], 1250, rank=[9, 8, 7, 6], rate=10_000_000_000, scheduler="fifo")
    assert fifo["sent_ns"].to_pylist() == [0, 1 * US, 2 * US, 3 * US]
    assert fifo["inversion"].to_pylist() == [3, 2, 1, 0]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pl.Series, pa.array])
def test_ranks_are_an_array_of_any_kind(kind):
    assert sched.serve([0, 0], 1250, rank=kind([2, 1]), rate="10Gbps", scheduler="pifo")["sent_ns"].to_pylist() == [1000, 0]


@pytest.mark.parametrize("scheduler", ["fifo", "sp-pifo", "aifo", "packs", "pifo"])
def test_a_rank_function_does_what_an_array_of_its_ranks_does(scheduler):
    draw = np.random.default_rng(4)
    times = np.cumsum(draw.exponential(1000, 3000)).astype(np.int64)
    sizes = draw.integers(64, 1500, 3000)
    ranks = draw.integers(0, 100, 3000)
    remaining = iter(ranks.tolist())
    by_function = sched.serve(times, sizes, rank=lambda *_: next(remaining), rate="6Gbps", scheduler=scheduler, window=50)
    by_array = sched.serve(times, sizes, rank=ranks, rate="6Gbps", scheduler=scheduler, window=50)
    assert by_function.equals(by_array)
    assert by_array["sent_ns"].null_count > 0
    sent = by_array["sent_ns"].to_pandas()
    assert ((sent - times).dropna() >= 0).all()
    # The line sends one packet after the other.
    order = sent.dropna().sort_values()
    gaps = order.diff().dropna().to_numpy()
    assert (gaps >= np.floor(sizes[order.index[:-1]] * 8 / 6)).all()
    if scheduler == "pifo":
        assert by_array["inversion"].to_pandas().max() == 0


def test_a_rank_object_hears_of_departures():
    class Stfq:
        """Start-time fair queueing: the rank is the virtual start of a packet."""

        def __init__(self):
            self.virtual, self.finish = 0, {}

        def rank(self, flow, size, now):
            start = max(self.virtual, self.finish.get(flow, 0))
            self.finish[flow] = start + size
            return start

        def departs(self, rank):
            self.virtual = max(self.virtual, rank)

    # One flow sends three times as much as the other; both get half of the line while both wait.
    flows = np.tile([0, 0, 0, 1], 50)
    sent = sched.serve(np.arange(200), 1250, rank=Stfq(), flows=flows, rate="10Gbps", scheduler="pifo", queues=1, depth=1000)
    first = sent.to_pandas().assign(flow=flows).sort_values("sent_ns").head(80)
    assert first["flow"].value_counts()[1] == pytest.approx(40, abs=2)


def packets(count, every, size, work):
    return {"time_ns": np.arange(count) * every, "packet_bytes": np.full(count, size), "job_ns": np.full(count, work)}


def test_a_server_serves_by_an_order_of_ones_own():
    # All come while the first is served: the shortest of the others is next.
    users = {"time_ns": [0, 1, 2, 3], "packet_bytes": [100] * 4, "job_ns": [1000, 300, 100, 200]}
    sjf = surge.serve(users, order=lambda flow, size, work, now: work, end=10_000)
    assert sjf.users.packets["start_ns"].to_pylist() == [0, 1300, 1000, 1100]
    assert sjf.users.packets["end_ns"].to_pylist() == [1000, 1600, 1100, 1300]
    assert surge.serve(users, order="sjf", end=10_000).users.packets.equals(sjf.users.packets)
    fcfs = surge.serve(pd.DataFrame(users), order="fcfs", end=1200)
    assert fcfs.users.packets["end_ns"].to_pylist() == [1000, None, None, None]
    assert (fcfs.users.served_packets, fcfs.users.left_packets, fcfs.users.work_ns) == (1, 3, 1000)
    assert fcfs.goodput_bps == pytest.approx(100 * 8 / 1200e-9)


def test_an_attack_of_ones_own_displaces_less_under_wsjf():
    # Users: half of the server's time. The attack: few small packets that take 100 times as long.
    users = packets(20_000, 2000, 1000, 1000)
    attack = packets(1000, 40_000, 64, 100_000)
    displaced = {}
    for order in ("fcfs", "sjf", "wsjf", lambda flow, size, work, now: 1_000_000 * work // size):
        alone = surge.serve(users, order=order, buffer=100)
        attacked = surge.serve(users, attack, order=order, buffer=100)
        name = order if isinstance(order, str) else "own"
        displaced[name] = attacked.displacement_factor(alone)
        assert attacked.users.arrived_packets == 20_000
        for fate in (attacked.users, attacked.attack):
            assert fate.arrived_packets == fate.served_packets + fate.dropped_packets + fate.left_packets
    assert displaced["fcfs"] > 50
    assert displaced["wsjf"] < 1 and displaced["sjf"] < 1
    assert displaced["own"] == pytest.approx(displaced["wsjf"], abs=0.05)
    assert "packets of users served" in repr(attacked)


class Fifo(fair.Scheduler):
    """Who has waited for longest, by the first task that waits; it knows only when users begin to wait."""

    def begin(self, users, resources, capacity):
        self.waiting, self.held, self.capacity = {}, {}, capacity

    def on_wait(self, user, now):
        self.waiting[user] = now

    def on_rest(self, user, now):
        del self.waiting[user]

    def on_hold(self, user, held, now):
        self.held[user] = held

    def first(self, now):
        return min(self.waiting, key=lambda user: (self.waiting[user], user))


class Drf(Fifo):
    """The smallest dominant share first; of equal ones, who waits for longest."""

    def first(self, now):
        def share(user):
            return max((held / all for held, all in zip(self.held.get(user, [0]), self.capacity, strict=False)), default=0)

        return min(self.waiting, key=lambda user: (share(user), self.waiting[user]))


def test_a_scheduler_of_ones_own_runs_a_log():
    jobs = {"submit_s": [0, 0, 0, 1, 1], "duration_s": [10, 10, 10, 10, 10], "user": list("aaabb"), "cpu": [1, 1, 1, 1, 1]}
    ran = fair.schedule(jobs, Drf(), capacity={"cpu": 2})
    assert list(zip(ran["user"].to_pylist(), (np.array(ran["start_ns"]) / SECOND).tolist(), strict=True)) == [
        ("a", 0.0),
        ("a", 0.0),
        ("a", 10.0),
        ("b", 10.0),
        ("b", 20.0),
    ]
    assert ran["wait_ns"].to_pylist() == [0, 0, 10 * SECOND, 9 * SECOND, 19 * SECOND]
    named = fair.schedule(jobs, "drf", capacity={"cpu": 2})
    assert sorted(named["wait_ns"].to_pylist()) == sorted(ran["wait_ns"].to_pylist())


def test_named_schedulers_wait_as_the_study_says():
    log = ROOT / "examples" / "jobs.csv"
    found = fair.simulate(log, policies="fifo,drf,sdrf", progress=False).table("waits").to_pylist()
    for row in found:
        ran = fair.schedule(log, row["policy"])
        assert np.mean(ran["wait_ns"].to_numpy()) == pytest.approx(row["wait_mean_ns"], rel=1e-9)
    mine = fair.schedule(log, Drf())
    assert mine.num_rows == ran.num_rows


def raises(*_):
    raise KeyError("mine")


class Broken(Fifo):
    def __init__(self, answer):
        self.answer = answer

    def first(self, now):
        return self.answer if not callable(self.answer) else self.answer()


JOBS = {"submit_s": [0], "duration_s": [10], "user": ["a"], "cpu": [1]}
USERS = {"time_ns": [0], "packet_bytes": [100], "job_ns": [1]}


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda: sched.serve([0], 1, rank=raises, rate="1Gbps"), KeyError, "mine"),
        (
            lambda: sched.serve([0], 1, rank=lambda *_: -1, rate="1Gbps"),
            ParameterError,
            "rank: expected a whole number from 0 to 2**64 - 1, got -1",
        ),
        (lambda: sched.serve([0], 1, rank=lambda *_: "a", rate="1Gbps"), ParameterError, "rank: expected a whole number"),
        (lambda: sched.serve([0], 1, rank=lambda: 1, rate="1Gbps"), TypeError, "argument"),
        (lambda: sched.serve([1, 0], 1, rank=0, rate="1Gbps"), ParameterError, "rank: expected an array of one dimension"),
        (lambda: sched.serve([1, 0], 1, rank=[0, 0], rate="1Gbps"), ParameterError, "times: expected 1 ns or later for packet 1"),
        (lambda: sched.serve([0, 0], [1, 2, 3], rank=[0, 0], rate="1Gbps"), ParameterError, "sizes: expected 2 values"),
        (lambda: sched.serve([0], 2**32, rank=[0], rate="1Gbps"), ParameterError, "sizes: expected up to 4294967295 bytes"),
        (lambda: sched.serve([0], 1, rank=[0], rate="fast"), ParameterError, "rate: expected "),
        (
            lambda: sched.serve([0], 1, rank=[0], rate=1, scheduler="optimal"),
            ParameterError,
            "scheduler: expected one of fifo, sp-pifo",
        ),
        (lambda: sched.serve([0], 1, rank=[0], rate=1, scheduler="wfq"), ParameterError, "scheduler: expected "),
        (lambda: sched.serve([0], 1, rank=[0], rate=1, depth=0), ParameterError, "depth: expected 1 to 1048576, got 0"),
        (lambda: surge.serve(USERS, order=raises), KeyError, "mine"),
        (
            lambda: surge.serve(USERS, order=lambda *_: None),
            ParameterError,
            "order: expected a whole number from 0 to 2**64 - 1, got None",
        ),
        (lambda: surge.serve(USERS, order="best"), ParameterError, "order: expected "),
        (lambda: surge.serve(USERS, buffer=0), ParameterError, "buffer: expected a capacity above zero"),
        (
            lambda: surge.serve({"time_ns": [0]}),
            ParameterError,
            "users: expected the columns time_ns, packet_bytes, job_ns, and packet_bytes is missing",
        ),
        (lambda: surge.serve({**USERS, "color": [1]}), ParameterError, "users: expected the columns "),
        (lambda: surge.serve({**USERS, "packet_bytes": [0]}), ParameterError, "packet 0: expected 1 to 536870911 bytes, got 0"),
        (lambda: surge.serve({**USERS, "job_ns": [-1]}), ParameterError, "users: job_ns: expected 0 or more, got -1"),
        (lambda: surge.serve({**USERS, "flow": [2**63]}), ParameterError, "packet 0: expected a flow below 2**63"),
        (lambda: surge.serve(7), TypeError, "users: expected rows"),
        (lambda: surge.serve(USERS).displacement_factor(surge.serve(USERS)), ParameterError, "without: expected an attack"),
        (lambda: fair.schedule(JOBS, Broken(raises), capacity={"cpu": 1}), KeyError, "mine"),
        (
            lambda: fair.schedule(JOBS, Broken("z"), capacity={"cpu": 1}),
            ParameterError,
            "scheduler: expected a user who waits from first(), got 'z'",
        ),
        (
            lambda: fair.schedule(JOBS, Broken(None), capacity={"cpu": 1}),
            ParameterError,
            "scheduler: expected a user who waits from first(), got None",
        ),
        (lambda: fair.schedule(JOBS, fair.Scheduler(), capacity={"cpu": 1}), NotImplementedError, "first"),
        (lambda: fair.schedule(JOBS, "best"), ParameterError, "scheduler: expected "),
        (lambda: fair.schedule(JOBS, object()), TypeError, "scheduler: expected a Scheduler"),
        (lambda: fair.schedule(JOBS, "drf", capacity={"gpu": 1}), ParameterError, "gpu"),
        (
            lambda: fair.schedule(JOBS, Drf(), half_life="1d"),
            ParameterError,
            "half_life: expected the name of a policy that has one",
        ),
        (lambda: fair.schedule("nowhere.csv", "drf"), ValueError, "nowhere.csv"),
    ],
)
def test_nonsense_raises_one_sentence(make, kind, said):
    with pytest.raises(kind) as raised:
        make()
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_priorities_beyond_a_heap_are_not_needed():
    # The port with exact order is a heap by rank and arrival, checked here for one burst.
    ranks = np.random.default_rng(5).integers(0, 1000, 60)
    sent = sched.serve(np.zeros(60, int), 125, rank=ranks, rate="1Gbps", scheduler="pifo", queues=1, depth=100).to_pandas()
    heap = [(rank, number) for number, rank in enumerate(ranks.tolist())]
    heapq.heapify(heap)
    assert sent.sort_values("sent_ns").index.tolist() == [heapq.heappop(heap)[1] for _ in range(60)]

"""The queue, the limiters, SP-PIFO, SDRF and DySO's table as classes: alone, in batches, and given nonsense."""

import gc
import heapq
import queue
import random
import weakref

import numpy as np
import pytest

from trueplane import ParameterError, fair, limit, offload, pqueue, sched

MS = 1_000_000
SECOND = 1_000_000_000


def test_a_queue_serves_by_priority_from_both_ends():
    made = pqueue.Queue(span=1000, capacity=64)
    for priority, item in [(7, "later"), (3, "first"), (7, "last"), (3, None)]:
        assert made.insert(priority, item) is None
    assert len(made) == 4 and repr(made) == "Queue(4 of 64 items, priorities below 1000)"
    assert made.peek_min() == (3, "first") and made.peek_max() == (7, "later")
    assert [made.extract_min() for _ in range(2)] == [(3, "first"), (3, None)]
    priorities, items = made.extract_max_many(10)
    assert (priorities.tolist(), items) == ([7, 7], ["later", "last"])
    for empty in (made.extract_min, made.extract_max, made.peek_min, made.peek_max):
        with pytest.raises(IndexError, match="empty"):
            empty()


@pytest.mark.parametrize("span", [1, 64, 65, 4096, 4097, 1 << 18, (1 << 18) + 1])
def test_a_queue_of_any_span_orders_as_a_heap_does(span):
    draw = random.Random(span)
    priorities = [draw.randrange(span) for _ in range(500)]
    made = pqueue.Queue(span, 500)
    assert made.insert_many(priorities, range(500)) == []
    heap = [(priority, number) for number, priority in enumerate(priorities)]
    heapq.heapify(heap)
    taken, items = made.extract_min_many(1000)
    assert list(zip(taken.tolist(), items, strict=True)) == [heapq.heappop(heap) for _ in range(500)]


def test_a_full_queue_refuses_or_drops_what_its_rule_says():
    refuses = pqueue.Queue(10, 2)
    refuses.insert(1, "a")
    with pytest.raises(queue.Full, match="2 items"):
        refuses.insert_many([1, 2], "bc")
    assert len(refuses) == 1
    refuses.insert(5, "d")
    with pytest.raises(queue.Full):
        refuses.insert(0, "e")
    for rule, dropped in [("drop-worst", [(5, "d"), (8, "f")]), ("drop-if-worst", [(5, "d"), (9, "g")])]:
        drops = pqueue.Queue(10, 2, when_full=rule)
        drops.insert_many([1, 5], "ad")
        assert drops.insert_many([8 if rule == "drop-worst" else 2, 9], "fg") == dropped


def test_what_a_queue_holds_is_freed_with_it():
    class Item:
        pass

    item, made = Item(), pqueue.Queue(10, 10)
    item.queue = made
    made.insert(1, item)
    gone = weakref.ref(item)
    del item, made
    gc.collect()
    assert gone() is None


def test_a_limiter_passes_a_burst_and_then_the_rate():
    # The example of the guide: 8 Mbit/s are 1000 bytes in a millisecond.
    limiter = limit.Limiter("8Mbps", burst="3000B")
    at_once = [limiter.offer(1500, now=0) for _ in range(3)]
    assert at_once == [limit.Verdict.PASS, limit.Verdict.PASS, limit.Verdict.DROP]
    assert limiter.occupancy == 3000
    wait = limiter.retry_after(1500, 0)
    assert 1.5 * MS <= wait < 1.5 * MS + 8192  # its clock counts in 8,192 ns
    assert limiter.offer(1500, wait) == limit.Verdict.PASS
    assert limit.Limiter("8Mbps", burst="3000B", policy="gcra").retry_after(4000, 0) is None


@pytest.mark.parametrize("policy", ["nimble", "token-bucket", "gcra"])
def test_limiters_decide_in_batches_as_one_by_one(policy):
    draw = np.random.default_rng(1)
    times = np.cumsum(draw.integers(0, 2 * MS, 2000)).astype(np.uint64)
    sizes = draw.integers(64, 1500, 2000).astype(np.uint64)
    made = [limit.Limiter("6Mbps", burst="15kB", policy=policy) for _ in range(2)]
    many = made[0].offer_many(sizes, times)
    assert many.tolist() == [made[1].offer(int(size), int(now)) for size, now in zip(sizes, times, strict=True)]
    passed = sizes[many == limit.Verdict.PASS].sum() * 8 / (times[-1] / SECOND)
    assert 0.9 * 6e6 < passed < 1.3 * 6e6
    assert (limit.Limiter(6_000_000, burst=15_000, policy=policy).offer_many(sizes, times) == many).all()


def test_a_limiter_marks_above_its_threshold():
    limiter = limit.Limiter("8Mbps", burst="3000B", mark="1000B")
    assert [limiter.offer(900, now=0).name for _ in range(4)] == ["PASS", "MARK", "MARK", "DROP"]


def test_a_request_limiter_has_a_quota_for_every_key():
    # 100 requests a minute, 20 of them at once: one more after 600 ms.
    limiter = limit.RequestLimiter(100, "60s", burst=20)
    assert all(limiter.check("alice", now=SECOND) for _ in range(20))
    refused = limiter.check("alice", now=SECOND)
    assert refused == (False, 600 * MS) and not refused
    assert limiter.check("bob", now=SECOND) and limiter.remaining("bob", now=SECOND) == 19 and len(limiter) == 2
    assert limiter.check("alice", now=SECOND + 600 * MS)
    assert limiter.check("alice", requests=21, now=2 * SECOND) == (False, None)
    assert limiter.check_many(["carol"] * 21, np.full(21, 3 * SECOND)).tolist() == [True] * 20 + [False]
    assert limiter.check("dave")
    small = limit.RequestLimiter(1, "1h", keys=1)
    assert small.check(17, now=0) and small.check("17", now=0).passes is False
    assert small.check("other", now=1) == (False, None)


def test_sp_pifo_maps_as_the_paper_does():
    # The example of the guide: two queues, and bounds that follow the ranks.
    made = sched.SpPifo(queues=2, depth=10)
    assert (made.push(4), made.bounds) == (1, [0, 4])
    assert (made.push(1), made.bounds) == (0, [1, 4])
    assert (made.push(0), made.bounds) == (0, [0, 3])  # an inversion of 1 pulls the bounds down
    assert made.lengths == [2, 1] and len(made) == 3
    assert [made.pop() for _ in range(4)] == [(1, 1), (0, 2), (4, 0), None]


def test_sp_pifo_takes_batches():
    ranks = np.random.default_rng(2).integers(0, 100, 300)
    made = [sched.SpPifo(8, depth=16) for _ in range(2)]
    queues = made[0].push_many(ranks)
    assert queues.tolist() == [-1 if (queue := made[1].push(int(rank))) is None else queue for rank in ranks]
    assert (queues == -1).any() and made[0].lengths == made[1].lengths
    taken, labels = made[0].pop_many(1000)
    assert (ranks[labels] == taken).all() and len(made[0]) == 0
    assert list(zip(taken.tolist(), labels.tolist(), strict=True)) == [made[1].pop() for _ in range(len(taken))]
    named = sched.SpPifo()
    named.push_many([3], [2**64 - 1])
    assert named.pop() == (3, 2**64 - 1)


def test_sdrf_lets_those_go_first_who_used_little():
    cluster = fair.Sdrf([10], half_life="1h")
    heavy, light = cluster.join(now=0), cluster.join(now=0)
    cluster.submit_many([heavy] * 10, range(10), np.ones((10, 1), np.uint64), now=0)
    users, tasks = cluster.start(now=0)
    assert users.tolist() == [heavy] * 10 and tasks.tolist() == list(range(10)) and cluster.running == 10
    hour = 3600 * SECOND
    for task in range(10):
        assert cluster.finish(task, now=hour) == heavy
    assert cluster.commitments(heavy)[0] > 0.2 and cluster.commitments(light)[0] == 0.0
    for task in range(5):
        cluster.submit(heavy, 100 + task, [2], now=hour)
        cluster.submit(light, 200 + task, [2], now=hour)
    copy = fair.Sdrf.restore(cluster.snapshot())
    users, _ = cluster.start(now=hour)
    assert users.tolist()[0] == light and users.tolist().count(light) > users.tolist().count(heavy)
    assert copy.start(now=hour)[0].tolist() == users.tolist()
    assert cluster.held(light).tolist() == [2 * users.tolist().count(light)]
    # With another weight and capacity, a user has another part; commitments stay parts of the cluster.
    before = cluster.commitments(heavy)
    cluster.set_weight(heavy, 3, now=hour)
    cluster.set_capacity([20], now=hour)
    np.testing.assert_allclose(cluster.commitments(heavy), before, atol=1e-12)
    # DRF remembers nothing.
    forgets = fair.Sdrf([10])
    assert forgets.join(now=0) == 0 and forgets.commitments(0).tolist() == [0.0]


def test_a_refused_batch_of_tasks_submits_none():
    cluster = fair.Sdrf([4, 4])
    cluster.join(now=0)
    with pytest.raises(ParameterError, match="task 2: expected a task that needs at most 4 of resource 1, found 5"):
        cluster.submit_many([0, 0, 0], [1, 2, 3], [[1, 1], [1, 1], [1, 5]], now=0)
    assert cluster.waiting == 0


def test_the_table_of_dyso_learns_what_is_hot():
    keys = np.random.default_rng(3).zipf(1.3, 200_000).astype(np.uint64)
    table = offload.RMat(64)
    answered = table.lookup_many(keys, control_every=10)
    assert not answered[0] and answered[100_000:].mean() > 0.6
    hottest = np.bincount(keys[keys < 1000].astype(int)).argmax()
    assert table.lookup(int(hottest)) and hottest in table.keys(table.row_of(int(hottest)))
    counts = table.counts
    assert counts.updates > 0 and counts.recorded + counts.unrecorded == len(keys) + 1
    # The same lookups one by one.
    again = offload.RMat(64)
    for number, key in enumerate(keys[:2000], 1):
        assert again.lookup(int(key)) == answered[number - 1]
        if number % 10 == 0:
            again.control()
    assert not offload.RMat(64).lookup_many(keys[:1000]).any()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pqueue.Queue(0, 1), "span: expected 1 to 16777216, got 0"),
        (lambda: pqueue.Queue(1, 2**40), "capacity: expected 1 to 16777216, got "),
        (lambda: pqueue.Queue(1.5, 1), "span: expected a whole number"),
        (lambda: pqueue.Queue(10, 1, when_full="panic"), "when_full: expected refuse, drop-worst or drop-if-worst"),
        (lambda: pqueue.Queue(10, 1).insert(10, "x"), "priority: expected 0 to 9, got 10"),
        (lambda: pqueue.Queue(10, 1).insert(-1, "x"), "priority: expected a whole number"),
        (lambda: pqueue.Queue(10, 5).insert_many([1, 10], "xy"), "priority: expected 0 to 9, got 10"),
        (lambda: pqueue.Queue(10, 5).insert_many([1, 2], "x"), "items: expected 2 values, one for each, got 1"),
        (lambda: pqueue.Queue(10, 5).extract_min_many(-1), "count: expected a whole number"),
        (lambda: limit.Limiter("fast", burst=1), "rate: expected "),
        (lambda: limit.Limiter("1Mbps", burst="1s"), "burst: expected "),
        (lambda: limit.Limiter("1Mbps", burst=1500, policy="red"), "policy: expected nimble, token-bucket or gcra"),
        (lambda: limit.Limiter("1Mbps", burst=1500, mark=10, policy="gcra"), "mark: expected nimble to mark"),
        (lambda: limit.Limiter("1Mbps", burst=1500).offer(2**32, 0), "size: expected up to 4294967295 bytes"),
        (lambda: limit.Limiter("1Mbps", burst=1500).offer_many([1, 2, 3], [0, 1]), "sizes: expected 2 values"),
        (lambda: limit.Limiter("1Mbps", burst=1500).offer_many(1, [5, 4]), "times: expected 5 ns or later for packet 1"),
        (lambda: limit.RequestLimiter(0), "requests: expected 1 to 2**32 - 1, got 0"),
        (lambda: limit.RequestLimiter(1, 0), "expected a period above 0ns, got 0ns"),
        (lambda: limit.RequestLimiter(1, keys=0), "expected at least 1 key, got 0"),
        (lambda: limit.RequestLimiter(1).check(1.5), "expected a whole number"),
        (lambda: limit.RequestLimiter(1).check("a", requests=0), "requests: expected 1 to 2**32 - 1, got 0"),
        (lambda: sched.SpPifo(0), "queues: expected 1 to 1048576, got 0"),
        (lambda: sched.SpPifo(2**20, depth=2), "depth: expected room for 1048576 packets"),
        (lambda: sched.SpPifo(push_down="up"), "push_down: expected "),
        (lambda: sched.SpPifo().push(-1), "rank: expected a whole number"),
        (lambda: sched.SpPifo().push_many([1, 2], [1, 2, 3]), "labels: expected 2 values"),
        (lambda: fair.Sdrf([]), "capacity: "),
        (lambda: fair.Sdrf([0]), "capacity: "),
        (lambda: fair.Sdrf([1], half_life=0), "half_life: "),
        (lambda: fair.Sdrf([1]).submit(0, 1, [1], now=0), "expected a user who has joined, found number 0"),
        (lambda: fair.Sdrf([1]).finish(7, now=0), "expected the name of a task that runs, found 7"),
        (lambda: fair.Sdrf([1]).join(weight=0, now=0), "expected "),
        (lambda: fair.Sdrf([1]).submit_many([0], [0], [1], now=0), "needs: expected a row for each task"),
        (lambda: fair.Sdrf.restore(b"x"), "snapshot: "),
        (lambda: offload.RMat(1), "expected "),
        (lambda: offload.RMat(8, chain=65), "expected "),
        (lambda: offload.RMat(8, history_rows=9), "expected "),
        (lambda: offload.RMat(8, tracked=2), "tracked: expected 4 to 255, got 2"),
        (lambda: offload.RMat(2**32), "rows: expected less than 2**32"),
        (lambda: offload.RMat(2**30), "rows: expected at most 33554432 entries"),
        (lambda: offload.RMat(8, ageing=0), "ageing: expected at least 1 lookup, got 0"),
        (lambda: offload.RMat(8).lookup_many([0.5]), "keys: expected whole numbers, got float64"),
    ],
)
def test_nonsense_raises_one_sentence(make, said):
    with pytest.raises(ParameterError) as raised:
        make()
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)

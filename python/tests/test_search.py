"""A search for the best point."""

import pytest

import trueplane
from trueplane.points import Between

pytest.importorskip("optuna", reason="Optuna is not installed")

TRACE = {"time_ns": [index * 400_000 for index in range(3000)], "key": [(index * index) % 13 for index in range(3000)]}


def cost(_, table):
    row = table.to_pylist()[0]
    return row["latency_mean_ns"] / 1e6


def search(**more):
    space = {"capacity": Between(1, 13, whole=True), "policies": ["lru", "lru-mad"]}
    return trueplane.search(trueplane.cache.compare, space, cost, trace=TRACE, latency="5ms", trials=24, batch=4, **more)


def test_a_search_finds_the_best_point_of_those_that_it_tries():
    found = search()
    assert found.value == min(value for _, value in found.trials)
    # With room for all 7 objects, nothing waits but at the start.
    assert found.best["capacity"] >= 7
    table = found.table()
    assert table.column_names == ["capacity", "policies", "value"] and table.num_rows == 24
    point, value = found.trials[5]
    assert cost(point, trueplane.cache.compare(TRACE, latency="5ms", **point).table()) == value


def test_the_same_seed_tries_the_same_points_on_any_number_of_workers():
    assert search(workers=1).trials == search(workers=3).trials != search(seed=2).trials


def test_the_greatest_value_is_found_as_well():
    found = search(maximize=True)
    assert found.value == max(value for _, value in found.trials)


def test_wrong_numbers_are_refused():
    with pytest.raises(trueplane.ParameterError, match="trials, batch"):
        trueplane.search(trueplane.cache.compare, {}, cost, trials=0)
    with pytest.raises(trueplane.ParameterError, match="objective: expected a number, got nan"):
        trueplane.search(
            trueplane.cache.compare, {"capacity": [1]}, lambda *_: float("nan"), trace=TRACE, latency="5ms", trials=1
        )
    with pytest.raises(trueplane.ParameterError, match="policies: expected a list of values, got 'lru'"):
        trueplane.search(trueplane.cache.compare, {"policies": "lru"}, cost, trace=TRACE, latency="5ms")
    with pytest.raises(trueplane.ParameterError, match="errors, wait"):
        search(wait=False)

"""Points of sweeps."""

import numpy as np
import pytest

import trueplane
from trueplane.points import Between, grid, latin_hypercube, random, zipped


def test_a_grid_has_every_combination_the_last_axis_fastest():
    points = grid(latency=["1ms", "10ms"], capacity=(1, 2, 3))
    assert points[:4] == [{"latency": "1ms", "capacity": size} for size in (1, 2, 3)] + [{"latency": "10ms", "capacity": 1}]
    assert len(points) == 6
    assert grid() == [{}]


def test_zipped_axes_go_side_by_side():
    assert zipped(a=[1, 2], b=["xy", "z"]) == [{"a": 1, "b": "xy"}, {"a": 2, "b": "z"}]
    with pytest.raises(trueplane.ParameterError, match="expected axes of the same length, got 2 of a, 1 of b"):
        zipped(a=[1, 2], b=[3])


def test_random_points_are_in_their_ranges_and_the_same_for_a_seed():
    axes = {"latency": Between(1, 1000, unit="ms", log=True), "flows": Between(2, 5, whole=True), "policy": ["lru", "arc"]}
    points = random(400, seed=7, **axes)
    assert points == random(400, seed=7, **axes) != random(400, seed=8, **axes)
    latencies = np.array([float(point["latency"].removesuffix("ms")) for point in points])
    assert latencies.min() >= 1 and latencies.max() <= 1000
    # Half of them are below the middle of the logarithms.
    assert 150 < (latencies < 31.6).sum() < 250
    assert {point["flows"] for point in points} == {2, 3, 4, 5}
    assert {point["policy"] for point in points} == {"lru", "arc"}


def test_a_latin_hypercube_has_a_point_in_every_piece_of_every_axis():
    points = latin_hypercube(16, seed=3, x=Between(0, 16), y=Between(0, 16), policy=["lru", "arc"])
    for axis in "xy":
        assert sorted(int(point[axis]) for point in points) == list(range(16))
    assert [point["policy"] for point in points].count("lru") == 8


def test_whole_numbers_have_both_ends_and_no_exponents():
    wide = Between(1, 10**9, whole=True, log=True)
    values = [wide.at(share) for share in np.linspace(0, 1 - 1e-12, 1001)]
    assert (values[0], values[-1]) == (1, 10**9)
    assert all(isinstance(value, int) for value in values)
    assert Between(0.000001, 0.00001, unit="s").at(0.5) == "0.0000055s"
    assert Between(0, 3, whole=True).at(0.999) == 3
    assert 1234567 <= Between(1234567, 1234569).at(0.5) <= 1234569
    assert Between(1e-15, 1e-13, unit="s", log=True).at(0) == "0.000000000000001s"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Between(2, 1),
        lambda: Between(0, 1, log=True),
        lambda: Between(0.5, 2, whole=True),
        lambda: Between(0, float("inf")),
        lambda: grid(latency="1ms"),
        lambda: grid(latency=[]),
        lambda: random(0, x=[1]),
        lambda: random(3, seed=[1, 2], x=[1]),
        lambda: Between(-1e308, 1e308),
        lambda: Between(2**60, 2**61, whole=True),
    ],
)
def test_what_is_no_axis_is_refused(wrong):
    with pytest.raises(trueplane.ParameterError):
        wrong()

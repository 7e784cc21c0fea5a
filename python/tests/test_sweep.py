"""Sweeps: the same rows wherever they run, once for each point, and whole after a kill."""

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import trueplane
from trueplane.points import grid

GRID = {"latency": ["1ms", "10ms"], "capacity": [2, 3]}


@pytest.fixture(scope="module")
def frame():
    keys = [(index * index) % 13 for index in range(3000)]
    return pa.table({"time_ns": [index * 400_000 for index in range(3000)], "key": keys})


@pytest.fixture(scope="module")
def expected(frame):
    """The rows, point by point."""
    rows = []
    for point in grid(**GRID):
        table = trueplane.cache.compare(frame, policies="lru,lru-mad", **point).table("policies")
        rows += [{**point, **row} for row in table.to_pylist()]
    return rows


def swept(frame, points=GRID, **more):
    return trueplane.sweep(trueplane.cache.compare, points, trace=frame, policies="lru,lru-mad", **more)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_sweep_has_the_rows_of_its_points_in_their_order(frame, expected, executor):
    sweep = swept(frame, executor=executor, workers=2)
    assert sweep.table().to_pylist() == expected
    assert repr(sweep) == "<trueplane.Sweep: 4 of 4 points done>"


def test_any_executor_of_futures_will_do(frame, expected):
    with ThreadPoolExecutor(2) as pool:
        assert swept(frame, executor=pool).table().to_pylist() == expected


def test_points_may_have_different_parameters(frame):
    points = [{"latency": "1ms"}, {"latency": "1ms", "capacity": 2, "seed": 5}]
    table = swept(frame, points).table()
    assert table.column("capacity").to_pylist() == [None, None, 2, 2]
    assert table.column("seed").to_pylist() == [None, None, 5, 5]


def test_equal_points_run_once(frame, tmp_path):
    sweep = swept(frame, [{"latency": "1ms"}] * 3, store=tmp_path)
    assert sweep.table().num_rows == 6
    assert len(list(tmp_path.iterdir())) == 1


def test_a_store_has_what_was_run_and_a_wider_sweep_runs_what_is_new(frame, expected, tmp_path):
    first = swept(frame, {"latency": ["1ms"], "capacity": [2, 3]}, store=tmp_path)
    assert first.stored == 0
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    wider = swept(frame, store=tmp_path)
    assert wider.stored == 2
    assert wider.table().to_pylist() == expected
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(after) == 4 and before.items() <= after.items()
    # Other rows, another study or other content are other results.
    assert swept(frame, table="points", store=tmp_path).stored == 0
    assert swept(frame.slice(1), store=tmp_path).stored == 0


def test_a_damaged_result_is_told_with_its_file(frame, tmp_path):
    swept(frame, [{"latency": "1ms"}], store=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(trueplane.Error, match=f"{path.name}: cannot be read .* delete it"):
        swept(frame, [{"latency": "1ms"}], store=tmp_path)


def test_an_error_ends_a_sweep_or_is_kept(frame):
    points = [{"latency": "1ms"}, {"latency": "1ms", "policies": "lru", "tinylfu_window": "fixed"}, {"latency": "2ms"}]
    call = {"trace": frame, "policies": None}
    with pytest.raises(trueplane.ParameterError, match="tinylfu-window is for w-tinylfu"):
        trueplane.sweep(trueplane.cache.compare, points, **call)
    kept = trueplane.sweep(trueplane.cache.compare, points, errors="keep", **call)
    ((point, error),) = kept.errors
    assert point == points[1] and isinstance(error, trueplane.ParameterError)
    assert set(kept.table().column("latency").to_pylist()) == {"1ms", "2ms"}
    assert "1 failed" in repr(kept) and kept.done == 3


def test_a_sweep_beside_the_program_grows_and_can_be_stopped(log):
    points = {"latency": [f"{time}ms" for time in range(1, 400)]}
    sweep = trueplane.sweep(trueplane.cache.compare, points, trace=log, policies="lru", workers=1, wait=False)
    while sweep.table().num_rows == 0:
        pass
    sweep.stop()
    assert 0 < sweep.table().num_rows == sweep.done < 399
    assert "of 399 points done" in repr(sweep)


def test_wrong_calls_are_refused_before_anything_runs(frame):
    with pytest.raises(TypeError, match="study: expected a function of this package"):
        trueplane.sweep(print, [{}])
    with pytest.raises(trueplane.ParameterError, match="points: expected at least one"):
        trueplane.sweep(trueplane.cache.compare, [], trace=frame)
    with pytest.raises(TypeError, match="unexpected keyword argument 'latencies'; there is 'latency'"):
        trueplane.sweep(trueplane.cache.compare, {"latencies": ["1ms"]}, trace=frame)
    with pytest.raises(trueplane.ParameterError, match="executor: expected"):
        swept(frame, executor="slurm")
    with pytest.raises(trueplane.ParameterError, match="threads, progress"):
        swept(frame, {"threads": [1]})
    with pytest.raises(trueplane.ParameterError, match="errors: expected"):
        swept(frame, errors="ignore")


def test_a_sweep_that_was_killed_goes_on(log, tmp_path):
    code = f"""
        import trueplane
        sweep = trueplane.sweep(
            trueplane.cache.compare, {{"latency": [f"{{time}}ms" for time in range(1, 41)]}}, trace={os.fspath(log)!r}, policies="lru,arc",
            executor="threads", workers=2, store={os.fspath(tmp_path)!r},
        )
        print(sweep.stored)
        import hashlib
        print(hashlib.sha256(str(sweep.table().to_pylist()).encode()).hexdigest())
    """
    words = [sys.executable, "-c", textwrap.dedent(code)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    while len(list(tmp_path.glob("*.parquet"))) < 5:
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = len(list(tmp_path.glob("*.parquet")))
    resumed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    again = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert int(resumed[0]) == kept < 40
    assert int(again[0]) == 40 and again[1] == resumed[1]

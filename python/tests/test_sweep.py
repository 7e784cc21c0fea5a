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


def test_a_damaged_result_is_found_again(frame, tmp_path):
    rows = swept(frame, [{"latency": "1ms"}], store=tmp_path).table()
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for damaged in (whole[:100], b"", whole[:60] + bytes([whole[60] ^ 1]) + whole[61:]):
        path.write_bytes(damaged)
        again = swept(frame, [{"latency": "1ms"}], store=tmp_path)
        assert again.table().equals(rows)
    assert swept(frame, [{"latency": "1ms"}], store=tmp_path).stored == 1


def test_the_name_of_a_log_and_its_changes_count(tmp_path):
    store, log = tmp_path / "store", tmp_path / "log.lis"
    log.write_text("".join(f"{10 * line} 3 0 0\n" for line in range(50)))
    given = {"latency": "1steps", "capacity": 2, "policies": "lru", "store": store}
    trueplane.sweep(trueplane.cache.compare, [{}], trace=log, **given)
    other = log.rename(tmp_path / "log.txt")
    assert trueplane.sweep(trueplane.cache.compare, [{}], trace=other, **given).stored == 0
    csv = tmp_path / "log.csv"
    csv.write_text("time_ms,key\n" + "".join(f"{line},{line % 7}\n" for line in range(200_000)))
    points = {"capacity": list(range(2, 302))}
    given = {**given, "latency": "5ms", "workers": 1}
    sweep = trueplane.sweep(trueplane.cache.compare, points, trace=csv, wait=False, **given)
    while sweep.done < 1:
        pass
    other.write_text("time_ms,key\n1,1\n")
    other.replace(csv)
    with pytest.raises(trueplane.Error, match="log.csv: it has changed while the sweep ran"):
        sweep.wait()


def test_a_file_behind_a_word_counts_by_its_content(tmp_path):
    from trueplane._store import Hashes

    jobs = tmp_path / "jobs.csv"
    jobs.write_text("time_ns,job_ns\n")
    before = Hashes().of(f"trace:{jobs}")
    jobs.write_text("time_ns,job_ns\n1,2\n")
    assert before.startswith("trace:jobs.csv sha256:") and Hashes().of(f"trace:{jobs}") != before
    assert Hashes().of("iid:0.5") == "text:iid:0.5"


def test_frames_have_numbers_and_mixed_cells_are_text(frame):
    table = trueplane.sweep(trueplane.cache.compare, {"trace": [frame, frame.slice(5)]}, latency="1ms", policies="lru").table()
    assert table.column("trace").to_pylist() == ["frame 1", "frame 2"]
    mixed = trueplane.sweep(trueplane.cache.compare, {"policies": ["lru", "lru,arc"]}, table="points", trace=frame, latency="1ms")
    assert mixed.table().num_rows == 2


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

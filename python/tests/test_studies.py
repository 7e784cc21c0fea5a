"""Studies as functions: the same parameters, the same answers, the same sentences as the command."""

import datetime
import inspect
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import ROOT

import trueplane
from trueplane import _reference, _stubs
from trueplane._native import studies

SUBSYSTEMS = ["cache", "fair", "limit", "offload", "sched", "spray", "surge"]


def test_every_study_is_a_function_with_the_parameters_that_it_declares():
    assert _stubs.subsystems() == SUBSYSTEMS
    for study in studies():
        subsystem, verb = study.name.split(".")
        function = getattr(getattr(trueplane, subsystem), verb)
        names = list(inspect.signature(function).parameters)
        declared = {one["name"] for one in study.parameters()}
        assert declared == set(names) - {"threads", "progress"}
        assert ("threads" in names) == study.has_threads
        assert all(f"\n{name}:\n" in function.__doc__ for name in names)
        for name in declared:
            assert f"--{name.replace('_', '-')} " not in function.__doc__, function.__qualname__


def test_the_stubs_are_what_the_studies_declare():
    for subsystem in SUBSYSTEMS:
        path = _stubs.Path(_stubs.__file__).parent / f"{subsystem}.pyi"
        assert path.read_text() == _stubs.stub(subsystem), "run python -m trueplane._stubs"


def test_the_reference_is_what_the_package_has():
    assert _reference.PAGE.read_text() == _reference.reference(), "run python -m trueplane._reference"


@pytest.mark.parametrize(
    ("function", "words", "given"),
    [
        (
            trueplane.cache.compare,
            "cache compare examples/cdn-200k.csv.zst --latency 10ms,100ms --capacity 1% --policies lru,lru-mad",
            {"trace": "examples/cdn-200k.csv.zst", "latency": ["10ms", "100ms"], "capacity": "1%", "policies": "lru,lru-mad"},
        ),
        (
            trueplane.cache.compare,
            "cache compare examples/cdn-200k.csv.zst --latency 5ms --capacity 400 --policies lru --sort",
            {
                "trace": "examples/cdn-200k.csv.zst",
                "latency": datetime.timedelta(milliseconds=5),
                "capacity": 400,
                "policies": ("lru",),
                "sort": True,
                "strict": False,
            },
        ),
        (trueplane.sched.bandwidth, "sched bandwidth --flows 4 --seed 7", {"flows": np.int64(4), "seed": 7}),
        (trueplane.limit.size, "limit size", {}),
        (trueplane.offload.size, "offload size", {}),
    ],
)
def test_the_document_is_the_one_that_the_command_prints(command, monkeypatch, function, words, given):
    there = command(f"{words} --json")
    assert there.returncode == 0, there.stderr
    monkeypatch.chdir(ROOT)
    assert function(**given).to_json() == there.stdout


def test_an_error_is_the_sentence_of_the_command(command, log):
    with pytest.raises(trueplane.ParameterError) as refused:
        trueplane.cache.compare(log, latency="soon")
    assert str(refused.value).startswith("latency: expected ")
    with pytest.raises(trueplane.ParameterError) as refused:
        trueplane.cache.compare(log, latency="5ms", policies="lru", tinylfu_window="fixed")
    there = command("cache compare examples/cdn-200k.csv.zst --latency 5ms --policies lru --tinylfu-window fixed")
    assert there.stderr == f"error: {refused.value}\n"
    with pytest.raises(trueplane.TraceError, match="^nowhere.csv: "):
        trueplane.cache.compare("nowhere.csv", latency="5ms")
    with pytest.raises(TypeError, match="threads: expected a number"):
        trueplane.cache.compare(log, latency="5ms", threads="two")
    with pytest.raises(ValueError, match="threads: expected 1 to 1024"):
        trueplane.cache.compare(log, latency="5ms", threads=0)


def test_wrong_names_are_type_errors_as_everywhere(log):
    with pytest.raises(TypeError, match="cache.compare: got an unexpected keyword argument 'latencies'; there is 'latency'"):
        trueplane.cache.compare(log, latencies="5ms")
    with pytest.raises(TypeError, match="cache.compare: missing a required argument: 'trace'"):
        trueplane.cache.compare(latency="5ms")
    with pytest.raises(TypeError, match="capacity: expected a text"):
        trueplane.cache.compare(log, latency="5ms", capacity=object())


def test_any_number_of_threads_gives_the_same(log):
    given = {"latency": "1ms,10ms", "capacity": "1%,5%", "policies": "lru,lhd-mad,random"}
    assert len({trueplane.cache.compare(log, **given, threads=threads).to_json() for threads in (1, 3)}) == 1


def test_another_thread_of_python_goes_on(log):
    # Without the interpreter's lock: this thread counts while the study runs.
    code = f"""
        import threading, trueplane
        done = threading.Event()
        def study():
            trueplane.cache.compare({os.fspath(log)!r}, latency="10ms", policies="all")
            done.set()
        thread = threading.Thread(target=study)
        thread.start()
        turns = 0
        while not done.wait(0.001):
            turns += 1
        print(turns)
    """
    counted = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert int(counted.stdout) > 5


def test_ctrl_c_stops_a_study(log):
    code = f"""
        import trueplane
        print("ready", flush=True)
        try:
            trueplane.cache.bound({os.fspath(log)!r}, latency="100ms", capacity="5%", time_limit="10min", gap="0.0001%", progress=False)
        except KeyboardInterrupt:
            print("stopped")
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (out, err) == ("stopped\n", "")


def test_progress_is_told_and_an_error_in_it_ends_the_study(log):
    study = next(study for study in studies() if study.name == "cache.compare")
    given = [("trace", os.fspath(log)), ("latency", "1ms,10ms,100ms,1s"), ("policies", "all")]
    told = []
    study.run(given, 1, lambda *stage: told.append(stage))
    assert told
    for number, name, total, done, _ in told:
        assert number > 0 and name and done <= total

    def fail(*_):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        study.run(given, 1, fail)


def test_bars_are_drawn_where_they_are_asked_for(log, capsys):
    trueplane.cache.compare(log, latency="1ms,10ms,100ms,1s", policies="all", progress=True, threads=1)
    assert "%" in capsys.readouterr().err
    trueplane.cache.compare(log, latency="1ms", policies="lru", progress=False)
    assert capsys.readouterr().err == ""


def test_rows_are_a_workload_too():
    jobs = {
        "time_ns": [0, 1000, 2000, 3000],
        "packet_bytes": [100, 200, 100, 300],
        "job_ns": [500, 900, 500, 700],
        "flow": [1, 2, 1, 3],
    }
    by_rows = trueplane.surge.compare(jobs, progress=False)
    assert by_rows.parameters["workload"] == "trace:frame"

"""Frames of every kind are traces."""

import datetime

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import trueplane

TIMES = [0, 1_000_000, 2_000_000, 40_000_000, 41_000_000, 90_000_000]
KEYS = [1, 2, 1, 1, 3, 2]
GIVEN = {"latency": "5ms", "capacity": 2, "policies": "lru,lru-mad"}


def document(source, **more):
    document = trueplane.cache.compare(source, **GIVEN, **more).to_dict()
    # The name of the trace.
    del document["title"], document["parameters"]["trace"]
    return document


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    path.write_text("time_ns,key\n" + "".join(f"{time},{key}\n" for time, key in zip(TIMES, KEYS)))
    return document(path)


@pytest.mark.parametrize(
    "source",
    [
        pa.table({"time_ns": TIMES, "key": KEYS}),
        pandas.DataFrame({"time_ns": TIMES, "key": KEYS}),
        polars.DataFrame({"time_ns": TIMES, "key": KEYS}),
        {"time_ns": np.array(TIMES), "key": KEYS},
        np.array(list(zip(TIMES, KEYS)), dtype=[("time_ns", "i8"), ("key", "u4")]),
        [{"time_ns": time, "key": key} for time, key in zip(TIMES, KEYS)],
        ({"time_ns": time, "key": key} for time, key in zip(TIMES, KEYS)),
        pandas.DataFrame({"time": pandas.to_timedelta(TIMES, unit="ns"), "key": pandas.Categorical(KEYS)}),
        pa.table({"time": pa.array(np.array(TIMES), pa.duration("ns")), "key": KEYS}),
    ],
    ids=lambda source: type(source).__module__.split(".")[0] + "." + type(source).__name__,
)
def test_a_frame_is_a_trace(source, expected):
    assert document(source) == expected


def test_times_of_day_count_from_the_first():
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    times = [start + datetime.timedelta(microseconds=time // 1000) for time in TIMES]
    shifted = document(pandas.DataFrame({"time": times, "key": KEYS}))
    plain = document({"time_ns": TIMES, "key": KEYS})
    assert shifted["tables"] == plain["tables"]


def test_texts_of_any_kind_are_keys():
    names = ['a,"b"', "c\nd", "é", "a b", "x", 'a,"b"']
    assert trueplane.cache.compare({"time_ns": TIMES, "key": names}, **GIVEN).facts["objects"] == len(set(names))


def test_what_is_no_trace_is_refused():
    with pytest.raises(trueplane.ParameterError, match="the frame has no rows"):
        trueplane.cache.compare(pa.table({"time_ns": pa.array([], pa.int64()), "key": pa.array([], pa.int64())}), **GIVEN)
    with pytest.raises(TypeError, match="trace: an iterator has to give rows as dictionaries"):
        trueplane.cache.compare(iter([1, 2]), **GIVEN)
    with pytest.raises(trueplane.TraceError):
        trueplane.cache.compare({"when": TIMES, "what": KEYS}, **GIVEN)

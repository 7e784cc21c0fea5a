"""Frames of every kind are traces."""

import datetime

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import trueplane
from trueplane._columns import numbers, request_table

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
    path.write_text("time_ns,key\n" + "".join(f"{time},{key}\n" for time, key in zip(TIMES, KEYS, strict=True)))
    return document(path)


@pytest.mark.parametrize(
    "source",
    [
        pa.table({"time_ns": TIMES, "key": KEYS}),
        pandas.DataFrame({"time_ns": TIMES, "key": KEYS}),
        polars.DataFrame({"time_ns": TIMES, "key": KEYS}),
        {"time_ns": np.array(TIMES), "key": KEYS},
        np.array(list(zip(TIMES, KEYS, strict=True)), dtype=[("time_ns", "i8"), ("key", "u4")]),
        [{"time_ns": time, "key": key} for time, key in zip(TIMES, KEYS, strict=True)],
        ({"time_ns": time, "key": key} for time, key in zip(TIMES, KEYS, strict=True)),
        pandas.DataFrame({"time": pandas.to_timedelta(TIMES, unit="ns"), "key": pandas.Categorical(KEYS)}),
        pa.table({"time": pa.array(np.array(TIMES), pa.duration("ns")), "key": KEYS}),
        pandas.DataFrame({"time_ns": [5, *TIMES], "key": [9, *KEYS]}).iloc[1:].set_axis(list("abcdef")),
        pa.Table.from_pandas(pandas.DataFrame({"time_ns": TIMES, "key": KEYS}).set_axis(list("abcdef"))),
        pandas.DataFrame({"time_ns": np.array(TIMES, float), "key": KEYS}),
        pandas.DataFrame({"time_ms": pandas.to_timedelta(TIMES, unit="ns"), "key": KEYS}),
        polars.DataFrame({"time_ns": TIMES, "key": KEYS, "name": list("abcdef")}),
    ],
    ids=lambda source: type(source).__module__.split(".")[0] + "." + type(source).__name__,
)
def test_a_frame_is_a_trace(source, expected):
    assert document(source) == expected


def test_times_of_day_count_from_the_first():
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    times = [start + datetime.timedelta(microseconds=time // 1000) for time in TIMES]
    shifted = document(pandas.DataFrame({"time": times, "key": KEYS}))
    plain = document({"time_ns": TIMES, "key": KEYS})
    assert shifted["tables"] == plain["tables"]


def test_texts_of_any_kind_are_keys():
    names = ['a,"b"', "c\nd", "é", "a b", "x", 'a,"b"']
    for frame in ({"time_ns": TIMES, "key": names}, polars.DataFrame({"time_ns": TIMES, "key": names})):
        assert trueplane.cache.compare(frame, **GIVEN).facts["objects"] == len(set(names))
    categories = polars.DataFrame({"time_ns": TIMES, "key": polars.Series(names, dtype=polars.Categorical)})
    assert trueplane.cache.compare(categories, **GIVEN).facts["objects"] == len(set(names))


def test_large_times_are_whole_numbers():
    epoch = [1_764_000_000_000_000_000.0 + time * 1024 for time in TIMES]
    assert trueplane.cache.compare({"time_ns": epoch, "key": KEYS}, **GIVEN).facts["span_ns"] == TIMES[-1] * 1024


def test_a_frame_has_a_name_and_the_same_report_twice():
    frame = pandas.DataFrame({"time_ns": TIMES, "key": KEYS})
    reports = [trueplane.cache.compare(frame, **GIVEN) for _ in range(2)]
    assert reports[0].to_json() == reports[1].to_json()
    assert reports[0].parameters["trace"] == "frame"
    assert reports[0].title.endswith(": frame")
    with pytest.raises(trueplane.TraceError, match="^frame:3: ") as refused:
        trueplane.cache.compare({"time_ns": ["0", "soon"], "key": [1, 2]}, **GIVEN)
    assert "/tmp" not in str(refused.value)


def test_values_are_written_as_the_command_takes_them():
    exact = [
        trueplane.cache.compare({"time_ns": TIMES, "key": KEYS}, **{**GIVEN, "latency": latency}).to_json()
        for latency in ("1500ns", pandas.Timedelta("1500ns"), np.timedelta64(1500, "ns"))
    ]
    assert len(set(exact)) == 1
    objects = [
        trueplane.cache.compare({"time_ns": TIMES, "key": KEYS}, **{**GIVEN, "capacity": capacity}).to_json()
        for capacity in (2, 2.0, "2")
    ]
    assert len(set(objects)) == 1
    with pytest.raises(trueplane.ParameterError, match="^capacity: expected"):
        trueplane.cache.compare({"time_ns": TIMES, "key": KEYS}, latency="5ms", capacity=2.5)
    named = {"zeit": [time // 1000 for time in TIMES], "objekt": KEYS}
    given = {"columns": {"time": "zeit", "key": "objekt"}, "time_unit": "us"}
    assert trueplane.cache.compare(named, **given, **GIVEN).facts["span_ns"] == TIMES[-1]


def test_what_is_no_trace_is_refused():
    with pytest.raises(trueplane.ParameterError, match="the frame has no rows"):
        trueplane.cache.compare(pa.table({"time_ns": pa.array([], pa.int64()), "key": pa.array([], pa.int64())}), **GIVEN)
    with pytest.raises(trueplane.ParameterError, match="trace: the frame has no rows"):
        trueplane.cache.compare(iter([]), **GIVEN)
    with pytest.raises(TypeError, match="trace: expected rows as dictionaries"):
        trueplane.cache.compare(iter([1, 2]), **GIVEN)
    with pytest.raises(trueplane.ParameterError, match="trace: expected names of columns, got 0, 1"):
        trueplane.cache.compare(pandas.DataFrame(list(zip(TIMES, KEYS, strict=True))), **GIVEN)
    with pytest.raises(trueplane.ParameterError, match="trace: the column key has list"):
        trueplane.cache.compare({"time_ns": TIMES, "key": [[key] for key in KEYS]}, **GIVEN)
    with pytest.raises(trueplane.ParameterError, match="^trace: "):
        trueplane.cache.compare({"time_ns": TIMES, "key": KEYS[1:]}, **GIVEN)
    with pytest.raises(trueplane.ParameterError, match="time_unit: the times of the frame"):
        trueplane.cache.compare(pandas.DataFrame({"time": pandas.to_datetime(TIMES), "key": KEYS}), time_unit="ms", **GIVEN)
    with pytest.raises(trueplane.TraceError):
        trueplane.cache.compare({"when": TIMES, "what": KEYS}, **GIVEN)


RNG = np.random.default_rng(1)
MANY = 5000
LOG = pa.table(
    {
        "time_us": np.cumsum(RNG.integers(0, 2000, MANY)),
        "key": RNG.zipf(1.3, MANY).astype(np.uint64),
        "size": RNG.integers(1, 5000, MANY).astype(np.int32),
        "fetch_ms": RNG.integers(1, 50, MANY),
    }
)


def in_pieces(table):
    return pa.concat_tables([table.slice(at, 700) for at in range(0, table.num_rows, 700)])


def as_datetimes(table):
    return table.set_column(0, "time", table["time_us"].cast(pa.timestamp("us")))


@pytest.mark.parametrize(
    ("study", "given"),
    [
        (trueplane.cache.compare, {"capacity": "64KiB", "latency": "trace", "policies": "all"}),
        (trueplane.cache.compare, {"capacity": 50, "time": "slotted", "latency": "9steps", "size_change": "largest"}),
        (trueplane.cache.bound, {"capacity": 20, "latency": "5ms"}),
        (trueplane.cache.analyze, {}),
        (trueplane.offload.compare, {}),
    ],
)
@pytest.mark.parametrize("change", [lambda table: table, in_pieces, as_datetimes])
def test_columns_in_memory_are_what_their_text_is(study, given, change):
    table = change(LOG)
    assert request_table(table) is not None
    # A column more, and the frame goes through text.
    read = table.append_column("server", pa.array(["a"] * MANY))
    assert request_table(read) is None
    documents = [study(source, **given).to_dict() for source in (table, read)]
    if study is trueplane.cache.bound:
        # The rest has the time that the bounds took.
        documents = [{name: document["tables"][name] for name in ("bounds", "burstiness")} for document in documents]
    assert documents[0] == documents[1]


@pytest.mark.parametrize(
    "columns",
    [
        {"time_ns": [1, 2, -3], "key": [1, 2, 3]},
        {"time_ns": [1, 2, None], "key": [1, 2, 3]},
        {"time_s": [1, 2, 2**62], "key": [1, 2, 3]},
        {"time_ns": [1.5, 2, 3], "key": [1, 2, 3]},
        {"time_ns": [1, 2, 3], "key": ["a", "b", "c"]},
        {"time_ns": [1, 2, 3], "key": [1, 2, 3], "size": [1, -1, 1]},
        {"time_ns": [1, 2, 3], "key": [1, 2, 3], "id": [1, 1, 1]},
        {"time_ns": [], "key": []},
        {"time_ns": [1, 2, 3]},
    ],
)
def test_other_columns_go_through_text(columns):
    assert request_table(pa.table(columns)) is None


def test_columns_are_not_copied():
    times, keys = np.arange(100), np.arange(100, dtype=np.uint64)
    table = pa.table({"time_ns": times, "key": keys})
    batch = table.to_batches()[0]
    for column, array in zip(batch.columns, (times, keys), strict=True):
        assert np.shares_memory(numbers(column), array)


def test_columns_that_go_back_in_time():
    columns = {"time_ns": [0, 50_000_000, 20_000_000], "key": [1, 2, 3]}
    with pytest.raises(trueplane.TraceError, match=r"frame:4: time goes backwards"):
        trueplane.cache.compare(columns, **GIVEN)
    assert trueplane.cache.compare(columns, sort=True, **GIVEN).table("policies").num_rows > 0

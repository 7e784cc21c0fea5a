"""What a report has, in tables, plots and pages."""

import json

import polars
import pyarrow as pa
import pytest

import trueplane


@pytest.fixture(scope="module")
def report(log):
    return trueplane.cache.compare(log, latency="100ms", capacity="5%", policies="lru,lru-mad")


def test_a_report_has_the_parts_of_the_document(report):
    document = report.to_dict()
    assert json.loads(report.to_json()) == document
    assert (report.study, report.title) == ("cache.compare", document["title"])
    assert report.verdict[0].startswith("Hit rate cannot tell lru-mad from lru")
    assert report.advice == "Deploy lru-mad."
    assert report.warnings == []
    assert report.facts["requests"] == 200_000
    assert report.parameters["capacity"] == ["5%"]
    assert report.belief.startswith("mean latency = hit rate")
    assert set(report.tables) == set(document["tables"])
    assert set(report.plots) == set(document["plots"])
    assert repr(report).startswith("<trueplane.Report cache.compare: Hit rate cannot tell")
    assert "→ Deploy lru-mad." in str(report)
    assert len(report.text(details=True)) > len(report.text())


def test_every_table_has_the_cells_of_the_document(report):
    for name in report.tables:
        table = report.table(name)
        rows = report.to_dict()["tables"][name]
        assert table.to_pylist() == [{key: row[key] for key in table.column_names} for row in rows]


def test_tables_have_types_and_titles(report):
    table = report.table()
    assert table.equals(report.table("policies"))
    fields = {field.name: field for field in table.schema}
    assert fields["policy"].type == pa.string()
    assert fields["latency_mean_ns"].type == pa.float64()
    assert fields["misses"].type == pa.int64()
    assert fields["misses"].metadata == {b"title": b"misses"}
    frame = table.to_pandas().set_index("policy")
    assert frame.loc["lru-mad", "latency_mean_ns"] < frame.loc["lru", "latency_mean_ns"]
    assert polars.from_arrow(table).height == 2
    with pytest.raises(KeyError, match="expected one of the tables numbers, policies"):
        report.table("police")


def test_plots_have_their_points(report):
    plot = report.plot(report.plots[1])
    table = plot.table()
    series = report.to_dict()["plots"][plot.name]["series"]
    assert table.num_rows == sum(len(one["x"]) for one in series)
    assert table.column_names[0] == "series"
    assert report.plot().name == report.plots[0]
    with pytest.raises(KeyError, match="expected one of the plots"):
        report.plot("none")


def test_pages_stand_alone(report, tmp_path):
    page = report.save_html(tmp_path / "report.html")
    text = page.read_text()
    assert text == report.to_html()
    assert "<svg" in text and "<script" not in text and "http:" not in text.replace("http://www.w3.org", "")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert report.plot().save_html(tmp_path / "plot.html").read_text().count("<svg") >= 1
    index = report.save(tmp_path / "folder")
    assert index == tmp_path / "folder" / "index.html"
    assert (tmp_path / "folder" / "report.json").read_text() == report.to_json()


def test_a_notebook_shows_pages_in_frames(report):
    for shown in (report, report.plot()):
        frame = shown._repr_html_()
        assert frame.startswith("<iframe sandbox srcdoc=") and "<svg" not in frame and "&lt;svg" in frame

"""What a study found."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._native import Report as _Native

# The table of the three numbers: classical, refined and measured.
_NUMBERS = "numbers"
_TYPES = {"str": pa.string(), "int": pa.int64(), "float": pa.float64()}


class Report:
    """What a study found: tables, plots, and what to do about it.

    In a notebook it shows itself as a page. `print(report)` has it as text.
    """

    def __init__(self, native: _Native) -> None:
        self._native = native
        self._document: dict[str, Any] = json.loads(native.json())

    @property
    def study(self) -> str:
        """The name of the study, such as "cache.compare"."""
        return self._document["study"]

    @property
    def title(self) -> str:
        """The title of the page."""
        return self._document["title"]

    @property
    def belief(self) -> str:
        """Belief of the classical model, in one sentence."""
        return self._document["belief"]

    @property
    def warnings(self) -> list[str]:
        """What makes the results doubtful, in plain sentences."""
        return self._document["warnings"]

    @property
    def verdict(self) -> list[str]:
        """The findings in plain sentences, the most important first."""
        return self._document["verdict"]

    @property
    def advice(self) -> str:
        """What to do about the findings, in one sentence; empty if nothing follows."""
        return self._document["advice"]

    @property
    def facts(self) -> dict[str, Any]:
        """The circumstances, such as the number of requests. Names end in their units."""
        return self._document["facts"]

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters with their values, also the defaults. Names end in their units."""
        return self._document["parameters"]

    @property
    def tables(self) -> list[str]:
        """The names of the tables, in the order of the report."""
        return self._native.tables()

    @property
    def plots(self) -> list[str]:
        """The names of the plots, in the order of the report."""
        return [name for name, _, _ in self._native.pictures()]

    def table(self, name: str | None = None) -> pa.Table:
        """A table, as Arrow: `.to_pandas()` makes a data frame of it, `polars.from_arrow()` as well.

        Without a name it is the table that sums the study up. The names of columns end in their units (`_ns`, `_bytes`, `_bps`); the metadata
        of each field has its title for people. Raises KeyError if there is no such table.
        """
        if name is None:
            name = next((name for name in self.tables if name != _NUMBERS), _NUMBERS)
        fields, columns = [], []
        for column, title, kind, cells in self._native.columns(name):
            fields.append(pa.field(column, _TYPES[kind], metadata={"title": title}))
            columns.append(pa.array(cells, _TYPES[kind]))
        return pa.table(columns, schema=pa.schema(fields))

    def plot(self, name: str | None = None) -> Plot:
        """A plot, which a notebook shows; without a name, the first. Raises KeyError if there is no such plot."""
        pictures = self._native.pictures()
        for found, title, page in pictures:
            if name in (None, found):
                return Plot(found, title, page, self._document["plots"][found])
        names = ", ".join(found for found, _, _ in pictures)
        raise KeyError(f"expected one of the plots {names}, got {name!r}")

    def to_json(self) -> str:
        """The document, exactly as `trueplane ... --json` prints it."""
        return self._native.json()

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary."""
        return json.loads(self._native.json())

    def to_html(self) -> str:
        """The page: HTML that needs no other file, no script and no network."""
        return self._native.page()

    def save_html(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to a file, and returns its path."""
        return _write(Path(path), self.to_html())

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes the page with its pictures and its data as CSV into a folder, as `--report` does, and returns the path of the page."""
        return Path(self._native.write(os.fspath(folder)))

    def text(self, width: int | None = None, *, details: bool = False) -> str:
        """What the command prints, in lines of at most `width` characters; with `details`, all tables."""
        return self._native.text(width, details)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        first = self.verdict[0] if self.verdict else self.title
        return f"<trueplane.Report {self.study}: {first}>"

    def _repr_html_(self) -> str:
        return _frame(self.to_html(), "44rem")


class Plot:
    """A plot of a report, which a notebook shows."""

    def __init__(self, name: str, title: str, page: str, data: dict[str, Any]) -> None:
        self._page = page
        self.name = name
        self.title = title
        self.data = data
        """What is drawn: labels and units of the axes, and the points of every series."""

    def table(self) -> pa.Table:
        """The points of all series in long form: `series`, `x` and `y`, with the unit of the axis at the end of the name."""
        return pa.Table.from_pylist(list(self._rows()))

    def _rows(self) -> Iterator[dict[str, Any]]:
        x, y = ("_".join(filter(None, (axis, self.data[f"{axis}_unit"]))) for axis in "xy")
        for series in self.data["series"]:
            panel = {"panel": series["panel"]} if "panel" in series else {}
            for at, value in zip(series["x"], series["y"], strict=True):
                yield {**panel, "series": series["name"], x: at, y: value}

    def save_html(self, path: str | os.PathLike[str]) -> Path:
        """Writes the plot to a file as a page of its own, and returns its path."""
        return _write(Path(path), self._page)

    def __repr__(self) -> str:
        return f"<trueplane.Plot {self.name}: {self.title}>"

    def _repr_html_(self) -> str:
        return _frame(self._page, "32rem")


def _frame(page: str, height: str) -> str:
    """A page inside of a notebook, whose style does not reach it. It runs no scripts."""
    style = f"width: 100%; height: {height}; border: 0"
    return f'<iframe sandbox srcdoc="{html.escape(page)}" style="{style}"></iframe>'


def _write(path: Path, page: str) -> Path:
    # Written aside, so that nothing is there half-written.
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text(page, encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return path

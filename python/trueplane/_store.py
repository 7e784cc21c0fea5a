"""Results of a sweep in a folder of Parquet files, so that a sweep that was killed goes on, and a wider one runs only what is new.

Every point has a file of its own, named by its key: the hash of the study, its parameters, the content of its input files and the version. A file is
written aside and then moved into its place, so that it is there whole or not at all, also if two sweeps write to the same folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from ._errors import Error
from ._native import VERSION

# Grows when files of before cannot be read any more.
_LAYOUT = 1


class Store:
    """A folder of results."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> pa.Table | None:
        """The rows of a point, if it has been run."""
        path = self._path(key)
        try:
            return pa.parquet.read_table(path, page_checksum_verification=True)
        except FileNotFoundError:
            return None
        except (pa.ArrowException, OSError):
            # It is damaged: the point runs again, and its file is replaced.
            return None

    def put(self, key: str, table: pa.Table) -> None:
        """Keeps the rows of a point."""
        path = self._path(key)
        aside = path.with_name(f".{key}.{uuid.uuid4().hex}")
        try:
            pa.parquet.write_table(table, aside, write_page_checksum=True)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.parquet"


def key(study: str, table: str | None, given: Iterable[tuple[str, str]], contents: dict[str, str]) -> str:
    """The key of a point: `given` are its parameters as text, `contents` the hashes of those that are files."""
    parameters = {name: contents.get(name, text) for name, text in given}
    whole: dict[str, Any] = {
        "layout": _LAYOUT,
        "version": VERSION,
        "study": study,
        "table": table,
        "parameters": parameters,
    }
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]


class Hashes:
    """The hashes of files, each of which is read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], str]] = {}

    def of(self, text: str) -> str:
        """The hash of the content of a file, with its name, by which formats are known; of what names no regular file, the text itself."""
        path = _path(text)
        if path is None:
            # If it is not there, the study says so.
            return f"text:{text}"
        if path not in self._known:
            state = _state(path)
            with open(path, "rb") as file:
                self._known[path] = (state, hashlib.file_digest(file, "sha256").hexdigest())
        return f"{text.removesuffix(path)}{Path(path).name} sha256:{self._known[path][1]}"

    def check(self, texts: Iterable[str]) -> None:
        """Raises an error if one of the files is not the one that was hashed."""
        for path in map(_path, texts):
            if path in self._known and _state(path) != self._known[path][0]:
                raise Error(f"{path}: it has changed while the sweep ran")


def _path(text: str) -> str | None:
    """The file that a value names, perhaps behind a word: `trace:jobs.csv` is a workload of `surge compare`."""
    return next((path for path in (text, text.partition(":")[2]) if Path(path).is_file()), None)


def _state(path: str) -> tuple[int, int]:
    """What changes with a file: its size and the time of its last change."""
    about = os.stat(path)
    return about.st_size, about.st_mtime_ns

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
    """The hashes of files. Each is read once, unless it changes."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], str] = {}
        self._seen: dict[str, tuple[str, int, int]] = {}

    def of(self, path: str) -> str:
        """The hash of the content of a file, with its name, by which formats are known; of what is no regular file, its path."""
        try:
            about = os.stat(path)
        except OSError:
            # The study says what is wrong with it.
            return f"path:{path}"
        if not Path(path).is_file():
            return f"path:{path}"
        known = (path, about.st_size, about.st_mtime_ns)
        if known not in self._known:
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256")
            self._known[known] = digest.hexdigest()
        self._seen[path] = known
        return f"{Path(path).name} sha256:{self._known[known]}"

    def check(self, paths: Iterable[str]) -> None:
        """Raises an error if one of the files is not the one that was hashed."""
        for path in paths:
            if path not in self._seen:
                continue
            about = os.stat(path)
            if (path, about.st_size, about.st_mtime_ns) != self._seen[path]:
                raise Error(f"{path}: it has changed while the sweep ran")

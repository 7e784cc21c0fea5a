"""One study at many points: on all cores, in processes, or on a Ray cluster."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
import pyarrow as pa

from . import _executors, _store
from . import points as _points
from ._errors import ParameterError
from ._executors import Task
from ._inputs import FRAME, Inputs
from ._progress import is_wanted, new_bar
from ._report import Report
from ._studies import Declared

# Seconds between two looks at whether the sweep was stopped.
_LOOK = 0.1


class Sweep:
    """A sweep that runs or has run. `trueplane.sweep` makes one.

    `table()` has the rows found so far and grows while the sweep runs. `wait()` returns when all points are done.
    """

    def __init__(
        self, tasks: list[Task], points: list[_points.Point], store: _store.Store | None, hashes: _store.Hashes, inputs: Inputs
    ) -> None:
        self._tasks = tasks
        self._points = points
        self._store = store
        self._hashes = hashes
        self._inputs = inputs
        self._lock = Lock()
        self._rows: dict[int, pa.Table] = {}
        self._failed: dict[int, BaseException] = {}
        self._stored = 0
        self._stop = Event()
        self._thread: Thread | None = None
        self._broken: BaseException | None = None

    @property
    def points(self) -> list[_points.Point]:
        """All points, in the order of the rows."""
        return self._points

    @property
    def done(self) -> int:
        """The number of points that are done, with those that failed and those that were in the store."""
        with self._lock:
            return len(self._rows) + len(self._failed)

    @property
    def stored(self) -> int:
        """The number of points that did not run, because the store had them."""
        return self._stored

    @property
    def errors(self) -> list[tuple[_points.Point, BaseException]]:
        """The points that failed, each with its error."""
        with self._lock:
            return [(self._points[index], self._failed[index]) for index in sorted(self._failed)]

    def table(self) -> pa.Table:
        """The rows of all points that are done, in the order of the points: first the parameters of the point, then the columns of the study's table.

        A parameter that has the name of a column of the study has `point_` in front.
        """
        with self._lock:
            rows = sorted(self._rows.items())
        if not rows:
            return pa.table({})
        columns = {name: _column([self._points[index].get(name) for index, _ in rows]) for name in _names(self._points)}
        parts = []
        for place, (_, table) in enumerate(rows):
            fields, cells = [], []
            for name, values in columns.items():
                shown = f"point_{name}" if name in table.column_names else name
                fields.append(pa.field(shown, values.type))
                cells.append(pa.repeat(values[place], table.num_rows))
            part = pa.table(cells + table.columns, schema=pa.schema(fields + list(table.schema)))
            parts.append(part.replace_schema_metadata(None))
        # What is a number at some points and a text at others is a text.
        texts = {field.name for part in parts for field in part.schema if pa.types.is_string(field.type)}
        return pa.concat_tables([_with_texts(part, texts) for part in parts], promote_options="permissive")

    def tables(self) -> list[pa.Table]:
        """The rows of each point that is done, in the order of the points, without its parameters."""
        with self._lock:
            return [self._rows[index] for index in sorted(self._rows)]

    def wait(self) -> Sweep:
        """Waits until all points are done, and returns the sweep. Raises the first error, unless errors are kept."""
        try:
            while self._thread is not None and self._thread.is_alive():
                self._thread.join(_LOOK)
        except BaseException:
            self.stop()
            raise
        if self._broken is not None:
            raise self._broken
        return self

    def stop(self) -> None:
        """Stops the sweep. What is done stays in the table and in the store."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def __repr__(self) -> str:
        failed = f", {len(self._failed)} failed" if self._failed else ""
        return f"<trueplane.Sweep: {self.done} of {len(self._points)} points done{failed}>"

    def _run(self, pool: _executors.Threads | _executors.Pool | _executors.Ray, keys: list[str], keep: bool, bar: Any) -> None:
        """Runs all points, on a thread of its own."""
        # Equal points run once.
        waiting: dict[Future[pa.Table], list[int]] = {}
        begun: dict[str, Future[pa.Table]] = {}
        ended: SimpleQueue[Future[pa.Table]] = SimpleQueue()
        stop = True
        try:
            for index, (task, key) in enumerate(zip(self._tasks, keys, strict=True)):
                found = self._store.get(key) if self._store and key not in begun else None
                if found is not None:
                    self._stored += 1
                    self._finish([index], found, bar)
                    continue
                if key not in begun:
                    begun[key] = pool.submit(task)
                    waiting[begun[key]] = []
                waiting[begun[key]].append(index)
                if self._stop.is_set():
                    break
            for future in waiting:
                future.add_done_callback(ended.put)
            while waiting and not self._stop.is_set():
                try:
                    future = ended.get(timeout=_LOOK)
                except Empty:
                    continue
                indices = waiting.pop(future)
                try:
                    table = future.result()
                    if self._store:
                        self._hashes.check(self._tasks[indices[0]].files)
                        self._store.put(keys[indices[0]], table)
                    self._finish(indices, table, bar)
                except BaseException as error:
                    with self._lock:
                        self._failed.update(dict.fromkeys(indices, error))
                    if not keep:
                        raise
                    bar.update(len(indices))
            stop = self._stop.is_set()
        except BaseException as error:
            self._broken = error
        finally:
            for future in waiting:
                future.cancel()
            pool.close(stop=stop)
            bar.close()
            self._inputs.close()

    def _finish(self, indices: list[int], table: pa.Table, bar: Any) -> None:
        with self._lock:
            self._rows.update(dict.fromkeys(indices, table))
        bar.update(len(indices))


def sweep(
    study: Callable[..., Report],
    points: Iterable[_points.Point] | Mapping[str, Iterable[Any]],
    *,
    table: str | None = None,
    executor: Any = "threads",
    workers: int | None = None,
    store: str | os.PathLike[str] | None = None,
    errors: str = "raise",
    progress: bool | None = None,
    wait: bool = True,
    **fixed: Any,
) -> Sweep:
    """Runs a study at many points, and collects their rows in one long table.

        >>> swept = trueplane.sweep(
        ...     trueplane.cache.compare, {"latency": ["1ms", "10ms"], "capacity": ["1%", "5%"]}, trace="requests.csv", policies="lru,lru-mad"
        ... )
        >>> swept.table().to_pandas()

    study:
        A function of this package, such as `trueplane.cache.compare`.
    points:
        The points: dictionaries of parameters, from `trueplane.points.grid`, `zipped`, `random` or `latin_hypercube`, or your own. A dictionary of
        lists is a grid of all combinations.
    table:
        The table of the report whose rows are collected; without it, the one that sums the study up.
    executor:
        Where points run, each on one thread: on "threads" of this process, in "processes", on a Ray cluster (`import ray`, and give `ray`), or an
        executor of `concurrent.futures`.
    workers:
        The number of threads or processes; one for each core if you do not say.
    store:
        A folder for results. A sweep that was killed goes on from there, and a wider one runs only what is new. The key of a result is the hash of the
        study, its parameters, the content of its files and the version.
    errors:
        With "raise", the first error ends the sweep. With "keep", the other points go on, and `Sweep.errors` has the errors.
    progress:
        Whether to show a progress bar; by default in notebooks and terminals.
    wait:
        Whether to return when all points are done. With `wait=False`, the sweep goes on beside your program, and `Sweep.table()` grows.
    fixed:
        Parameters that are the same at all points.
    """
    declared = getattr(study, "declared", None)
    if not isinstance(declared, Declared):
        raise TypeError("study: expected a function of this package, such as trueplane.cache.compare")
    if errors not in ("raise", "keep"):
        raise ParameterError(f'errors: expected "raise" or "keep", got {errors!r}')
    chosen = _points.grid(**points) if isinstance(points, Mapping) else [dict(point) for point in points]
    if not chosen:
        raise ParameterError("points: expected at least one")
    pool = _executors.executor(executor, workers)
    inputs = Inputs()
    try:
        tasks = [_task(declared, {**fixed, **point}, table, inputs) for point in chosen]
        hashes = _store.Hashes()
        keys = [
            _store.key(task.study, table, task.given, {name: hashes.of(text) for name, text in task.given if text in task.files})
            for task in tasks
        ]
        swept = Sweep(tasks, chosen, _store.Store(store) if store is not None else None, hashes, inputs)
        bar = new_bar(desc=study.__qualname__, total=len(tasks), disable=not is_wanted(progress))
    except BaseException:
        pool.close(stop=True)
        inputs.close()
        raise
    swept._thread = Thread(target=swept._run, args=(pool, keys, errors == "keep", bar), name="trueplane-sweep", daemon=True)
    swept._thread.start()
    return swept.wait() if wait else swept


def _task(declared: Declared, given: Mapping[str, Any], table: str | None, inputs: Inputs) -> Task:
    """A point, ready to run."""
    given = declared.bound((), given)
    if "threads" in given or "progress" in given:
        raise ParameterError("threads, progress: expected no such parameter of a point, as each runs on one thread")
    texts = declared.texts(given, inputs)
    files = tuple(text for name, text in texts if name in declared.files)
    return Task(declared.study.name, tuple(texts), files, tuple((path, FRAME) for path in inputs.frames), table)


def _names(points: list[_points.Point]) -> list[str]:
    """The parameters of the points, in the order in which they come."""
    return list(dict.fromkeys(name for point in points for name in point))


def _with_texts(table: pa.Table, texts: set[str]) -> pa.Table:
    """The table with these columns as text."""
    fields = [pa.field(field.name, pa.string()) if field.name in texts else field for field in table.schema]
    return table.cast(pa.schema(fields))


def _shown(value: Any, frames: dict[int, str]) -> Any:
    """A value as a cell: rows of any kind have a number, in the order in which they come."""
    if value is None or isinstance(value, (str, int, float, np.generic)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(item, (str, int, float)) for item in value):
        return ",".join(map(str, value))
    if isinstance(value, (os.PathLike, datetime.timedelta, np.timedelta64)):
        return str(value)
    return frames.setdefault(id(value), f"frame {len(frames) + 1}")


def _column(values: list[Any]) -> pa.Array:
    """The values of a parameter as a column; as text, if they are of several kinds. Frames are numbered."""
    frames: dict[int, str] = {}
    values = [_shown(value, frames) for value in values]
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError):
        return pa.array([None if value is None else str(value) for value in values])

"""Where the points of a sweep run: on threads, in processes, on a Ray cluster, or wherever an executor of yours runs them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ._errors import ParameterError
from ._native import studies
from ._report import Report

_STUDIES = {study.name: study for study in studies()}


@dataclass(frozen=True)
class Task:
    """A point, ready to run anywhere."""

    study: str
    given: tuple[tuple[str, str], ...]
    """Its parameters as text."""
    files: tuple[str, ...]
    """Those of them that are files."""
    names: tuple[tuple[str, str], ...]
    """Paths with the names that they have in reports."""
    table: str | None


def run(task: Task, look: Callable[..., None] | None = None) -> pa.Table:
    """The rows of a point, which runs on one thread. `look` is called meanwhile, and may raise an exception that ends it."""
    native = _STUDIES[task.study].run(list(task.given), 1, look, list(task.names))
    return Report(native).table(task.table)


class Threads:
    """Threads of this process: a study runs without the interpreter's lock."""

    def __init__(self, workers: int | None) -> None:
        self._pool = ThreadPoolExecutor(workers or os.cpu_count(), thread_name_prefix="trueplane-sweep")
        self._stopped = False

    def submit(self, task: Task) -> Future[pa.Table]:
        """Begins a task, as soon as there is room."""
        return self._pool.submit(run, task, self._look)

    def _look(self, *_: object) -> None:
        if self._stopped:
            raise KeyboardInterrupt

    def close(self, *, stop: bool) -> None:
        """Waits for what runs; with `stop`, ends it."""
        self._stopped = stop
        self._pool.shutdown(cancel_futures=stop)


class Pool:
    """An executor: processes, or one that you made."""

    def __init__(self, executor: Executor, *, is_ours: bool) -> None:
        self._executor = executor
        self._is_ours = is_ours

    @staticmethod
    def of_processes(workers: int | None) -> Pool:
        """Processes that are started anew, as a fork would copy locks that other threads hold."""
        return Pool(ProcessPoolExecutor(workers or os.cpu_count(), mp_context=get_context("spawn")), is_ours=True)

    def submit(self, task: Task) -> Future[pa.Table]:
        """Begins a task, as soon as there is room."""
        return self._executor.submit(run, task)

    def close(self, *, stop: bool) -> None:
        """Waits for what runs, unless it is to stop."""
        if self._is_ours:
            self._executor.shutdown(wait=True, cancel_futures=stop)


class Ray:
    """A Ray cluster: the one that this program is connected to, or one on this machine.

    Files go into the object store once, and each machine writes them to a temporary folder once. A task whose machine is lost runs again elsewhere.
    """

    # A task runs so often at most, if machines are lost.
    RETRIES = 10

    def __init__(self) -> None:
        try:
            import ray
        except ImportError:
            raise ParameterError("executor: Ray is not installed (pip install 'trueplane[ray]')") from None
        if not ray.is_initialized():
            ray.init()
        self._ray = ray
        self._remote = ray.remote(num_cpus=1, max_retries=self.RETRIES)(_run_remotely)
        self._stored: dict[str, Any] = {}
        self._references: list[Any] = []

    def submit(self, task: Task) -> Future[pa.Table]:
        """Begins a task, as soon as a machine has room."""
        for path in task.files:
            if path not in self._stored and Path(path).is_file():
                self._stored[path] = self._ray.put(np.fromfile(path, np.uint8))
        files = [path for path in task.files if path in self._stored]
        reference = self._remote.remote(task, files, *(self._stored[path] for path in files))
        self._references.append(reference)
        future: Future[pa.Table] = reference.future()
        return future

    def close(self, *, stop: bool) -> None:
        """With `stop`, ends what runs."""
        for reference in self._references if stop else []:
            self._ray.cancel(reference, force=True)


def _run_remotely(task: Task, paths: Sequence[str], *contents: np.ndarray[Any, Any]) -> pa.Table:
    """Runs a task where its files are not: they come as bytes."""
    there = {path: _written(path, content) for path, content in zip(paths, contents, strict=True)}
    given = tuple((name, there.get(text, text)) for name, text in task.given)
    # What the report calls them does not depend on the machine.
    names = tuple((there.get(path, path), name) for path, name in task.names)
    named = {path for path, _ in task.names}
    names += tuple((local, path) for path, local in there.items() if path not in named)
    return run(Task(task.study, given, task.files, names, task.table))


def _written(path: str, content: np.ndarray[Any, Any]) -> str:
    """The file with this content in a temporary folder of this machine, which is written once."""
    import hashlib

    folder = Path(tempfile.gettempdir(), f"trueplane-{hashlib.sha256(content.data).hexdigest()[:32]}")
    local = folder / Path(path).name
    if not local.exists():
        folder.mkdir(exist_ok=True)
        aside = folder / f".{local.name}.{os.getpid()}"
        content.tofile(aside)
        aside.replace(local)
    return str(local)


def executor(which: Any, workers: int | None) -> Threads | Pool | Ray:
    """The executor that somebody asked for."""
    if isinstance(which, Executor):
        return Pool(which, is_ours=False)
    name = which if isinstance(which, str) else getattr(which, "__name__", repr(which))
    if name == "threads":
        return Threads(workers)
    if name == "processes":
        return Pool.of_processes(workers)
    if name == "ray":
        return Ray()
    raise ParameterError(f'executor: expected "threads", "processes", ray or an executor of concurrent.futures, got {name!r}')

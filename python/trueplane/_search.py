"""The search for the best point, by Optuna: each batch of trials is a sweep."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ._errors import ParameterError
from ._progress import is_wanted, new_bar
from ._report import Report
from ._sweep import _column, sweep
from .points import Axis, Between, Point, _values


@dataclass(frozen=True)
class Search:
    """What a search found."""

    best: Point
    """The best point."""
    value: float
    """Its value."""
    trials: list[tuple[Point, float]]
    """All points that were tried, each with its value, in their order."""

    def table(self) -> pa.Table:
        """All points that were tried: their parameters and the column `value`."""
        names = list(self.best)
        columns = {name: _column([point[name] for point, _ in self.trials]) for name in names}
        return pa.table({**columns, "value": [value for _, value in self.trials]})


def search(
    study: Callable[..., Report],
    space: Mapping[str, Axis],
    objective: Callable[[Point, pa.Table], float],
    *,
    trials: int = 100,
    batch: int | None = None,
    maximize: bool = False,
    seed: int = 1,
    table: str | None = None,
    executor: Any = "threads",
    workers: int | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **fixed: Any,
) -> Search:
    """Looks for the point with the least value of an objective, with Optuna's tree-structured Parzen estimator.

        >>> found = trueplane.search(
        ...     trueplane.cache.compare,
        ...     {"capacity": trueplane.points.Between(100, 10_000, whole=True, log=True), "policies": ["lru", "lru-mad", "arc-mad"]},
        ...     lambda point, table: table["latency_mean_ns"][0].as_py() / 1e6 + point["capacity"] / 100,
        ...     trace="requests.csv", latency="100ms",
        ... )
        >>> found.best

    study, table, executor, workers, store, progress, fixed:
        As in `trueplane.sweep`.
    space:
        The axes by the names of parameters: `trueplane.points.Between` for a range, a list for a choice.
    objective:
        A function of a point and its rows, which returns a number.
    trials:
        The number of points that are tried.
    batch:
        The number of points that are chosen and run at a time: the results of a batch guide the next one. One for each core if you do not say. The same
        seed and batch give the same points, on any number of workers.
    maximize:
        Whether to look for the greatest value instead.
    seed:
        The number from which draws begin.
    """
    try:
        import optuna
    except ImportError:
        raise ParameterError("search needs Optuna (pip install 'trueplane[search]')") from None
    if trials < 1 or not (batch is None or batch >= 1):
        raise ParameterError(f"trials, batch: expected at least one, got {trials} and {batch}")
    if "errors" in fixed or "wait" in fixed:
        raise ParameterError("errors, wait: a search waits for all points, and ends with the first error")
    axes = {name: axis if isinstance(axis, Between) else _values(name, axis) for name, axis in space.items()}
    size = batch or os.cpu_count() or 1
    sampler = optuna.samplers.TPESampler(seed=seed)
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        asked = optuna.create_study(direction="maximize" if maximize else "minimize", sampler=sampler)
        tried: list[tuple[Point, float]] = []
        with new_bar(desc=f"search {study.__qualname__}", total=trials, disable=not is_wanted(progress)) as bar:
            while len(tried) < trials:
                chosen = [asked.ask() for _ in range(min(size, trials - len(tried)))]
                points = [{name: _suggested(trial, name, axis) for name, axis in axes.items()} for trial in chosen]
                run = sweep(study, points, table=table, executor=executor, workers=workers, store=store, progress=False, **fixed)
                for trial, point, rows in zip(chosen, points, run.tables(), strict=True):
                    value = objective(point, rows)
                    if not isinstance(value, (int, float)) or math.isnan(value):
                        raise ParameterError(f"objective: expected a number, got {value!r} at {point}")
                    asked.tell(trial, value)
                    tried.append((point, value))
                    bar.update()
    finally:
        optuna.logging.set_verbosity(verbosity)
    best = (max if maximize else min)(tried, key=lambda one: one[1])
    return Search(best[0], best[1], tried)


def _suggested(trial: Any, name: str, axis: Axis) -> Any:
    """The value of an axis that Optuna suggests."""
    if not isinstance(axis, Between):
        return axis[trial.suggest_categorical(name, list(range(len(axis))))]
    if axis.whole:
        number: float = trial.suggest_int(name, int(axis.low), int(axis.high), log=axis.log)
    else:
        number = trial.suggest_float(name, axis.low, axis.high, log=axis.log)
    return axis.written(number)

"""A cluster under a scheduler of your own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ._errors import ParameterError
from ._inputs import Inputs
from ._native import schedule as _schedule
from ._types import Number, Source, Time
from ._units import with_unit


class Scheduler:
    """A scheduler of your own: a subclass that says who is next.

    Users are known by their names. Amounts are in the units of the log, and times in nanoseconds since its first submission. A user's tasks start
    in the order in which they were submitted; if the next task of the first user does not fit, nobody starts until something ends.

        class MostPatient(trueplane.fair.Scheduler):
            def begin(self, users, resources, capacity):
                self.since = {}

            def on_wait(self, user, now):
                self.since[user] = now

            def on_rest(self, user, now):
                del self.since[user]

            def first(self, now):
                return min(self.since, key=self.since.get)
    """

    def begin(self, users: list[str], resources: list[str], capacity: list[float]) -> None:
        """The cluster is empty: its users, its resources, and how much of each there is."""

    def on_wait(self, user: str, now: int) -> None:
        """A user has a task that waits, and had none."""

    def on_rest(self, user: str, now: int) -> None:
        """A user has no task that waits any more."""

    def on_hold(self, user: str, held: list[float], now: int) -> None:
        """A task of a user has started or ended: it holds so much of each resource now."""

    def first(self, now: int) -> str:
        """The user whose task is next, among those who wait. You are asked while somebody waits."""
        raise NotImplementedError(f"{type(self).__name__} needs a method first(self, now) that returns a user")


def schedule(
    jobs: Source,
    scheduler: Scheduler | str,
    *,
    capacity: Number | dict[str, float] = "70%",
    half_life: Time | int | None = None,
    format: str | None = None,
    time_unit: str | None = None,
    user: str | None = None,
    resources: str | Sequence[str] | None = None,
    seed: int | None = None,
) -> pa.Table:
    """Runs a log of tasks on a cluster under a scheduler, and returns the tasks in the order in which they start.

    The columns are `user`, `submitted_ns`, `start_ns`, `end_ns` and `wait_ns`. Tasks that are larger than the cluster are left out.

    jobs:
        The log, as for `fair.simulate`: a path, a data frame, or "generate:…".
    scheduler:
        A `Scheduler`, or the name of a policy of trueplane: fifo, drf, sdrf, kueue, slurm, karma.
    capacity:
        The size of the cluster: a part of the mean use of the log ("70%"), or amounts ({"cpu": 96}).
    half_life:
        The half-life of what the policies of trueplane remember: "8d", or nanoseconds. Default: that of `fair.simulate`.
    format, time_unit, user, resources, seed:
        Options for reading or drawing the log, as of `fair.simulate`.
    """
    if half_life is not None and scheduler not in ("sdrf", "kueue", "slurm"):
        raise ParameterError("half_life: expected the name of a policy that has one: sdrf, kueue or slurm")
    span = None if half_life is None else with_unit("half_life", half_life, "ns")
    if not isinstance(scheduler, (Scheduler, str)):
        raise TypeError(f"scheduler: expected a Scheduler or the name of a policy, got {type(scheduler).__name__}")
    options: dict[str, Any] = {"format": format, "time_unit": time_unit, "user": user, "resources": resources, "seed": seed}
    given = {"jobs": jobs, "capacity": capacity, **{name: value for name, value in options.items() if value is not None}}
    with Inputs() as inputs:
        texts = [(name, inputs.text(name, value)) for name, value in given.items()]
        users, numbers, submitted, started, ended = _schedule(texts, scheduler, span)
    names = pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(users, pa.string()))
    columns = {"submitted_ns": submitted, "start_ns": started, "end_ns": ended, "wait_ns": started - submitted}
    return pa.table({"user": names, **columns})

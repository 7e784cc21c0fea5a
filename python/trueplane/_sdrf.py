"""The SDRF scheduler."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ._arrays import Numbers, numbers, time_of, whole
from ._errors import ParameterError
from ._native import Sdrf as _Native
from ._types import Time


class Sdrf:
    """Shares a cluster among users: who used little before comes first (SDRF; Sadok 2018, chapter 4).

    A user's commitment is what it held above its own part, and it fades with a half-life. The user whose larger dominant share, of what it holds
    and is committed to, is smallest starts the next task. Without a half-life nothing is remembered: this is DRF.

    Time is in nanoseconds from any fixed moment, and does not go back. No call that raises changes anything.

        cluster = trueplane.fair.Sdrf(capacity=[16, 64], half_life="1h")
        alice = cluster.join(now=0)
        cluster.submit(alice, task=1, needs=[4, 8], now=0)
        cluster.start(now=0)  # the users and the names of the tasks that start: ([0], [1])
        cluster.finish(1, now=60_000_000_000)
    """

    def __init__(self, capacity: Sequence[int], *, half_life: Time | int | None = None) -> None:
        """A cluster without users.

        capacity:
            How much there is of each resource, in whole units.
        half_life:
            The time after which half of a commitment is left: "1h", or a number of nanoseconds. Default: nothing is remembered.
        """
        span = None if half_life is None else time_of("half_life", half_life)
        self._native = _Native(_amounts("capacity", capacity), span)

    @classmethod
    def restore(cls, snapshot: bytes) -> Sdrf:
        """The scheduler that `snapshot` returned the bytes of. It goes on as the other would have."""
        made = cls.__new__(cls)
        made._native = _Native.restore(bytes(snapshot))
        return made

    def snapshot(self) -> bytes:
        """Everything that the scheduler knows."""
        return self._native.snapshot()

    def join(self, *, weight: int = 1, now: int | Time) -> int:
        """A user joins, whose part is `weight` of the weights of all. Returns its number."""
        return self._native.join(_small("weight", weight), time_of("now", now))

    def leave(self, user: int, *, now: int | Time) -> None:
        """A user goes away. It has no tasks, and its commitments are forgotten."""
        self._native.leave(_small("user", user), time_of("now", now))

    def submit(self, user: int, task: int, needs: Sequence[int], *, now: int | Time) -> None:
        """A user wants a task to run.

        task:
            A number that is the task's name. No other task that waits or runs has it.
        needs:
            How much the task needs of each resource.
        """
        self._native.submit(_small("user", user), whole("task", task), _amounts("needs", needs), time_of("now", now))

    def submit_many(self, users: Numbers, tasks: Numbers, needs: npt.ArrayLike, *, now: int | Time) -> None:
        """Users want tasks to run: an array with a row for each task and a column for each resource. If one is refused, none is submitted, but the time has been told."""
        rows = np.asarray(needs)
        if rows.ndim != 2:
            raise ParameterError(
                f"needs: expected a row for each task and a column for each resource, got {rows.ndim} dimensions"
            )
        flat = numbers("needs", rows.reshape(-1))
        self._native.submit_many(numbers("users", users), numbers("tasks", tasks), flat.reshape(rows.shape), time_of("now", now))

    def next(self, *, now: int | Time, fitting: bool = False) -> tuple[int, int] | None:
        """The task to start now: its user and its name. It runs from now on.

        fitting:
            Whether smaller tasks may pass one that does not fit. A large task can then wait for as long as small ones keep coming.
        """
        return self._native.next(time_of("now", now), fitting)

    def start(self, *, now: int | Time, fitting: bool = False) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
        """All tasks to start now: their users and their names. They run from now on."""
        return self._native.start(time_of("now", now), fitting)

    def finish(self, task: int, *, now: int | Time) -> int:
        """A task that runs has ended. Returns its user."""
        return self._native.finish(whole("task", task), time_of("now", now))

    def requeue(self, task: int, *, now: int | Time) -> int:
        """A task that runs has stopped without an end, and waits again, before all others of its user. Returns its user."""
        return self._native.requeue(whole("task", task), time_of("now", now))

    def withdraw(self, task: int, *, now: int | Time) -> int:
        """A task that waits is not to run any more. Returns its user."""
        return self._native.withdraw(whole("task", task), time_of("now", now))

    def advance(self, *, now: int | Time) -> None:
        """Tells the time: `commitments` are those of now from then on."""
        self._native.advance(time_of("now", now))

    def set_weight(self, user: int, weight: int, *, now: int | Time) -> None:
        """A user has another weight from now on."""
        self._native.set_weight(_small("user", user), _small("weight", weight), time_of("now", now))

    def set_capacity(self, capacity: Sequence[int], *, now: int | Time) -> None:
        """The cluster has another capacity from now on."""
        self._native.set_capacity(_amounts("capacity", capacity), time_of("now", now))

    def commitments(self, user: int) -> npt.NDArray[np.float64]:
        """The commitment of a user for each resource at the last time told, as parts of the cluster."""
        return self._native.commitments(_small("user", user))

    def held(self, user: int) -> npt.NDArray[np.uint64]:
        """How much a user holds of each resource."""
        return self._native.held(_small("user", user))

    @property
    def waiting(self) -> int:
        """The number of tasks that wait."""
        return self._native.counts()[0]

    @property
    def running(self) -> int:
        """The number of tasks that run."""
        return self._native.counts()[1]

    def __repr__(self) -> str:
        waiting, running = self._native.counts()
        return f"Sdrf({waiting} tasks wait, {running} run)"


def _amounts(name: str, values: Sequence[int]) -> list[int]:
    return [int(value) for value in numbers(name, values)]


def _small(name: str, value: int) -> int:
    if whole(name, value) >= 2**32:
        raise ParameterError(f"{name}: expected 0 to 2**32 - 1, got {value}")
    return int(value)

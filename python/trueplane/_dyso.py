"""DySO's table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import Array, Numbers, keys_of, whole
from ._errors import ParameterError
from ._native import Dyso, key_of

MOST = 1 << 25
"""The most entries of the table, keys that are counted, and keys in the history buffer: some 0.6 GB."""


class Counts(NamedTuple):
    """Counts of a table, so far."""

    updates: int
    """Rows that were written."""
    recorded: int
    """Lookups that entered the history buffer."""
    unrecorded: int
    """Lookups that found no room in the history buffer."""
    ageing: int
    """The ageing period in use, in lookups."""


class RMat:
    """DySO's register match-action table, with its history buffer and its controller (Song et al. 2022, §III).

    A key has one place: a row of `chain` entries. A control packet writes a row, and takes along what was looked up. The controller keeps
    the hottest keys of each row in the table. Time is in lookups; a control packet arrives at once and is never lost.

        table = trueplane.offload.RMat(rows=1024)
        answered = table.lookup_many(keys, control_every=100)
        answered.mean()  # the share of lookups that the switch answers
    """

    def __init__(
        self,
        rows: int,
        *,
        chain: int = 4,
        history_rows: int | None = None,
        history_slots: int = 8,
        tracked: int | None = None,
        ageing: int = 1_000_000,
        tuning: int | None = None,
    ) -> None:
        """An empty table.

        rows, chain:
            The number of rows, from 2 on, and of entries in each, 1 to 64.
        history_rows, history_slots:
            The history buffer: its rows, at most those of the table (default: 256, or fewer for a small table), and keys in each, 1 to 128.
        tracked:
            The number of keys of each row that the controller counts, at most 255. Default: four times `chain`.
        ageing:
            Lookups after which the controller halves its counts, at first.
        tuning:
            Lookups between two changes of that period. Default: it stays.
        """
        history = min(whole("rows", rows), 256) if history_rows is None else whole("history_rows", history_rows)
        counted = min(4 * whole("chain", chain), 255) if tracked is None else whole("tracked", tracked)
        shape = {"rows": rows, "chain": chain, "history_rows": history, "history_slots": whole("history_slots", history_slots)}
        for name, value in shape.items():
            if value >= 2**32:
                raise ParameterError(f"{name}: expected less than 2**32, got {value}")
        if rows * max(chain, counted) > MOST or history * history_slots > MOST:
            raise ParameterError(f"rows: expected at most {MOST} entries, keys that are counted, and keys in the history buffer")
        self._text = f"RMat({rows}, chain={chain})"
        period = None if tuning is None else whole("tuning", tuning)
        self._native = Dyso(**shape, tracked=counted, ageing=whole("ageing", ageing), tuning=period)

    def __repr__(self) -> str:
        return self._text

    def lookup(self, key: int | str) -> bool:
        """Whether the table answers a lookup."""
        return self._native.lookup(_key(key))

    def lookup_many(self, keys: Numbers, *, control_every: int = 0) -> npt.NDArray[np.bool_]:
        """Whether the table answers each lookup.

        control_every:
            Lookups between two control packets. 0: there are none but those of `control`.
        """
        return self._native.lookup_many(keys_of("keys", keys), whole("control_every", control_every))

    def control(self, packets: int = 1) -> None:
        """Sends control packets to the table and back, one after the other."""
        self._native.control(whole("packets", packets))

    def row_of(self, key: int | str) -> int:
        """The row that a key belongs to."""
        return self._native.row_of(_key(key))

    def keys(self, row: int) -> Array:
        """The keys that a row answers."""
        return self._native.keys(min(whole("row", row), 2**32 - 1))

    @property
    def counts(self) -> Counts:
        """Counts so far."""
        return Counts(*self._native.counts())


def _key(key: int | str) -> int:
    return key_of(key) if isinstance(key, str) else whole("key", key)

"""One server, and packets that take unequal time: an order of service, or an attack, of your own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ._arrays import Array, numbers, times_of, whole
from ._errors import ParameterError
from ._inputs import rows
from ._native import serve_packets
from ._types import Arrow

_NEVER = 2**64 - 1
_NEEDED = ("time_ns", "packet_bytes", "job_ns")


@dataclass(frozen=True)
class Fate:
    """What becomes of the packets of a sender."""

    packets: pa.Table
    """A row for each packet: `start_ns` and `end_ns` of its service, null if it was dropped or not served by the end."""
    arrived_packets: int
    arrived_bytes: int
    served_packets: int
    served_bytes: int
    dropped_packets: int
    dropped_bytes: int
    left_packets: int
    """Packets that wait, or are in service, at the end."""
    left_bytes: int
    work_ns: int
    """The time that the served packets took."""


@dataclass(frozen=True)
class Service:
    """What one server does with the packets of users and of an attacker."""

    users: Fate
    attack: Fate
    end_ns: int

    @property
    def goodput_bps(self) -> float:
        """Bits of users that are served in a second."""
        return 8 * self.users.served_bytes * 1e9 / self.end_ns if self.end_ns else 0.0

    def displacement_factor(self, without: Service) -> float:
        """How many bits of users are displaced by each bit of the attack, beside the same users `without` it."""
        if not self.attack.arrived_bytes:
            raise ParameterError("without: expected an attack in the service itself, and none in this one")
        return (without.users.served_bytes - self.users.served_bytes) / self.attack.arrived_bytes

    def __repr__(self) -> str:
        users, attack = self.users, self.attack
        return (
            f"Service(goodput {self.goodput_bps / 1e6:.3f} Mbit/s: {users.served_packets} of {users.arrived_packets} packets of users served,"
            f" {attack.served_packets} of {attack.arrived_packets} of the attack)"
        )


Packets = Mapping[str, Any] | Arrow


def serve(
    users: Packets,
    attack: Packets | None = None,
    *,
    order: str | Callable[[int, int, int, int], int] = "wsjf",
    buffer: str | int | None = None,
    end: int | None = None,
) -> Service:
    """Serves packets one after the other, each to its end, in an order of service.

    users:
        The packets of users, in the order of time: rows with the columns `time_ns`, `packet_bytes` and `job_ns` (how long serving the packet takes). The
        column `estimate_ns` is what the scheduler expects it to take (default: what it takes), and `flow` is a number (default: 0). These are the
        columns of the logs of `surge.compare`.
    attack:
        The packets of an attacker, as those of users. At equal times a packet of users comes first. Its flows are others than those of users, even if
        they have the same numbers: an order of yours is told 2**63 more.
    order:
        The name of an order: fcfs, fq, drr, sjf, wsjf, wsjf-hoq, wsjf-inorder or sjf-inorder. Or a function that is called as a packet comes, with
        its flow, its bytes, its expected work in nanoseconds and the time: it returns the packet's rank, a whole number, and the smallest is
        served first. When the buffer is full, the packet of the largest rank is dropped.
    buffer:
        The packets that may wait (1000), or their size ("64KiB"). Default: packets are not dropped, and at most 4,194,303 can wait.
    end:
        When all ends, in nanoseconds; what comes or is served later does not count. Default: just after the last arrival.
    """
    columns = _columns("users", users)
    attackers = _columns("attack", {name: [] for name in _NEEDED} if attack is None else attack)
    last = max((int(one[0][-1]) for one in (columns, attackers) if len(one[0])), default=0)
    until = min(last + 1, _NEVER) if end is None else whole("end", end)
    room = None if buffer is None else str(buffer)
    of_users, of_attack = serve_packets(columns, attackers, order, until, room)
    return Service(_fate(*of_users), _fate(*of_attack), until)


def _columns(name: str, packets: Packets) -> tuple[Array, Array, Array, Array, Array]:
    table = rows(name, packets)
    if table is None:
        raise TypeError(f"{name}: expected rows such as a data frame, got {type(packets).__name__}")
    missing = [column for column in _NEEDED if column not in table.column_names]
    if missing:
        raise ParameterError(f"{name}: expected the columns {', '.join(_NEEDED)}, and {missing[0]} is missing")
    unknown = [column for column in table.column_names if column not in (*_NEEDED, "estimate_ns", "flow")]
    if unknown:
        raise ParameterError(f"{name}: expected the columns {', '.join(_NEEDED)}, estimate_ns and flow, got {unknown[0]}")

    def column(title: str, otherwise: Any) -> Array:
        found = title in table.column_names
        return (times_of if title == "time_ns" else numbers)(f"{name}: {title}", table[title] if found else otherwise)

    times, sizes, work = (column(title, []) for title in _NEEDED)
    return times, sizes, work, column("estimate_ns", work), column("flow", np.zeros(1, np.uint64))


def _fate(starts: Array, ends: Array, counts: list[int]) -> Fate:
    is_never = ends == np.uint64(_NEVER)
    packets = pa.table({"start_ns": pa.array(starts, mask=is_never), "end_ns": pa.array(ends, mask=is_never)})
    names = ("arrived", "served", "dropped", "left")
    amounts = {f"{name}_packets": counts[2 * index] for index, name in enumerate(names)}
    sizes = {f"{name}_bytes": counts[2 * index + 1] // 8 for index, name in enumerate(names)}
    return Fate(packets=packets, work_ns=counts[8], **amounts, **sizes)

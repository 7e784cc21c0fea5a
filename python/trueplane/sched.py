"""The order of packets: the studies of `trueplane sched`."""

from ._port import serve
from ._sp_pifo import SpPifo
from ._studies import of as _of

globals().update(_of("sched"))

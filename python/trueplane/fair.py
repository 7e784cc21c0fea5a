"""Who waits because the scheduler forgets: the studies of `trueplane fair`."""

from ._schedule import Scheduler, schedule
from ._sdrf import Sdrf
from ._studies import of as _of

globals().update(_of("fair"))

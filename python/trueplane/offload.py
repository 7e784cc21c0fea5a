"""The table in the switch: the studies of `trueplane offload`."""

from ._dyso import Counts, RMat
from ._studies import of as _of

globals().update(_of("offload"))

"""What an attacker's bit costs: the studies of `trueplane surge`."""

from ._server import Fate, Service, serve
from ._studies import of as _of

globals().update(_of("surge"))

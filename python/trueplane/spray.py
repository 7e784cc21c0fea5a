"""Network functions on every core: the studies of `trueplane spray`."""

from ._studies import of as _of

globals().update(_of("spray"))

"""The exceptions of trueplane. Each has the sentence that the command prints."""

__all__ = ["Error", "InternalError", "ParameterError", "TraceError", "UnfinishedError"]


class Error(Exception):
    """The base of the exceptions below."""


class ParameterError(Error, ValueError):
    """A parameter has no such value, or parameters do not fit each other or the trace."""


class TraceError(Error, ValueError):
    """A trace cannot be read."""


class UnfinishedError(Error, RuntimeError):
    """A search came to no result in its time or on this machine, although nothing is wrong with what you asked for."""


class InternalError(Error, RuntimeError):
    """Trueplane is wrong, not you. Please report it."""


for _error in (Error, ParameterError, TraceError, UnfinishedError, InternalError):
    _error.__module__ = "trueplane"

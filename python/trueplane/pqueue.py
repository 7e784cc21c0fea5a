"""Priority queues for whole numbers."""

from ._queue import Queue

__all__ = ["Queue"]

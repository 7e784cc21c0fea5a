"""Progress bars of long work."""

from __future__ import annotations

import sys
from typing import Any

from tqdm.auto import tqdm


def is_wanted(progress: bool | None) -> bool:
    """Whether there is to be a bar: by default where somebody would see it."""
    if progress is not None:
        return progress
    return "ipykernel" in sys.modules or sys.stderr.isatty()


class Bars:
    """A bar for the stage that a study is in. The native part calls it a few times a second."""

    def __init__(self) -> None:
        self._number = 0
        self._bar: Any = None

    def __call__(self, number: int, name: str, total: int, done: int, news: str) -> None:
        """Shows that `done` of `total` units of the stage `number` are done."""
        if number != self._number:
            self.close()
            self._number = number
            self._bar = tqdm(desc=name, total=total or None, leave=False)
        self._bar.set_postfix_str(news, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()

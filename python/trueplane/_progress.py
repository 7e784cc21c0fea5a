"""Progress bars of long work."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def is_wanted(progress: bool | None) -> bool:
    """Whether there is to be a bar: by default where somebody would see it."""
    if progress is not None:
        return progress
    return "ipykernel" in sys.modules or sys.stderr.isatty()


def new_bar(**options: Any) -> Any:
    """A bar of tqdm: as a widget where a notebook has them, and else as text."""
    # It takes a while to import, and most calls show no bar.
    if "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets"):
        from tqdm.notebook import tqdm
    else:
        from tqdm import tqdm
    return tqdm(**options)


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
            self._bar = new_bar(desc=name, total=total or None, leave=False)
        self._bar.set_postfix_str(news, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()

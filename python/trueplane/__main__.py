"""The command `trueplane`, which wheels carry: `python -m trueplane`."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def command() -> Path | None:
    """The command of this environment, or the one on the path."""
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    for folder in schemes:
        found = Path(folder, "trueplane")
        if os.access(found, os.X_OK):
            return found
    found_on_path = shutil.which("trueplane")
    return Path(found_on_path) if found_on_path else None


def main() -> int:
    """Runs the command in place of Python."""
    found = command()
    if found is None:
        print(
            "error: this installation has no command; build it with `cargo install --path crates/cli --locked`", file=sys.stderr
        )
        return 1
    os.execv(found, [str(found), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

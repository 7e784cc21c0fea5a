"""Objects of Verilator's own library, which are the same for every circuit. They take longer to compile than most circuits, so that the first
build keeps them in build/runtime, and the others get copies."""

import hashlib
import os
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path

from manifest import BUILD

# Up to so many of its units Verilator leaves a circuit in one file: in several, each compiles the same headers again.
ONE_FILE = ("--output-split", "1000000000")


@cache
def version() -> str:
    return subprocess.run(["verilator", "--version"], capture_output=True, text=True, check=True).stdout


def store(flags: str) -> Path:
    """Where those of this Verilator are that are compiled with these flags."""
    return BUILD / "runtime" / hashlib.sha256(f"{version()}{flags}".encode()).hexdigest()[:16]


def lend(folder: Path, flags: str) -> None:
    """Puts the objects that are there into a folder before a build.

    Verilator writes its makefile later, and each object depends on that makefile. So the copies get a time in the future: otherwise make would
    compile them again. make warns of such times, and goes on."""
    future = time.time() + 3600
    for path in store(flags).glob("verilated*.o"):
        shutil.copyfile(path, folder / path.name)
        os.utime(folder / path.name, (future, future))


def keep(folder: Path, flags: str) -> None:
    """Takes from a folder after a build what is not there yet. Another process may do the same: each file comes in one piece."""
    target = store(flags)
    target.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("verilated*.o"):
        if not (target / path.name).exists():
            part = target / f"{path.name}.{os.getpid()}-{folder.name}"
            shutil.copyfile(path, part)
            part.replace(target / path.name)

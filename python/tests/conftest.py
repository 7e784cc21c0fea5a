"""What all tests share."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def log() -> Path:
    """The log of a CDN that is in every clone."""
    return ROOT / "examples" / "cdn-200k.csv.zst"


@pytest.fixture(scope="session")
def command():
    """Runs the command and returns what it prints; skips the test where it has not been built."""
    built = Path(os.environ.get("TRUEPLANE", ROOT / "target" / "debug" / "trueplane"))
    if not built.exists():
        pytest.skip(f"{built} has not been built (cargo build)")

    def run(words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([built, *words.split()], cwd=ROOT, capture_output=True, text=True, check=False)

    return run

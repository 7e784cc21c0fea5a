"""What all tests share."""

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
    built = [ROOT / "target" / profile / "trueplane" for profile in ("debug", "release")]
    found = [path for path in built if path.exists()]
    if not found:
        pytest.skip("the command has not been built (cargo build)")
    newest = max(found, key=lambda path: path.stat().st_mtime)

    def run(words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([newest, *words.split()], cwd=ROOT, capture_output=True, text=True, check=False)

    return run

"""Type checkers accept the package, and refuse what it refuses."""

import subprocess
import sys

import pytest
from conftest import ROOT

USE = """
import datetime
import trueplane

report = trueplane.cache.compare({"time_ns": [0], "key": [1]}, latency=datetime.timedelta(seconds=1), policies=["lru"])
reveal_type(report)
reveal_type(report.verdict)
trueplane.sched.bandwidth(flows=4, threads=2)
trueplane.sched.bandwidth(4)
trueplane.cache.compare("log.csv", latencies="5ms")
"""


def test_the_package_is_typed_and_its_users_are_checked(tmp_path):
    use = tmp_path / "use.py"
    use.write_text(USE)
    words = ["-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path), "trueplane", str(use)]
    checked = subprocess.run([sys.executable, *words], cwd=ROOT / "python", capture_output=True, text=True, check=False)
    said = [line.split(": ", 1)[1] for line in checked.stdout.splitlines() if "use.py:" in line and " defined in " not in line]
    assert said[:2] == ['note: Revealed type is "trueplane._report.Report"', 'note: Revealed type is "list[str]"'], checked.stdout
    assert said[2].startswith("error: Too many positional arguments")
    assert said[3].startswith('error: Unexpected keyword argument "latencies"')
    assert [line for line in checked.stdout.splitlines() if "error" in line and "use.py:" not in line][:-1] == [], checked.stdout


@pytest.mark.parametrize("words", [["check"], ["format", "--check"]])
def test_ruff_has_nothing_to_say(words):
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", *words, "python"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr

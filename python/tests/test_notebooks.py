"""The notebooks run from their first cell to the last, and what they claim is checked in them."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 7


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook):
    pytest.importorskip("nbmake")
    # A kernel runs in the folder of its notebook.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    words = ["-m", "pytest", "--quiet", "--nbmake", "--nbmake-timeout=300", "-p", "no:cacheprovider", notebook]
    ran = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:]


def test_no_notebook_shows_a_warning():
    for notebook in NOTEBOOKS:
        assert '"name": "stderr"' not in notebook.read_text(), notebook.name

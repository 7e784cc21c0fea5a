"""The Python of the documents, run in the order of each page, with what it prints."""

import contextlib
import io
import re

import pytest
from conftest import ROOT

PAGES = ["docs/guides/notebook.md", "docs/guides/sweep.md", "python/README.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert blocks
    names = {}
    for code, shown in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, page, "exec"), names)
        if shown:
            assert printed.getvalue() == shown

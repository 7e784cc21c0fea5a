"""Writes the reference of the package for the documentation site: `python -m trueplane._reference`."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import trueplane

from ._native import studies

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
_MODULES = ["cache", "fair", "limit", "offload", "pqueue", "sched", "spray", "surge"]
_HEAD = """# Python

All functions and classes of the package `trueplane`. `help()` has the same texts, and also all parameters of the studies, which are the flags of the
[commands](commands.md). The guides show how to use them: [studies](../guides/notebook.md), [sweeps](../guides/sweep.md),
[policies, queues and limiters](../guides/python-policies.md).
"""


def reference() -> str:
    """The page."""
    parts = [_HEAD, "## trueplane\n", *_described("trueplane", [name for name in trueplane.__all__ if name[0] != "_"])]
    for module in [*_MODULES, "points"]:
        parts += _module(module)
    return "\n".join(parts).rstrip() + "\n"


def _module(name: str) -> Iterable[str]:
    module = importlib.import_module(f"trueplane.{name}")
    yield f"## trueplane.{name}\n"
    yield f"{_first(module)}\n"
    made = [study for study in studies() if study.name.startswith(f"{name}.")]
    if made:
        yield "| study | what it does |"
        yield "|---|---|"
        for study in made:
            yield f"| `{study.name}(…)` | {study.about[0]} |"
        yield ""
    ours = {study.name.split(".")[1] for study in made}
    named = getattr(module, "__all__", None) or [one for one in vars(module) if one[0] != "_"]
    yield from _described(f"trueplane.{name}", sorted(set(named) - ours))


def _described(module: str, names: list[str]) -> Iterable[str]:
    """The classes and functions of a module, and last what differs from another class by its name only."""
    home = importlib.import_module(module)
    found = [(name, getattr(home, name)) for name in names]
    found = [(name, one) for name, one in found if not inspect.ismodule(one)]
    alike = [
        (name, one)
        for name, one in found
        if inspect.isclass(one) and not _own(one) and "__init__" not in vars(one) and one.__mro__[1].__name__[0] == "_"
    ]
    for name, one in found:
        if inspect.isclass(one) and issubclass(one, Exception):
            yield f"- `{name}` ({one.__bases__[-1].__name__}): {_first(one)}"
    yield ""
    if alike:
        base: Any = alike[0][1].__mro__[1]
        yield f"### {', '.join(f'`{name}`' for name, _ in alike)}\n"
        yield f"`{alike[0][0]}{_signature(base.__init__)}`\n"
        yield f"{_text(base.__init__)}\n"
        yield "\n".join(f"- `{name}`: {_first(one)}" for name, one in alike) + "\n"
        yield f"The methods are those of `{base.__mro__[1].__name__}`.\n"
    for name, one in found:
        if inspect.isclass(one) and not issubclass(one, Exception) and (name, one) not in alike:
            yield from _class(name, one)
        elif inspect.isroutine(one):
            yield f"### `{name}`\n"
            yield f"`{name}{_signature(one)}`\n"
            yield f"{_text(one)}\n"


def _class(name: str, one: type[Any]) -> Iterable[str]:
    yield f"### `{name}`\n"
    # What users do not make themselves says nothing of how it is made.
    make = vars(one).get("__init__")
    is_made = getattr(make, "__doc__", None) is not None
    if is_made:
        yield f"`{name}{_signature(make)}`\n"
    yield f"{_text(one)}\n"
    if is_made:
        yield f"{_text(make)}\n"
    if hasattr(one, "__members__"):
        yield "\n".join(f"- `{member}` = {value.value!r}" for member, value in one.__members__.items()) + "\n"
    fields = getattr(one, "_fields", None) or getattr(one, "__dataclass_fields__", None)
    if fields:
        yield f"Fields: {', '.join(f'`{field}`' for field in fields)}.\n"
    for member, value in _own(one).items():
        if isinstance(value, property):
            yield f"- `{member}`: {_first(value)}"
        else:
            function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            yield f"- `{member}{_signature(function)}`: {_text(function, '    ').strip()}"
    yield ""


def _own(one: type[Any]) -> dict[str, Any]:
    """The public methods and properties that a class does not have from another."""
    kinds = (property, classmethod, staticmethod)
    return {
        name: value
        for name, value in vars(one).items()
        if name[0] != "_" and (isinstance(value, kinds) or inspect.isfunction(value)) and _first(value)
    }


def _signature(function: Any) -> str:
    signature = inspect.signature(function)
    named = [one for name, one in signature.parameters.items() if name not in ("self", "cls")]
    shown = str(signature.replace(parameters=[one.replace(annotation=inspect.Parameter.empty) for one in named]))
    return shown.split(" -> ")[0]


def _first(one: Any) -> str:
    text = inspect.getdoc(one) or ""
    return " ".join(text.split("\n\n")[0].split())


def _text(one: Any, indent: str = "") -> str:
    """A docstring as Markdown: parameters as a list, examples as code."""
    blocks = re.split(r"\n\n", inspect.getdoc(one) or "")
    shown = []
    for block in blocks:
        if block.startswith("    "):
            code = inspect.cleandoc("\n".join(line[4:] for line in block.splitlines()))
            shown.append(f"```python\n{code}\n```")
        elif re.match(r"\w[\w, ]*:\n    ", block):
            shown.append("\n".join(_parameter(one) for one in re.split(r"\n(?=\S)", block)))
        else:
            shown.append(" ".join(block.split()))
    # The parts of an example with empty lines are one.
    whole = "\n\n".join(shown).replace("\n```\n\n```python\n", "\n\n")
    return "\n".join(indent + line if line else line for line in whole.splitlines())


def _parameter(block: str) -> str:
    names, about = block.split(":\n", 1)
    return f"- {', '.join(f'`{name.strip()}`' for name in names.split(','))}: {' '.join(about.split())}"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")

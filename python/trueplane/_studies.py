"""The functions of the package, made from what the studies declare."""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import pyarrow as pa

from ._columns import READING
from ._errors import ParameterError
from ._inputs import FRAME, Inputs
from ._native import RequestSource, Study, request_sources, studies
from ._progress import Bars, is_wanted
from ._report import Report

# Parameters that every function has, and their help.
THREADS = ("threads", "int | None", "Threads to run on, 1 to 1024; all cores if you do not say.")
PROGRESS = ("progress", "bool | None", "Whether to show progress bars; by default in notebooks and terminals.")


def of(subsystem: str) -> dict[str, Callable[..., Report]]:
    """The studies of a subsystem as functions, by their names."""
    found = [study for study in studies() if study.name.startswith(f"{subsystem}.")]
    return {study.name.removeprefix(f"{subsystem}."): function(study) for study in found}


class Declared:
    """A study with what its function needs."""

    def __init__(self, study: Study | RequestSource) -> None:
        parameters = study.parameters()
        self.study = study
        self.signature = _signature(study, parameters)
        self.files = {one["name"] for one in parameters if one["is_file"]}
        """The parameters that name a file."""
        self._workloads = {one["name"] for one in parameters if one["is_workload"]}
        # The logs are of requests; otherwise workloads of packets have a word before the path.
        is_of_requests = "web_key" in self.signature.parameters
        self._requests = {one["name"] for one in parameters if is_of_requests and (one["is_log"] or one["is_workload"])}
        self._word = "" if is_of_requests else "trace:"
        self._switches = {one["name"] for one in parameters if one["is_switch"]}

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by the names of parameters."""
        try:
            return dict(self.signature.bind(*args, **kwargs).arguments)
        except TypeError as error:
            raise TypeError(f"{self.study.name}: {error}{_tip(self.signature, kwargs)}") from None

    def texts(self, given: Mapping[str, Any], inputs: Inputs, *, in_memory: bool = False) -> list[tuple[str, str]]:
        """The parameters as text. What is off or None is not given. With `in_memory`, this process runs the study."""
        is_plain = in_memory and all(given.get(name) is None for name in READING)
        texts = [
            (
                name,
                inputs.text(
                    name,
                    value,
                    self._word if name in self._workloads else "",
                    in_memory=is_plain and name in self._requests,
                ),
            )
            for name, value in given.items()
            if value is not None and not (name in self._switches and value is False)
        ]
        if inputs.has_times and given.get("time_unit") is not None:
            raise ParameterError("time_unit: the times of the frame have a unit of their own")
        return texts


def function(study: Study) -> Callable[..., Report]:
    """The function that runs a study."""
    declared = Declared(study)
    run = _function(declared, Report)
    run.declared = declared  # type: ignore[attr-defined]
    return run


def table_function(source: RequestSource) -> Callable[..., pa.Table]:
    """The function that returns requests."""
    return _function(Declared(source), lambda columns: pa.table(dict(columns)))


def _function(declared: Declared, result: Callable[[Any], Any]) -> Callable[..., Any]:
    study = declared.study

    def run(*args: Any, **kwargs: Any) -> Any:
        given = declared.bound(args, kwargs)
        threads, progress = given.pop("threads", None), given.pop("progress", None)
        if not (threads is None or isinstance(threads, int)):
            raise TypeError(f"threads: expected a number, got {type(threads).__name__}")
        with Inputs() as inputs:
            texts = declared.texts(given, inputs, in_memory=True)
            bars = inputs.enter_context(closing(Bars())) if is_wanted(progress) else None
            return result(study.run(texts, threads, bars, [(path, FRAME) for path in inputs.frames]))

    subsystem, verb = study.name.split(".")
    run.__name__ = verb
    run.__qualname__ = study.name
    run.__module__ = f"trueplane.{subsystem}"
    run.__doc__ = documentation(study)
    run.__signature__ = declared.signature  # type: ignore[attr-defined]
    return run


def _tip(signature: inspect.Signature, kwargs: Mapping[str, Any]) -> str:
    """The parameter that somebody may have meant."""
    for name in kwargs:
        near = difflib.get_close_matches(name, signature.parameters, 1)
        if name not in signature.parameters and near:
            return f"; there is {near[0]!r}"
    return ""


def _signature(study: Study | RequestSource, parameters: list[dict[str, Any]]) -> inspect.Signature:
    kinds = {True: inspect.Parameter.POSITIONAL_OR_KEYWORD, False: inspect.Parameter.KEYWORD_ONLY}
    made = [
        inspect.Parameter(one["name"], kinds[one["positional"]], default=_default(one), annotation=annotation(one))
        for one in ordered(parameters)
    ]
    extra = [THREADS, PROGRESS] if study.has_threads else [PROGRESS]
    made += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind, _ in extra]
    return inspect.Signature(made, return_annotation=returned(study))


def returned(study: Study | RequestSource) -> str:
    """The type of what the function returns, as stubs write it."""
    return "Report" if isinstance(study, Study) else "pa.Table"


def ordered(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What stands without its name first, and of that what must be given."""
    return sorted(parameters, key=lambda one: (not one["positional"], not one["required"]))


def _default(one: dict[str, Any]) -> Any:
    if one["required"]:
        return inspect.Parameter.empty
    if one["is_switch"]:
        return False
    return one["default"]


def annotation(one: dict[str, Any]) -> str:
    """The type of a parameter, as stubs write it."""
    if one["is_log"] or one["is_workload"]:
        kind = "Source"
    elif one["kind"] == "bool":
        kind = "bool"
    elif one["unit"] == "ns":
        kind = "Time"
    elif one["kind"] == "float":
        kind = "Number"
    else:
        kind = "Text"
    if one["is_list"]:
        kind = f"{kind} | Sequence[{kind}]"
    return kind if one["required"] or _default(one) is not None else f"{kind} | None"


def _without_flags(about: str, names: set[str]) -> str:
    """A help text in which parameters have their names in Python: `time_unit` instead of `--time-unit`."""

    def named(flag: re.Match[str]) -> str:
        name = flag[1].replace("-", "_")
        return f"`{name}`" if name in names else flag[0]

    return re.sub(r"--([a-z][a-z-]*)", named, about)


def _fill(about: str, width: int) -> str:
    return textwrap.fill(about, width, break_on_hyphens=False, break_long_words=False)


def documentation(study: Study | RequestSource) -> str:
    """The documentation of the function that runs a study."""
    parameters = study.parameters()
    names = {one["name"] for one in parameters}
    # Ctrl-C raises KeyboardInterrupt in all of them.
    about = [_without_flags(paragraph, names) for paragraph in study.about if not paragraph.startswith("Ctrl-C")]
    parts = ["\n\n".join(_fill(paragraph, 100) for paragraph in about)]
    lines = []
    for one in ordered(parameters):
        paragraphs = list(one["doc"])
        paragraphs[0] += f" [{one['range']}]" if one["range"] and not one["choices"] else ""
        paragraphs[0] += f" Default: {one['default_words']}." if one["default_words"] else ""
        if one["is_log"] or one["is_workload"]:
            paragraphs.append("Instead of a path you can give the rows: a data frame, an Arrow table or a dictionary of columns.")
        if one["choices"]:
            paragraphs.append(f"One of {', '.join(one['choices'])}.")
        lines.append((one["name"], _without_flags(" ".join(paragraphs), names)))
    extra = [THREADS, PROGRESS] if study.has_threads else [PROGRESS]
    lines += [(name, about) for name, _, about in extra]
    width = 96
    described = [f"{name}:\n{textwrap.indent(_fill(about, width), '    ')}" for name, about in lines]
    parts.append("Parameters\n\n" + "\n".join(described))
    if study.name != "cache.requests":
        command = study.name.replace(".", " ")
        parts.append(f"The command `trueplane {command}` has the same parameters, as flags.")
    return "\n\n".join(parts)


generate, requests = (table_function(source) for source in request_sources())

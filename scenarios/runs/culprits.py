"""Culprits of exceptions in the midst of a run: the checker, fold, action or plug-in that raised one is named, since
neither the scenario nor the cluster has done anything wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from emulator.kernel import SubscriberFailed
from emulator.nodes import Process
from scenarios import plugins
from scenarios.errors import BadInput, PartFailed
from scenarios.language.actions import Action
from scenarios.language.strategies.strategy_parts import Chosen
from scenarios.observe.checkers import Checker
from scenarios.observe.measures.fold import Fold


@contextmanager
def named_failures() -> Iterator[None]:
    """An exception that comes from a part with a name is raised as ``PartFailed``; all others, and BadInput, as they
    are."""
    try:
        yield
    except Exception as error:
        _raise(error)


def _raise(error: Exception) -> NoReturn:
    for one in _all_of(error):
        if isinstance(one, BadInput):
            raise one from None
        for frame, line in reversed(list(_frames(one))):
            part = _part(frame)
            if part:
                file = Path(frame.f_code.co_filename).name
                what = " ".join(f"{type(one).__name__}: {one}".split())
                raise PartFailed(part, f"{what} (line {line} of {file})") from error
    raise error


def said(error: Exception) -> str:
    """An exception in one line, with the place that raised it, and the part or the plug-in where that has a name."""
    try:
        _raise(error)
    except PartFailed as failed:
        return str(failed)
    except Exception:
        first = next(_all_of(error))
        frame, line = list(_frames(first))[-1]
        what = " ".join(f"{type(first).__name__}: {first}".split())
        return f"{what} (line {line} of {Path(frame.f_code.co_filename).name})"


def process_of(error: Exception) -> Process | None:
    """The process in whose transition an exception was raised; None: in none."""
    for one in _all_of(error):
        for frame, _line in _frames(one):
            owner = frame.f_locals.get("self")
            found = owner if isinstance(owner, Process) else getattr(owner, "process", None)
            if isinstance(found, Process):
                return found
    return None


def _all_of(error: BaseException) -> Iterator[BaseException]:
    """The exceptions behind ``error``: the first one comes before those that followed from it."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _all_of(one)
    elif isinstance(error, SubscriberFailed) and error.__cause__ is not None:
        yield from _all_of(error.__cause__)
    else:
        yield error


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """The frames of its traceback with their lines, the innermost last."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _part(frame: FrameType) -> str:
    """The name of the part that this frame is code of; empty for none."""
    plugin = _plugin(str(frame.f_globals.get("__name__", "")))
    owner = frame.f_locals.get("self")
    if isinstance(owner, Checker):
        name = f"checker {owner.name!r}"
    elif isinstance(owner, Action):
        name = f"action {owner.name!r}"
    elif isinstance(owner, Fold):
        name = f"measure {type(owner).__name__!r}"
    elif isinstance(owner, Chosen):  # what its rule gave back is refused outside the plug-in
        name, plugin = f"{owner.part.axis} {owner.name!r}", _plugin(owner.part.rule.__module__)
    else:
        return plugin
    return f"{name} of {plugin}" if plugin else name


def _plugin(module: str) -> str:
    for plugin in plugins.loaded():
        if module == plugin.module or module.startswith(f"{plugin.module}."):
            return f"plug-in {plugin.file or plugin.module}"
    return ""

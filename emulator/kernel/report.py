"""The text of a deadlock or of a foreign await: which task waits for what, since when, and in which frames."""

from collections.abc import Iterable
from pathlib import Path
from types import FrameType

import trio

from emulator.kernel.kernel_errors import ForeignAwait
from emulator.kernel.task import Task

_KERNEL = str(Path(__file__).parent)
_TRIO = str(Path(trio.__file__).parent)
_OUTERMOST = ("_body", "first")
"""The names of the world's functions that call a task's function."""


def await_frames(task: Task) -> list[str]:
    """The task's stack of awaits, outermost first, as ``function (file:line)`` without the kernel's frames."""
    if task.trio_task is None:
        return []
    return [
        f"{frame.f_code.co_qualname} ({_short(frame)}:{line})"
        for frame, line in task.trio_task.iter_await_frames()
        if not frame.f_code.co_filename.startswith((_KERNEL, _TRIO))
    ]


def foreign_await(task: Task) -> str | None:
    """The function outside the world that a parked task awaits; None if it awaits something of the world."""
    if task.trio_task is None:
        return None
    innermost = None
    for frame, _line in task.trio_task.iter_await_frames():
        path = frame.f_code.co_filename
        if path.startswith(_KERNEL):
            if frame.f_code.co_name in _OUTERMOST:
                continue
            return None
        if path.startswith(_TRIO):
            return f"trio.{frame.f_code.co_qualname}"
        innermost = f"{frame.f_code.co_qualname} ({_short(frame)})"
    return innermost


def _is_trio(frame: FrameType) -> bool:
    """Whether the frame runs code of Trio."""
    return frame.f_code.co_filename.startswith(_TRIO)


def _short(frame: FrameType) -> str:
    return "/".join(Path(frame.f_code.co_filename).parts[-2:])


def waiting_report(tasks: Iterable[Task], now_us: int) -> str:
    """One line per parked task: ``#serial name waits on WHAT since T us (for D us) at frame > frame``."""
    lines = []
    for task in tasks:
        what = foreign_await(task) or task.waiting_on
        where = " > ".join(await_frames(task)) or "its first step"
        lines.append(
            f"  #{task.serial} {task.name} waits on {what} since {task.since_us} us"
            f" (for {now_us - task.since_us} us) at {where}"
        )
    return "\n".join(lines)


def refusal(task: Task, what: str) -> ForeignAwait:
    """The error of a task that awaits ``what``."""
    return ForeignAwait(f"task {task.name} awaits {what}: the world does not own it")


def as_foreign_await(name: str, error: BaseException) -> ForeignAwait | None:
    """The meaning of ``error``, raised in the task ``name``: an await that Trio, or asyncio, did not understand. None
    for any other error."""
    text, what = str(error), None
    if isinstance(error, RuntimeError | TypeError):
        if "must be called from async context" in text:
            what = trio_call(error)
        elif "unrecognized yield message" in text:
            what = awaited(error)
        elif "no running event loop" in text:
            what = "asyncio"
    return None if what is None else ForeignAwait(f"task {name} awaits {what}: the world does not own it")


def trio_call(error: BaseException) -> str:
    """The name of the Trio function that the task called when ``error`` arose."""
    for frame in _frames(error):
        if _is_trio(frame):
            return f"trio.{frame.f_code.co_qualname}"
    return "Trio"


def awaited(error: BaseException) -> str:
    """The function with the await that Trio did not understand: the innermost frame of ``error`` outside Trio."""
    names = [frame.f_code.co_qualname for frame in _frames(error) if not _is_trio(frame)]
    return names[-1] if names else "something unknown"


def _frames(error: BaseException) -> list[FrameType]:
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return frames

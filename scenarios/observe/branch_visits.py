"""The branches of the code of the four lower floors that a run visits, each at its first visit.

A branch is known by the lines that it leads to: ``sys.monitoring`` (Python 3.12) calls for a line, and not again in
this run once it was visited, so that what is visited often costs nothing. A branch that leads to no line of its own,
such as an ``if`` whose body is left out, is not seen. Before Python 3.12 nothing is cheap enough.
"""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import _lru_cache_wrapper, partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any
from zlib import crc32

from attrs import Attribute, Factory, define, field

from brokers import log
from controller import steps
from emulator import kernel
from fetchers import manager

FLOORS = {
    name: sys.modules[module.__name__.rpartition(".")[0]]
    for name, module in (("brokers", log), ("controller", steps), ("emulator", kernel), ("fetchers", manager))
}
"""The packages of the floors by their names here; in a wheel they have others."""
NOT_WATCHED = ("emulator/streams.py", "emulator/protocol/")
"""Values, and what is computed from them once in a process."""
_FOLLOWED: tuple[type, ...] = (
    _lru_cache_wrapper, classmethod, dict, frozenset, list, partial, property, set, staticmethod, tuple,
    types.CellType, types.MappingProxyType, types.MethodType, Attribute, type(Factory(list)),
)  # fmt: skip
"""The types through which functions are found, beside those of the floors."""
TOOL = 4
"""The number of this tool among those of ``sys.monitoring``; debuggers, coverage and profilers have others."""

_monitoring: Any = getattr(sys, "monitoring", None)


def can_watch() -> bool:
    """Whether this Python can watch branches."""
    return _monitoring is not None


@define(eq=False)
class BranchVisits:
    """Watches one run at a time in this process.

    Attributes:
        names: the file and line of each branch that any run of this process has visited, by its number.
    """

    names: dict[int, str] = field(factory=dict)
    _files: dict[types.CodeType, str] = field(factory=dict)
    _numbers: dict[tuple[types.CodeType, int], int] = field(factory=dict)
    _caches: list[_lru_cache_wrapper[Any]] = field(factory=list)
    _visited: Callable[[int], object] = field(default=lambda _: None)

    def begin(self, visited: Callable[[int], object]) -> None:
        """Call ``visited`` with the number of each branch at its first visit, until ``end``."""
        self._visited = visited
        self.forget()
        line = _monitoring.events.LINE
        _monitoring.use_tool_id(TOOL, "understudy")
        _monitoring.register_callback(TOOL, line, self._line)
        for code in self._files:
            _monitoring.set_local_events(TOOL, code, line)
        _monitoring.restart_events()

    def forget(self) -> None:
        """Forget what earlier runs of this process have computed for later ones: a run that finds nothing remembered
        executes the same code in every process."""
        if not self._files:
            self._find_code()
        for cached in self._caches:
            cached.cache_clear()

    def end(self) -> None:
        """Watch no more. Nothing happens where it does not watch."""
        if _monitoring.get_tool(TOOL) is None:
            return
        for code in self._files:
            _monitoring.set_local_events(TOOL, code, 0)
        _monitoring.register_callback(TOOL, _monitoring.events.LINE, None)
        _monitoring.free_tool_id(TOOL)

    def _line(self, code: types.CodeType, line: int) -> object:
        number = self._numbers.get((code, line))
        if number is None:
            name = f"{self._files[code]}:{line}"
            number = self._numbers[code, line] = crc32(name.encode())
            self.names[number] = name
        self._visited(number)
        return _monitoring.DISABLE

    def _find_code(self) -> None:
        """Find the code of all functions of the floors, once in a process."""
        modules = [
            import_module(module.name)
            for floor in FLOORS.values()
            for module in walk_packages(floor.__path__, f"{floor.__name__}.")
        ]
        folders = {f"{Path(floor.__path__[0])}/": name for name, floor in FLOORS.items()}
        objects = list(_objects(modules, tuple(floor.__name__ for floor in FLOORS.values())))
        remembered = frozenset(_remembered(objects))
        self._caches = [one for one in objects if isinstance(one, _lru_cache_wrapper) and _is_of_run(one, folders)]
        for found in objects:
            code = found.__code__ if isinstance(found, types.FunctionType) else None
            if code is None or code in self._files or code in remembered:
                continue
            for folder, name in folders.items():
                if code.co_filename.startswith(folder):
                    self._add(code, f"{name}/{code.co_filename[len(folder) :]}")

    def _add(self, code: types.CodeType, file: str) -> None:
        if file.startswith(NOT_WATCHED):
            return
        self._files[code] = file
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                self._add(inner, file)


def _objects(modules: Iterable[types.ModuleType], packages: tuple[str, ...]) -> Iterator[object]:
    """Everything that modules refer to, through objects of these packages and containers. The collector's own list
    lacks what was there when it was frozen, which differs from process to process."""
    left: list[object] = [value for module in modules for value in vars(module).values()]
    seen: dict[int, object] = {}
    while left:
        found = left.pop()
        if id(found) in seen:
            continue
        seen[id(found)] = found
        yield found
        if isinstance(found, types.FunctionType):
            left += [*(found.__closure__ or ()), *vars(found).values()]
        elif isinstance(found, type):
            left += vars(found).values() if found.__module__.startswith(packages) else ()
        elif isinstance(found, _FOLLOWED) or type(found).__module__.startswith(packages):
            left += gc.get_referents(found)


def _is_of_run(cached: _lru_cache_wrapper[Any], folders: Mapping[str, str]) -> bool:
    """Whether a cache is of watched code."""
    module = sys.modules.get(cached.__module__)
    path = str(getattr(module, "__file__", None) or "")
    for folder, name in folders.items():
        if path.startswith(folder):
            return not f"{name}/{path[len(folder) :]}".startswith(NOT_WATCHED)
    return False


def _remembered(objects: list[object]) -> Iterator[types.CodeType]:
    """The code of functions and classes whose results are remembered from run to run: the first run of a process
    executes it, and others do not, so it says nothing about a run."""
    for found in objects:
        if isinstance(found, _lru_cache_wrapper):
            wrapped = found.__wrapped__
            inner = vars(wrapped).values() if isinstance(wrapped, type) else (wrapped,)
            yield from (one.__code__ for one in inner if isinstance(one, types.FunctionType))

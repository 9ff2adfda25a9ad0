"""Plug-ins: modules of the user's that register checkers, fault actions, profiles, reassignment shapes, parts of
strategies, figures or client behaviours (docs/extend/plugins.md).

A plug-in is named by ``--plugin FILE``, by the variable ``UNDERSTUDY_PLUGINS``, or by an entry point of an installed
package in the group ``understudy.plugins``. It is imported before a scenario is read, and again in every process that
runs scenarios for this one: ``loaded`` says what to import there, ``restore`` does.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import iscoroutinefunction
from pathlib import Path
from traceback import walk_tb
from typing import NamedTuple

from scenarios.errors import BadInput
from scenarios.reading import read_bytes

GROUP = "understudy.plugins"
VARIABLE = "UNDERSTUDY_PLUGINS"
"""The variable with the files of plug-ins, divided as in ``PATH``."""

OPTION = "--plugin"
_PREFIX = "understudy_plugin_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Plugin(NamedTuple):
    """A plug-in that was imported.

    Attributes:
        module: its name among the imported modules.
        file: the file that it was read from; "" for a module of an installed package.
    """

    module: str
    file: str = ""

    @property
    def help(self) -> str:
        """The first line of its docstring."""
        return (sys.modules[self.module].__doc__ or "").strip().partition("\n")[0]

    @property
    def source(self) -> Path:
        """The plug-in's file, or the folder of the package that it belongs to."""
        if self.file:
            return Path(self.file)
        top = sys.modules[self.module.partition(".")[0]]
        assert top.__file__ is not None
        return Path(top.__file__).parent if hasattr(top, "__path__") else Path(top.__file__)

    def __str__(self) -> str:
        return _as_written(self.file) if self.file else self.module


_LOADED: dict[str, Plugin] = {}
_IMPORTING: list[Plugin] = []


def loaded() -> tuple[Plugin, ...]:
    """The plug-ins of this process, in the order in which they were imported."""
    return tuple(_LOADED.values())


def importing() -> Plugin | None:
    """The plug-in that is being imported, so that what is registered now is its own."""
    return _IMPORTING[-1] if _IMPORTING else None


def options() -> list[str]:
    """The words of a command line that load the files among them again; installed packages need none."""
    return [word for plugin in loaded() if plugin.file for word in (OPTION, _as_written(plugin.file))]


def _as_written(file: str) -> str:
    """The path as the user would write it: from the current folder, if it is in that."""
    with suppress(ValueError, OSError):
        return str(Path(file).relative_to(Path.cwd()))
    return file


def load(files: Iterable[str] = (), option: str = OPTION) -> None:
    """Import the installed plug-ins, those of the variable, and ``files``, which ``option`` has named; each once.

    Raises: BadInput for a file that is not there, or that cannot be imported.
    """
    for module in _installed():
        _import(Plugin(module), GROUP)
    for file in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        _import(_of_file(file, VARIABLE), VARIABLE)
    for file in files:
        _import(_of_file(file, option), option)


def restore(plugins: Iterable[Plugin]) -> None:
    """Import, in this process, the plug-ins that another one has loaded."""
    for plugin in plugins:
        _import(plugin, OPTION)


def _of_file(file: str, where: str) -> Plugin:
    path = Path(file)
    if not os.path.isfile(file) or path.suffix != ".py":
        raise BadInput(f"{file!r} is no Python file; write the path of one", where=where)
    return Plugin(_PREFIX + "".join(c if c.isalnum() else "_" for c in path.stem), os.path.realpath(path))


def _import(plugin: Plugin, where: str) -> None:
    known = _LOADED.get(plugin.module)
    if known is not None:
        if known.file != plugin.file and plugin.file:
            raise BadInput(f"{plugin.file} and {known.file} have the same name; rename one", where=where)
        return
    _IMPORTING.append(plugin)
    try:
        if plugin.file and os.path.exists(plugin.file):
            _import_file(plugin)
        else:  # of an installed package, or sent to this machine with the program's own code
            import_module(plugin.module)
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        what = f"plug-in {plugin.file or plugin.module}: {_last_place(error, plugin)}"
        raise BadInput(what, where=where) from error
    finally:
        _IMPORTING.pop()
    _LOADED[plugin.module] = plugin


def _import_file(plugin: Plugin) -> None:
    read_bytes(Path(plugin.file), "a Python file")  # within limits: the import itself has none
    spec = spec_from_file_location(plugin.module, plugin.file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[plugin.module] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[plugin.module]
        raise


def _last_place(error: BaseException, plugin: Plugin) -> str:
    """The error in a line, with the last line of the plug-in's own in its traceback, if there is one."""
    if isinstance(error, SyntaxError):  # it names its place itself
        return f"{type(error).__name__}: {error}"
    places = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    file, line = next((place for place in reversed(places) if place[0] == plugin.file), places[-1])
    return f"{type(error).__name__}: {error}, line {line} of {Path(file).name}"


def check_name(what: str, name: str) -> None:
    """Refuse a name that could not be written everywhere: strategies are joined by ``+``, lists of names by commas, and
    files and folders are called after some.

    Args:
        what: what has the name, for the message.

    Raises: ValueError.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name!r} is no name; write letters, digits, '.', '-' and '_' only")


def check_rule(what: str, rule: object, *, waits: bool = False) -> None:
    """Refuse a function of a plug-in that is asynchronous and may not be, or the other way round: it would be called,
    and do nothing.

    Args:
        what: its name, for the message.
        waits: whether it has to be ``async def``.

    Raises: TypeError.
    """
    if iscoroutinefunction(rule) is not waits:
        raise TypeError(f"{what} has to be async def" if waits else f"{what} may not be async: it acts at one instant")


def _installed() -> Iterator[str]:
    """The modules that the entry points of installed packages name.

    Importing ``importlib.metadata`` takes a tenth of a second, so it is left alone where no package mentions the group.
    """
    if any(GROUP in text for text in _entry_point_files()):
        from importlib.metadata import entry_points

        yield from (point.value for point in sorted(entry_points(group=GROUP)))


def _entry_point_files() -> Iterator[str]:
    for folder in sys.path:
        with suppress(OSError), os.scandir(folder or ".") as found:
            for entry in found:
                if entry.name.endswith((".dist-info", ".egg-info")):
                    with suppress(OSError), open(f"{entry.path}/entry_points.txt", encoding="utf-8") as file:
                        yield file.read()

"""Guards: rules of the emulator that can be taken out, one for each checker that sees no bug that Kafka had."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from scenarios.museum.guards.guard import Guard

GUARDS: dict[str, Guard] = {}
"""The guards by name, in the order of the modules and of their lists."""

for _area in sorted(module.name for module in iter_modules(__path__) if module.name != "guard"):
    for _guard in import_module(f"{__name__}.{_area}").GUARDS:
        GUARDS[_guard.name] = _guard

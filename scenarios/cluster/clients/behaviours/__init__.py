"""The project's own behaviours of ``[[clients]]``, one file for each: a new file here is all that a new one takes."""

from importlib import import_module
from pkgutil import iter_modules

for _name in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_name}")

"""One file for each idea of how an operator carries a plan out. A new file here is all that a new part takes."""

from importlib import import_module
from pkgutil import iter_modules

for _found in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_found}")

"""CRC-32C, the checksum of record batches: a function of the package crc32c, without the rest of it.

The package imports its command line too, and importlib.metadata to look up its version: two megabytes, and a twentieth
of the start of a served cluster.
"""

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any


def _crc32c() -> Callable[[Any], int]:
    """The function, from the extension module in which it is. Raises: ModuleNotFoundError."""
    package = find_spec("crc32c")
    inside = None if package is None else PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if inside is None or inside.loader is None:
        from crc32c import crc32c

        return crc32c
    extension = module_from_spec(inside)
    inside.loader.exec_module(extension)
    function: Callable[[Any], int] = extension.crc32c
    return function


crc32c = _crc32c()

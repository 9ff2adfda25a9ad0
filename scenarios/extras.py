"""The extras of the package: what a part of the program needs beside the core, and what to install where it is
missing.

The core (emulator, clients, command line, pytest plugin, served clusters) needs none of ``STUDY``. What does imports it
where it is used, so a missing package is met there; a command that would do half of its work first asks before.
"""

from __future__ import annotations

from importlib.util import find_spec

from scenarios.errors import BadInput

STUDY = ("pyspark", "pandas", "pyarrow", "numpy", "scipy", "statsmodels")
"""The packages of ``understudy[study]``: sweeps on Spark, data sets in Parquet, statistics."""
OTHERS = {"trustme": "tls"}
"""The extras of other packages: certificates for served clusters."""


def missing(error: BaseException) -> BadInput | None:
    """The refusal that stands for an import that failed because an extra is not installed; None for any other error."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    package = error.name.partition(".")[0]
    return _refusal(package) if package in STUDY else None


def need_study(where: str) -> None:
    """Refuse ``where``, a command or an option, if a package of the extra ``study`` is missing. Raises: BadInput."""
    for package in STUDY:
        if not _is_installed(package):
            raise BadInput(_refusal(package).what, where=where)


def need(package: str, where: str) -> None:
    """Refuse ``where``, an option, if ``package`` of ``OTHERS`` is missing. Raises: BadInput."""
    if not _is_installed(package):
        raise BadInput(_refusal(package).what, where=where)


def _refusal(package: str) -> BadInput:
    return BadInput(f"{package} is not installed; run: pip install 'understudy[{OTHERS.get(package, 'study')}]'")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False

"""The section of docs/understand/limits.md on versions of APIs: ``python -m scenarios.wire.versions_page
docs/understand/limits.md``."""

import sys
from collections.abc import Iterator, Mapping, Sequence

from emulator.protocol.errors import Errors
from scenarios.pages import table, write_into
from scenarios.profiles.profile_registry import PROFILES
from scenarios.wire.refusals import REFUSED_BY_KAFKA
from scenarios.wire.released_versions import HISTORY, Versions, released
from scenarios.wire.versions import announced


def sections() -> Mapping[str, str]:
    """The parts of the page by name."""
    return {"versions-not-served": table(["API", "Versions", "Announced", "A client gets"], list(_rows()))}


def _rows() -> Iterator[Sequence[str]]:
    """A row for each API of which a profile's release has versions that clients are not served."""
    missing: dict[int, set[int]] = {}
    for profile in PROFILES.values():
        own = profile.policies.brokers.api_versions
        served = announced(own, own)
        for key, versions in released(own).items():
            carried_out = () if key in REFUSED_BY_KAFKA else _numbers(served.get(key, (0, -1)))
            missing.setdefault(key, set()).update(set(_numbers(versions)) - set(carried_out))
    for key, lacking in sorted(missing.items()):
        if lacking:
            error = REFUSED_BY_KAFKA.get(key, Errors.UNSUPPORTED_VERSION)
            yield HISTORY[key][0], _ranges(lacking), "yes" if key in REFUSED_BY_KAFKA else "no", error.name


def _ranges(versions: set[int]) -> str:
    """Versions in words: ``0 to 2, 10``."""
    starts = sorted(version for version in versions if version - 1 not in versions)
    ends = sorted(version for version in versions if version + 1 not in versions)
    pairs = zip(starts, ends, strict=True)
    return ", ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in pairs)


def _numbers(versions: Versions) -> range:
    low, high = versions
    return range(low, high + 1)


if __name__ == "__main__":
    write_into(sys.argv[1], sections())

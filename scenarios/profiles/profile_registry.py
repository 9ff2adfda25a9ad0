"""The profiles that a scenario may name (readings §1)."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import iter_modules

from scenarios.errors import BadInput, did_you_mean
from scenarios.plugins import check_name
from scenarios.profiles import releases
from scenarios.profiles.profile import Profile

DEFAULT_PROFILE = "kafka-2.3"
_RELEASE = re.compile(r"(?:kafka-)?(\d\.\d)(?:\.\d+)*")
"""A release as people write it: 2.4, 2.4.1 or kafka-2.2, which has no profile and is like none in particular."""

PROFILES: dict[str, Profile] = {}
"""Name to profile, in the order of the files in ``releases``."""


def register(profile: Profile) -> None:
    """Make a profile known to scenario files, ``list`` and docs/reference/profiles.md.

    Raises: ValueError where the name is taken.
    """
    check_name("profile", profile.name)
    if profile.name in PROFILES:
        raise ValueError(f"there is a profile {profile.name!r} already")
    PROFILES[profile.name] = profile


for _found in sorted(module.name for module in iter_modules(releases.__path__)):
    register(import_module(f"{releases.__name__}.{_found}").PROFILE)


def check_profile(name: str) -> str:
    """``name`` itself when there is such a profile; ``BadInput`` otherwise."""
    if name not in PROFILES:
        release = _RELEASE.fullmatch(name)
        profile = f"kafka-{release[1]}" if release else name
        choices = [profile] if profile in PROFILES else PROFILES
        hint = (
            f"known: {', '.join(PROFILES)}" if release and profile not in PROFILES else did_you_mean(profile, choices)
        )
        raise BadInput(f"unknown profile {name!r}; {hint}")
    return name

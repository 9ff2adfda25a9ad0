"""A trait: one thing that profiles do differently, in words."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from attrs import frozen

from scenarios.profiles.bundle import Bundle


@frozen
class Trait:
    """One thing that profiles do differently.

    Attributes:
        policies: where in a bundle it stands, as ``controller.fencing``, with all that is below; the first one tells.
        title: what it is about.
        says: from the first policy's value to what the profile does.
        source: the ticket or KIP, and the release that it came with.
    """

    policies: tuple[str, ...]
    title: str
    says: Callable[[Any], str]
    source: str

    def of(self, bundle: Bundle) -> str:
        return self.says(attrgetter(self.policies[0])(bundle))

    def covers(self, policy: str) -> bool:
        """Whether it tells of this policy."""
        return any(f"{policy}.".startswith(f"{told}.") for told in self.policies)


def either(yes: str, no: str, is_yes: Callable[[Any], bool] = bool) -> Callable[[Any], str]:
    """One sentence or the other."""
    return lambda value: yes if is_yes(value) else no

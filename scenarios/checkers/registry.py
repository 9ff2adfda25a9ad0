"""All checkers by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scenarios.checkers.checker import Checker
from scenarios.checkers.high_watermark_monotone import HighWatermarkMonotone
from scenarios.checkers.no_acked_record_lost import NoAckedRecordLost
from scenarios.checkers.one_leader_per_epoch import OneLeaderPerEpoch
from scenarios.errors import BadInput, did_you_mean

REGISTRY: Mapping[str, type[Checker]] = {
    kind.name: kind for kind in (NoAckedRecordLost, OneLeaderPerEpoch, HighWatermarkMonotone)
}


def chosen(names: Iterable[str] | None) -> list[type[Checker]]:
    """The checkers called ``names``, each once; all of them for None. Raises: BadInput for an unknown
    name.
    """
    if names is None:
        return list(REGISTRY.values())
    for name in (names := list(dict.fromkeys(names))):
        if name not in REGISTRY:
            raise BadInput(f"unknown invariant {name!r}; {did_you_mean(name, REGISTRY)}")
    return [REGISTRY[name] for name in names]

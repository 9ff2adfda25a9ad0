"""All checkers by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scenarios.errors import BadInput, did_you_mean
from scenarios.observe.checkers.append_shape import AppendShape
from scenarios.observe.checkers.applied_high_watermark import AppliedHighWatermark
from scenarios.observe.checkers.broker_epoch_fence import BrokerEpochFence
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.controller_fence import ControllerFence
from scenarios.observe.checkers.controllers_true import OfflineTrue, OneActiveController
from scenarios.observe.checkers.epochs_grow import EpochsGrow
from scenarios.observe.checkers.expands_assigned import ExpandsAssigned
from scenarios.observe.checkers.failed_until_epoch import FailedUntilEpoch
from scenarios.observe.checkers.fetch_fence import FetchFence
from scenarios.observe.checkers.gauges_true import ReassigningTrue, UnderReplicatedTrue
from scenarios.observe.checkers.high_watermark_monotone import HighWatermarkMonotone
from scenarios.observe.checkers.isr_complete import IsrComplete
from scenarios.observe.checkers.isr_logs_identical import IsrLogsIdentical
from scenarios.observe.checkers.isr_write_conditional import IsrWriteConditional
from scenarios.observe.checkers.joins_caught_up import JoinsCaughtUp
from scenarios.observe.checkers.lag_true import LagTrue
from scenarios.observe.checkers.leader_completeness import LeaderCompleteness
from scenarios.observe.checkers.leader_in_isr import LeaderInIsr
from scenarios.observe.checkers.log_matching import LogMatching
from scenarios.observe.checkers.no_acked_record_lost import NoAckedRecordLost
from scenarios.observe.checkers.no_batch_twice import NoBatchTwice
from scenarios.observe.checkers.no_write_after_expiry import NoWriteAfterExpiry
from scenarios.observe.checkers.offset_bounds import OffsetBounds
from scenarios.observe.checkers.one_leader_per_epoch import OneLeaderPerEpoch
from scenarios.observe.checkers.one_role import OneRole
from scenarios.observe.checkers.polls_go_on import PollsGoOn
from scenarios.observe.checkers.reads_committed import ReadsCommitted
from scenarios.observe.checkers.reads_consistent import ReadsConsistent
from scenarios.observe.checkers.shrinks_overdue import ShrinksOverdue
from scenarios.observe.checkers.truncate_safety import TruncateSafety

REGISTRY: Mapping[str, type[Checker]] = {
    kind.name: kind
    for kind in (
        NoAckedRecordLost,
        OneLeaderPerEpoch,
        HighWatermarkMonotone,
        LogMatching,
        LeaderCompleteness,
        LeaderInIsr,
        IsrComplete,
        OffsetBounds,
        TruncateSafety,
        AppendShape,
        IsrLogsIdentical,
        EpochsGrow,
        ControllerFence,
        BrokerEpochFence,
        IsrWriteConditional,
        NoWriteAfterExpiry,
        JoinsCaughtUp,
        ExpandsAssigned,
        ShrinksOverdue,
        FetchFence,
        OneRole,
        FailedUntilEpoch,
        AppliedHighWatermark,
        ReadsCommitted,
        ReadsConsistent,
        PollsGoOn,
        NoBatchTwice,
        UnderReplicatedTrue,
        ReassigningTrue,
        LagTrue,
        OfflineTrue,
        OneActiveController,
    )
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

"""What profiles do differently, in words: one trait for each policy that is not the same in all of them.

docs/profiles.md is rendered from here, and a test finds a policy that some profile changes without saying so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from brokers.partition.isr import ByZooKeeper, IsrWrites, NotCaughtUp
from brokers.under_replication import AllAssigned, CurrentReplicas, WithoutAdding
from controller.channels.schemas import AllReplicas
from controller.fencing import Fenced
from controller.metrics import is_offline_by_state
from controller.operations.rebalance import preferred_is_live
from controller.reassignment.wiki import old_and_new
from controller.states.names import ReplicaState
from controller.states.rules import all_others
from controller.states.selectors import (
    CONTROLLED_SHUTDOWN,
    HEAD_OF_STAYING_ISR,
    OFFLINE,
    REASSIGNED,
    TOLD_TO_LIVE,
)
from scenarios.cluster.clients.tools.topics import any_move
from scenarios.profiles.bundle import Bundle
from scenarios.profiles.fetcher_traits import FETCHER_TRAITS
from scenarios.profiles.trait import Trait, either


def _changed_isr(writes: IsrWrites) -> str:
    if not isinstance(writes, ByZooKeeper):
        return "through the controller (AlterIsr); until it answers, the larger set counts"
    own = "by a conditional write to ZooKeeper"
    return own if writes.compares else f"{own}; one that was applied before its connection was lost has failed"


TRAITS = (
    Trait(
        ("controller.fencing",),
        "a replaced controller",
        either(
            "cannot write: each write checks the controller epoch, and an election is one write",
            "writes what it wants until it hears of its successor; `/controller` first, then the epoch",
            lambda fencing: isinstance(fencing, Fenced),
        ),
        "KAFKA-6082, 2.1",
    ),
    Trait(
        ("controller.broker_epochs",),
        "a restarted broker",
        either(
            "is told from its earlier incarnation by its epoch",
            "looks like its earlier incarnation; a restart that is over before the controller looks is not noticed",
        ),
        "KIP-380, 2.2",
    ),
    Trait(
        ("brokers.accepts_newer_broker_epoch",),
        "a request with a later broker epoch than the broker knows",
        either("is taken", "fails with UNKNOWN_SERVER_ERROR and is lost"),
        "KAFKA-9839, 2.5.1",
    ),
    Trait(
        ("brokers.copies_follow_epochs",),
        "a copy to another log directory, when the leader epoch changes",
        either("goes on under the new epoch", "is fenced by its own broker: it fails until the broker is started anew"),
        "KAFKA-9654, 2.5",
    ),
    Trait(
        ("controller.stops_name_epochs",),
        "a StopReplica that comes late",
        either(
            "is refused unless its leader epoch is above the broker's (FENCED_LEADER_EPOCH)",
            "stops or deletes a replica that has been started anew",
        ),
        "KIP-570, 2.6",
    ),
    Trait(
        ("controller.replicas.predecessors", "controller.replicas.deletion", "controller.replicas.unreachable"),
        "replica states",
        either("seven, three of them for deletion", "four", lambda states: ReplicaState.DELETION_STARTED in states),
        "controller page; topic deletion, 0.8.1",
    ),
    Trait(
        ("controller.replicas.told_of_shrunk_isr",),
        "an ISR that the controller shrinks",
        either("is told to all other replicas", "is told to the leader", lambda told: told is all_others),
        "controller page; Kafka's code, 1.1",
    ),
    Trait(
        ("controller.replicas.keeps_last_in_isr",),
        "the last member of an ISR",
        either("stays in it when it goes offline", "leaves it too: the ISR is empty"),
        "KAFKA-1028, 0.8.2",
    ),
    Trait(
        ("controller.replicas.trusts_memory",),
        "whether an offline replica is in the ISR",
        either("is looked up in the controller's memory", "is looked up in ZooKeeper"),
        "Kafka's code, 0.8.0 and 1.1",
    ),
    Trait(
        ("controller.replicas.stops_offline",),
        "a replica that goes offline",
        either("is sent StopReplica", "is not sent StopReplica"),
        "controller page; Kafka's code, 0.8.0",
    ),
    Trait(
        ("controller.selectors.offline",),
        "a partition without leader gets",
        either(
            "the first assigned replica that is alive and in the ISR; another one if unclean elections are allowed",
            "the first of the ISR that is alive; else any replica that is alive",
            lambda selector: selector is OFFLINE,
        ),
        "KAFKA-1028, 0.8.2",
    ),
    Trait(
        ("controller.selectors.reassigned",),
        "a move that takes the leader away gives",
        either(
            "the first replica of the target that is alive and in the ISR",
            "the first replica of the target that is alive",
            lambda selector: selector is REASSIGNED,
        ),
        "Kafka's code, 0.8.0 and 0.8.1",
    ),
    Trait(
        ("controller.selectors.controlled_shutdown",),
        "a controlled shutdown gives leadership to",
        lambda selector: {
            CONTROLLED_SHUTDOWN: "the first assigned replica that is alive and in the ISR",
            TOLD_TO_LIVE: "the same, and does not tell the broker that goes",
            HEAD_OF_STAYING_ISR: "the first of the ISR, without a look at whether it is alive",
        }[selector],
        "controller page; Kafka's code, 0.8.0; KAFKA-7482, 2.1",
    ),
    Trait(
        ("controller.requests",),
        "LeaderAndIsr and UpdateMetadata name",
        either("all replicas", "current and impending replicas apart", lambda schema: isinstance(schema, AllReplicas)),
        "KIP-352, a draft",
    ),
    Trait(
        ("controller.answers_preempted",),
        "a request about moves that the controller drops when its session expires",
        either("is answered (NOT_CONTROLLER)", "is not answered"),
        "KAFKA-10193, 2.7",
    ),
    Trait(
        ("kip_455.adds_as_new",),
        "`kip-455` tells the replicas it adds",
        either("that they are new, so that they may take any log directory", "as it tells all others"),
        "KAFKA-10314, 2.7",
    ),
    Trait(
        ("brokers.checks_assignment",),
        "a follower that is not assigned",
        either("cannot join the ISR", "joins the ISR like any other"),
        "KAFKA-1097, 0.8.1",
    ),
    Trait(
        ("controller.replicas.shrink_at_failover",),
        "a new controller",
        either("takes dead replicas out of their ISRs", "leaves dead replicas in their ISRs"),
        "KAFKA-3143, 2.3",
    ),
    Trait(
        ("wiki.told_in_step_7",),
        "step 7 of `wiki`, where the leader stays,",
        either("tells old and new replicas", "tells the new list", lambda told: told is old_and_new),
        "controller page; Kafka's code, 0.8.1",
    ),
    Trait(
        ("controller.auto_rebalance.eligible",),
        "auto rebalance",
        either(
            "tries what has its preferred replica alive",
            "tries what has its preferred replica alive and in sync",
            lambda eligible: eligible is preferred_is_live,
        ),
        "KAFKA-9866, 2.6",
    ),
    Trait(
        ("brokers.join_needs_epoch_start",),
        "a follower joins the ISR",
        either("at the high watermark and the start of the leader's epoch", "at the high watermark"),
        "KAFKA-7128, 2.0.1",
    ),
    Trait(
        ("brokers.out_of_sync",),
        "a follower leaves the ISR",
        either(
            "when it has not been caught up for `replica.lag.time.max.ms`",
            "when it is behind and has not fetched for `replica.lag.time.max.ms`, or is `replica.lag.max.messages` "
            "behind",
            lambda rule: isinstance(rule, NotCaughtUp),
        ),
        "KAFKA-1546, 0.9",
    ),
    Trait(
        ("brokers.isr_checks_per_lag_time",),
        "leaders look for followers that are to leave",
        either("twice in `replica.lag.time.max.ms`", "once in `replica.lag.time.max.ms`", lambda checks: checks == 2),
        "KAFKA-4485, 0.10.2",
    ),
    Trait(
        ("brokers.isr_writes", "kip_455.watches_isr"),
        "a leader changes its ISR",
        _changed_isr,
        "KAFKA-1382, 0.8.2; KIP-497, 2.7",
    ),
    Trait(
        ("brokers.high_watermark_completes_fetches",),
        "a follower's fetch that waits at the leader",
        either("is answered for records or a higher high watermark", "is answered for records"),
        "KIP-392, 2.4; KAFKA-9952, 2.6",
    ),
    Trait(
        ("brokers.latest_is_committed",),
        "the latest offset, asked of a new leader",
        either("is told once all of its predecessor's commits are known to it", "is its high watermark, known or not"),
        "KIP-207, 2.2",
    ),
    Trait(
        ("brokers.every_fetch_looks",),
        "the high watermark is looked at",
        either("at each fetch of a follower", "at each fetch of a follower that has got on"),
        "KAFKA-8841, 2.4",
    ),
    Trait(
        ("brokers.counts_acks",),
        "acks above 1",
        either("are a number of replicas", "are refused (INVALID_REQUIRED_ACKS)"),
        "KAFKA-1697, 0.9",
    ),
    Trait(
        ("brokers.demotion_answers_waiting",),
        "a produce request that waits at a leader which becomes a follower",
        either("is answered at once (NOT_LEADER_FOR_PARTITION)", "waits for its timeout"),
        "KAFKA-2960, 0.10",
    ),
    Trait(
        ("brokers.knows_whose_replica",),
        "a broker without a replica that knows who leads answers",
        either("NOT_LEADER_FOR_PARTITION", "UNKNOWN_TOPIC_OR_PARTITION"),
        "KAFKA-6796, 2.0",
    ),
    Trait(
        ("brokers.high_watermark_waits_for_caught_up",),
        "the high watermark",
        either("also waits for replicas outside the ISR that are caught up", "waits for the ISR alone"),
        "KAFKA-4485, 0.10.2",
    ),
    Trait(
        ("brokers.stop_answers_waiting",),
        "a produce request that waits at a stopped leader for acks=all",
        either("is answered at once (NOT_LEADER_FOR_PARTITION)", "waits for its timeout"),
        "KAFKA-9198, 2.4",
    ),
    Trait(
        ("brokers.strangers_leave_isr",),
        "a member of the ISR that is not assigned",
        either("leaves it like one that does not fetch", "makes the broker's check of its ISRs fail, each time anew"),
        "KAFKA-9672, 3.0",
    ),
    Trait(
        ("controller.is_offline",),
        "OfflinePartitionsCount counts",
        either(
            "what is in state Offline, topics left out whose deletion has begun",
            "what was last led by a broker that is not alive, topics left out that are to be deleted",
            lambda rule: rule is is_offline_by_state,
        ),
        "Kafka's code, 1.1 and 2.3",
    ),
    Trait(
        ("brokers.under_replication",),
        "under-replicated is a partition",
        lambda rule: {
            AllAssigned: "with fewer replicas in sync than assigned",
            WithoutAdding: "with fewer replicas in sync than assigned, those being added left out",
            CurrentReplicas: "of whose replicas from before the move one is out of sync",
        }[type(rule)],
        "KIP-352, 2.5 and its draft",
    ),
    Trait(
        ("brokers.lacks_metrics",),
        "of the metrics there are not",
        lambda names: ", ".join(f"`{name}`" for name in sorted(names)),
        "Kafka's code, 0.8.0 to 2.5.1",
    ),
    Trait(
        ("brokers.checks_epochs",),
        "a reader that knows another leader epoch than the replica",
        either("is refused (FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH)", "may read"),
        "KIP-320, 2.1",
    ),
    Trait(
        ("moves_forbid_expansion",),
        "partitions are not added to a topic",
        either("while anything is being moved", "while it is being moved", lambda moving: moving is any_move),
        "KIP-455, 2.4",
    ),
    *FETCHER_TRAITS,
    Trait(
        ("brokers.answers_with_epoch",),
        "who asks where an epoch ends",
        either("is told that, and of which epoch", "is told an offset alone; nothing for an epoch before all known"),
        "KIP-279, 2.0",
    ),
)


def differing(bundles: Iterable[Bundle]) -> tuple[str, ...]:
    """The policies, by their place in a bundle, that are not the same in all of ``bundles``."""
    return tuple(_differing(list(bundles), ""))


def _differing(values: list[Any], path: str) -> list[str]:
    first, *others = values
    if all(other == first for other in others):
        return []
    kinds = {type(value) for value in values}
    if len(kinds) > 1 or not attrs.has(type(first)):
        return [path]
    parts = ((f.name, [getattr(value, f.name) for value in values]) for f in attrs.fields(type(first)))
    return [leaf for name, part in parts for leaf in _differing(part, f"{path}.{name}".removeprefix("."))]

"""Every protocol step a scenario can stop at, and what happens in it.

Sources: `wiki` is the controller page's onPartitionReassignment (seed 003), `kafka-6794` the ticket's
second list, `kafka-42` the ticket's seven stages, `kip-455` Kafka 2.4's phases, `failover` the order of
Kafka's onControllerFailover (kafka-behaviour §3), the rest the page's other operations.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen


@frozen
class Protocol:
    """A numbered procedure. `reassignment`: run only by the strategies whose protocol it is; else by every
    controller."""

    name: str
    steps: Mapping[str, str]
    reassignment: bool


def _numbered(name: str, *texts: str) -> dict[str, str]:
    return {f"{name}.{number}": text for number, text in enumerate(texts, start=1)}


WIKI = Protocol(
    "wiki",
    _numbered(
        "wiki",
        "write the assignment OAR + RAR to the topic's znode",
        "send LeaderAndIsr to every replica of OAR + RAR",
        "replicas of RAR - OAR become NewReplica",
        "wait until RAR is in the ISR",
        "replicas of RAR become OnlineReplica",
        "the assignment is RAR in the controller's memory",
        "elect a leader from RAR if needed; LeaderAndIsr with assignment RAR",
        "replicas of OAR - RAR go Offline and leave the ISR",
        "replicas of OAR - RAR become NonExistent and are deleted",
        "write the assignment RAR to the topic's znode",
        "remove the partition from the admin path",
        "send UpdateMetadata to every broker",
    ),
    reassignment=True,
)
KAFKA_6794 = Protocol(
    "kafka-6794",
    _numbered(
        "kafka-6794",
        "wait until CR is in the ISR",
        "calculate the next hop: ER, DR, NR, TR",
        "wait until every broker of TR is alive",
        "replicas that the last hop added become OnlineReplica",
        "write the assignment TR to the topic's znode",
        "send LeaderAndIsr to every replica of CR + NR",
        "replicas of NR become NewReplica",
        "CR is TR in the controller's memory",
        "elect a leader from TR if needed; LeaderAndIsr with assignment TR",
        "replicas of DR go Offline and leave the ISR",
        "replicas of DR become NonExistent and are deleted",
        "remove the partition from the admin path (after the last hop only)",
        "send UpdateMetadata to every broker",
    ),
    reassignment=True,
)
KAFKA_42 = Protocol(
    "kafka-42",
    _numbered(
        "kafka-42",
        "listen for ISR changes",
        "start new replicas RAR - AR",
        "wait until new replicas are in sync",
        "replicas of RAR become OnlineReplica; elect a leader from RAR if needed",
        "stop old replicas AR - RAR",
        "write the new AR",
        "remove the partition from the admin path",
    ),
    reassignment=True,
)
KIP_455 = Protocol(
    "kip-455",
    {
        "kip-455.U1": "write RS, AR and RR to the topic's znode",
        "kip-455.U2": "the same in the controller's memory",
        "kip-455.U3": "stop replicas that an override no longer needs",
        "kip-455.check": "is the target set in the ISR",
        "kip-455.A1": "bump the leader epoch; LeaderAndIsr with AR and RR",
        "kip-455.A2": "adding replicas become NewReplica",
        "kip-455.wait": "wait for the ISR to change",
        "kip-455.B1": "adding replicas become OnlineReplica",
        "kip-455.B2": "the target set is the assignment in memory",
        "kip-455.B3": "elect a leader from the target set if needed",
        "kip-455.B4": "removing replicas go Offline",
        "kip-455.B5": "removing replicas are deleted",
        "kip-455.B6": "write the target set to the topic's znode",
        "kip-455.B7": "remove the partition from the admin path",
        "kip-455.B8": "send UpdateMetadata to every broker",
    },
    reassignment=True,
)
FAILOVER = Protocol(
    "failover",
    {
        "failover.F1": "register the ZooKeeper handlers",
        "failover.F2": "delete old ISR-change and log-dir notifications",
        "failover.F3": "load brokers, topics, assignments and leaders",
        "failover.F4": "find the topics to delete",
        "failover.F5": "send UpdateMetadata with the live brokers",
        "failover.F6": "start the replica state machine",
        "failover.F7": "start the partition state machine, electing leaders",
        "failover.F8": "resume reassignments",
        "failover.F9": "resume topic deletions and preferred elections",
    },
    reassignment=False,
)
NEW_PARTITION = Protocol(
    "new-partition",
    _numbered(
        "new-partition",
        "new partitions become NewPartition",
        "their replicas become NewReplica",
        "the partitions become OnlinePartition",
        "their replicas become OnlineReplica",
    ),
    reassignment=False,
)
BROKER_FAILURE = Protocol(
    "broker-failure",
    _numbered(
        "broker-failure",
        "partitions without leader become OfflinePartition",
        "offline and new partitions elect a leader",
        "replicas on the failed broker become OfflineReplica",
    ),
    reassignment=False,
)
BROKER_STARTUP = Protocol(
    "broker-startup",
    _numbered(
        "broker-startup",
        "send UpdateMetadata to the broker",
        "replicas on the broker become OnlineReplica",
        "offline and new partitions elect a leader",
        "resume moves and topic deletions that wait for the broker",
    ),
    reassignment=False,
)
DELETE = Protocol(
    "delete",
    {
        "delete.queue": "the topics that /admin/delete_topics names are queued for deletion",
        "delete.partitions": "the topic's partitions become OfflinePartition, then NonExistentPartition",
        "delete.metadata": "send UpdateMetadata with leader -2 to every broker",
        "delete.dead": "replicas on dead brokers become ReplicaDeletionIneligible: the topic waits for them",
        "delete.offline": "live replicas go Offline and leave the ISR",
        "delete.start": "live replicas become ReplicaDeletionStarted: StopReplica with deletion",
        "delete.answer": "a broker's replicas become ReplicaDeletionSuccessful, or Ineligible",
        "delete.retry": "replicas that could not be deleted go Offline, to be tried again",
        "delete.forget": "all replicas become NonExistentReplica, the topic's znode is no longer watched",
        "delete.znodes": "delete the topic's znode with all below it",
        "delete.config": "delete the topic's configuration",
        "delete.entry": "delete the topic's entry in /admin/delete_topics",
    },
    reassignment=False,
)
SHUTDOWN = Protocol(
    "shutdown",
    _numbered(
        "shutdown",
        "partitions that the broker leads elect another leader",
        "send StopReplica for those that it follows",
        "its replicas of those become OfflineReplica",
    ),
    reassignment=False,
)
PREFERRED = Protocol("preferred", _numbered("preferred", "elect the preferred replicas"), reassignment=False)

PROTOCOLS: Mapping[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        WIKI,
        KAFKA_6794,
        FAILOVER,
        NEW_PARTITION,
        BROKER_FAILURE,
        BROKER_STARTUP,
        DELETE,
        KAFKA_42,
        KIP_455,
        SHUTDOWN,
        PREFERRED,
    )
}
WAITED_FOR = (KAFKA_42.name,)
"""The reassignment protocols whose admin command waits for the end."""

STEPS: Mapping[str, Protocol] = {step: protocol for protocol in PROTOCOLS.values() for step in protocol.steps}

ALIASES: Mapping[str, str] = {
    "failover.1.1": "failover.F6",
    "failover.1.2": "failover.F6",
    "failover.2.1": "failover.F7",
    "failover.2.2": "failover.F7",
    "failover.3": "failover.F8",
    "failover.4": "failover.F9",
}
"""The controller page's numbers for onControllerFailover, as the steps of Kafka's code that do the same
work."""


def canonical(step: str) -> str:
    """The step that `step` stands for: an alias resolved, anything else unchanged."""
    return ALIASES.get(step, step)

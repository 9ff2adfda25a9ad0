"""The versions of APIs that each release of Kafka announces with ZooKeeper, from 0.10.0 on, as facts.

From Kafka's source at the last tag of each release: the lists of schemas in Protocol.java (0.10.0 to 0.11) and in the
classes of the requests (1.0 to 2.2), then the message definitions (clients/src/main/resources/common/message), of which
2.8 and later say which listeners have them (``zkBroker``). What is disabled or unstable is not announced. What real
brokers announced is in tests/scenarios/wire/announced.txt (``python -m benchmarks.announced``).
"""

from collections.abc import Mapping

from emulator.protocol.errors import Errors

Versions = tuple[int, int]
"""The lowest and the highest version of an API."""
RELEASES = (
    "0.10.0", "0.10.1", "0.10.2", "0.11.0", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7",
    "2.8", "3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9",
)  # fmt: skip
"""The releases that answer ApiVersions (KIP-35) and know ZooKeeper. 0.8 and 0.9 have no such request."""

HISTORY: Mapping[int, tuple[str, str]] = {
    0: ("Produce", "0.10.0:2 0.11.0:3 1.0:5 2.0:6 2.1:7 2.4:8 2.8:9 3.7:10 3.8:11"),
    1: ("Fetch", "0.10.0:2 0.10.1:3 0.11.0:5 1.0:6 1.1:7 2.0:8 2.1:10 2.3:11 2.7:12 3.1:13 3.5:15 3.7:16 3.9:17"),
    2: ("ListOffsets", "0.10.0:0 0.10.1:1 0.11.0:2 2.0:3 2.1:4 2.2:5 2.8:6 3.0:7 3.5:8 3.9:9"),
    3: ("Metadata", "0.10.0:1 0.10.1:2 0.11.0:4 1.0:5 2.0:6 2.1:7 2.3:8 2.4:9 2.8:11 3.1:12"),
    4: ("LeaderAndIsr", "0.10.0:0 1.0:1 2.2:2 2.4:4 2.8:5 3.2:6 3.4:7"),
    5: ("StopReplica", "0.10.0:0 2.2:1 2.4:2 2.6:3 3.4:4"),
    6: ("UpdateMetadata", "0.10.0:2 0.10.2:3 1.0:4 2.2:5 2.4:6 2.8:7 3.4:8"),
    7: ("ControlledShutdown", "0.10.0:1 2.2:2 2.4:3"),
    8: ("OffsetCommit", "0.10.0:2 0.11.0:3 2.0:4 2.1:6 2.3:7 2.4:8 3.7:9"),
    9: ("OffsetFetch", "0.10.0:1 0.10.2:2 0.11.0:3 2.0:4 2.1:5 2.4:6 2.5:7 3.0:8 3.7:9"),
    10: ("FindCoordinator", "0.10.0:0 0.11.0:1 2.0:2 2.4:3 3.0:4 3.8:5 3.9:6"),
    11: ("JoinGroup", "0.10.0:0 0.10.1:1 0.11.0:2 2.0:3 2.2:4 2.3:5 2.4:6 2.5:7 3.2:9"),
    12: ("Heartbeat", "0.10.0:0 0.11.0:1 2.0:2 2.3:3 2.4:4"),
    13: ("LeaveGroup", "0.10.0:0 0.11.0:1 2.0:2 2.4:4 3.2:5"),
    14: ("SyncGroup", "0.10.0:0 0.11.0:1 2.0:2 2.3:3 2.4:4 2.5:5"),
    15: ("DescribeGroups", "0.10.0:0 0.11.0:1 2.0:2 2.3:3 2.4:5"),
    16: ("ListGroups", "0.10.0:0 0.11.0:1 2.0:2 2.4:3 2.6:4 3.8:5"),
    17: ("SaslHandshake", "0.10.0:0 1.0:1"),
    18: ("ApiVersions", "0.10.0:0 0.11.0:1 2.0:2 2.4:3 3.9:4"),
    19: ("CreateTopics", "0.10.1:0 0.10.2:1 0.11.0:2 2.0:3 2.4:5 2.7:6 2.8:7"),
    20: ("DeleteTopics", "0.10.1:0 0.11.0:1 2.0:2 2.1:3 2.4:4 2.7:5 2.8:6"),
    21: ("DeleteRecords", "0.11.0:0 2.0:1 2.6:2"),
    22: ("InitProducerId", "0.11.0:0 2.0:1 2.4:2 2.5:3 2.7:4 3.8:5"),
    23: ("OffsetForLeaderEpoch", "0.11.0:0 2.0:1 2.1:2 2.3:3 2.8:4"),
    24: ("AddPartitionsToTxn", "0.11.0:0 2.0:1 2.7:2 2.8:3 3.6:4 3.8:5"),
    25: ("AddOffsetsToTxn", "0.11.0:0 2.0:1 2.7:2 2.8:3 3.8:4"),
    26: ("EndTxn", "0.11.0:0 2.0:1 2.7:2 2.8:3 3.8:4"),
    27: ("WriteTxnMarkers", "0.11.0:0 2.8:1"),
    28: ("TxnOffsetCommit", "0.11.0:0 2.0:1 2.1:2 2.5:3 3.8:4"),
    29: ("DescribeAcls", "0.11.0:0 2.0:1 2.5:2 3.3:3"),
    30: ("CreateAcls", "0.11.0:0 2.0:1 2.5:2 3.3:3"),
    31: ("DeleteAcls", "0.11.0:0 2.0:1 2.5:2 3.3:3"),
    32: ("DescribeConfigs", "0.11.0:0 1.1:1 2.0:2 2.6:3 2.8:4"),
    33: ("AlterConfigs", "0.11.0:0 2.0:1 2.8:2"),
    34: ("AlterReplicaLogDirs", "1.0:0 2.0:1 2.8:2"),
    35: ("DescribeLogDirs", "1.0:0 2.0:1 2.6:2 3.2:3 3.3:4"),
    36: ("SaslAuthenticate", "1.0:0 2.2:1 2.5:2"),
    37: ("CreatePartitions", "1.0:0 2.0:1 2.5:2 2.7:3"),
    38: ("CreateDelegationToken", "1.1:0 2.0:1 2.4:2 3.3:3"),
    39: ("RenewDelegationToken", "1.1:0 2.0:1 2.5:2"),
    40: ("ExpireDelegationToken", "1.1:0 2.0:1 2.5:2"),
    41: ("DescribeDelegationToken", "1.1:0 2.0:1 2.5:2 3.3:3"),
    42: ("DeleteGroups", "1.1:0 2.0:1 2.4:2"),
    43: ("ElectLeaders", "2.2:0 2.4:2"),
    44: ("IncrementalAlterConfigs", "2.3:0 2.4:1"),
    45: ("AlterPartitionReassignments", "2.4:0"),
    46: ("ListPartitionReassignments", "2.4:0"),
    47: ("OffsetDelete", "2.4:0"),
    48: ("DescribeClientQuotas", "2.6:0 2.8:1"),
    49: ("AlterClientQuotas", "2.6:0 2.8:1"),
    50: ("DescribeUserScramCredentials", "2.7:0"),
    51: ("AlterUserScramCredentials", "2.7:0"),
    56: ("AlterPartition", "2.7:0 3.2:1 3.3:2 3.5:3"),
    57: ("UpdateFeatures", "2.7:0 3.3:1"),
    58: ("Envelope", "3.4:0"),
    60: ("DescribeCluster", "2.8:0 3.7:1"),
    61: ("DescribeProducers", "2.8:0"),
    65: ("DescribeTransactions", "3.0:0"),
    66: ("ListTransactions", "3.0:0 3.8:1"),
    67: ("AllocateProducerIds", "3.0:0"),
    68: ("ConsumerGroupHeartbeat", "3.7:0"),
    69: ("ConsumerGroupDescribe", "3.8:0"),
}
"""For each API its name, that of its last release, and ``RELEASE:VERSION`` for each release that began another highest
version."""
LOWEST: Mapping[int, int] = {}
"""The lowest version of each API whose lowest version is not 0."""


def is_release(text: str) -> bool:
    """Whether a release, such as ``2.4`` or ``2.4.1``, is one that announces versions."""
    return _minor(text) in RELEASES


def released(release: str) -> dict[int, Versions]:
    """The versions that brokers of a release announce, by the API's number; empty before 0.10."""
    minor = _minor(release)
    if minor not in RELEASES:
        return {}
    place = RELEASES.index(minor)
    found = {key: _highest(history, place) for key, (_, history) in HISTORY.items()}
    return {key: (LOWEST.get(key, 0), high) for key, high in found.items() if high is not None}


def versions_of_requests(release: str) -> dict[str, int]:
    """The versions in which brokers of a release ask each other, by the API's name, as its RequestsPerSec has them in
    their names; empty before KAFKA-6514 (2.0)."""
    minor = _minor(release)
    if minor not in RELEASES or RELEASES.index(minor) < RELEASES.index("2.0"):
        return {}
    return {HISTORY[key][0]: high for key, (_, high) in released(release).items()}


def error_names(release: str) -> dict[str, str]:
    """The errors that brokers of a release name otherwise than they are named here, as its ErrorsPerSec has them:
    NOT_LEADER_OR_FOLLOWER since KAFKA-10223 (2.6)."""
    minor = _minor(release)
    if minor not in RELEASES or RELEASES.index(minor) < RELEASES.index("2.6"):
        return {}
    return {Errors.NOT_LEADER_FOR_PARTITION.name: "NOT_LEADER_OR_FOLLOWER"}


def _highest(history: str, place: int) -> int | None:
    highest = None
    for step in history.split():
        release, _, version = step.partition(":")
        if RELEASES.index(release) <= place:
            highest = int(version)
    return highest


def _minor(release: str) -> str:
    """``2.4`` of 2.4.1, ``0.10.2`` of 0.10.2.2."""
    return ".".join(release.split(".")[: 3 if release.startswith("0.") else 2])

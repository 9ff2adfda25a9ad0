"""The constants of the specification that say what a release does otherwise than it was meant.

Each release was read in Kafka's sources under its tag; `3.9.0` was read as 3.9.0-rc3.
"""

from attrs import frozen

RELEASES = ("0.8.0", "0.8.2.2", "1.1.1", "2.3.1", "2.4.1", "2.6.0", "2.7.2", "3.6.0", "3.9.0")
MEANT = "meant"
"""The release that there is not: no constant is TRUE."""


@frozen
class Constant:
    """One of them.

    Attributes:
        source: the class and method that shows it, and the ticket that ended it where there is one.
        releases: those in which it is TRUE.
    """

    name: str
    meaning: str
    source: str
    releases: tuple[str, ...]


def _until(last: str, first: str = RELEASES[0]) -> tuple[str, ...]:
    """The releases from ``first`` to ``last``."""
    return RELEASES[RELEASES.index(first) : RELEASES.index(last) + 1]


CONSTANTS = (
    Constant(
        "TruncatesToHighWatermark",
        "a new follower cuts its log at its own high watermark",
        "KIP-101, 0.11; `ReplicaManager.makeFollowers` (0.8.2.2)",
        _until("0.8.2.2"),
    ),
    Constant(
        "AnswersEpochsCoarsely",
        "the answer to OffsetsForLeaderEpoch has an offset and no epoch",
        "KIP-279 (KAFKA-6361), 2.0; `LeaderEpochFileCache.endOffsetFor` (1.1.1, 2.3.1)",
        _until("1.1.1"),
    ),
    Constant(
        "FetchesUnfenced",
        "fetches carry no leader epoch",
        "KIP-320 (KAFKA-7395), 2.1; `Partition.checkCurrentLeaderEpoch` (2.3.1)",
        _until("1.1.1"),
    ),
    Constant(
        "SessionsForgetEpoch",
        "a fetch session keeps no epoch, so a partition that did not change is fetched without one",
        "KAFKA-9338, 2.5; `CachedPartition.reqData` in FetchSession.scala (2.3.1, 2.4.1, 2.5.0)",
        _until("2.4.1", "2.3.1"),
    ),
    Constant(
        "JoinsBelowEpochStart",
        "a follower joins the ISR at the high watermark, before it has what the epoch started with",
        "KAFKA-7128, 2.0.1; `Partition.maybeExpandIsr` (1.1.1, 2.3.1)",
        _until("1.1.1"),
    ),
    Constant(
        "WritesUnfenced",
        "a controller writes to ZooKeeper without checking the version of /controller_epoch",
        "KAFKA-6082, 2.1; `KafkaZkClient.updateLeaderAndIsr` (1.1.1, 2.3.1)",
        _until("1.1.1"),
    ),
    Constant(
        "CachedLeadershipStale",
        "the controller's cache misses the leader epoch that a move raised",
        "KAFKA-9212, 2.4.0; `KafkaController.updateLeaderEpoch` (0.8.2.2, 1.1.1, 2.3.1, 2.4.1)",
        _until("2.3.1", "0.8.2.2"),
    ),
    Constant(
        "DeletesMoveUnread",
        "a new controller that found no move deletes the znode of moves, also one that came later",
        "no ticket; `KafkaController.removePartitionsFromReassignedPartitions` with no partition (2.3.1), "
        "not so in 1.1.1 and 2.4.1",
        ("2.3.1",),
    ),
    Constant(
        "CommitsOverAssigned",
        "the high watermark leaves out ISR members that are not in the list of the leader's last request",
        "KAFKA-4485, 0.10.2, brought it; `Partition.maybeIncrementLeaderHW` "
        "(0.8.2.2, 1.1.1, 2.3.1, 2.4.1, 2.7.2, 3.9.0)",
        _until("3.9.0", "1.1.1"),
    ),
    Constant(
        "JoinsUnassigned",
        "a leader takes a replica into the ISR, and a broker becomes one, that is not in the list",
        "KAFKA-1097, 0.8.1; `Partition.updateLeaderHWAndMaybeExpandIsr` (0.8.0, 0.8.2.2)",
        ("0.8.0",),
    ),
    Constant(
        "ElectsUnclean",
        "where no in-sync replica is alive any assigned one leads",
        "KAFKA-1028, 0.8.2, and the default of unclean.leader.election.enable; `OfflinePartitionLeaderSelector` "
        "(0.8.0, 0.8.2.2)",
        _until("0.8.2.2"),
    ),
    Constant(
        "FencedFetchFails",
        "a fenced fetch marks the partition failed until the next leader epoch",
        "KIP-461, 2.3, brought it; `AbstractFetcherThread.onPartitionFenced` (2.3.1, 2.7.2)",
        _until("3.9.0", "2.3.1"),
    ),
    Constant(
        "StopsUnfenced",
        "StopReplica carries no leader epoch",
        "KIP-570 (KAFKA-9539), 2.6; `ReplicaManager.stopReplicas` (2.3.1, 2.7.2)",
        _until("2.4.1"),
    ),
    Constant(
        "DeletesUnconfirmed",
        "a move goes on before replicas are known to be deleted",
        "no ticket; a comment in `KafkaController.stopOldReplicasOfReassignedPartition` says so (2.3.1)",
        RELEASES,
    ),
    Constant(
        "ShrinksCaughtUp",
        "who has everything leaves the ISR too, where it does not fetch",
        "KAFKA-7152, 2.1; `Partition.getOutOfSyncReplicas` (0.8.2.2, 1.1.1, 2.1.1)",
        _until("1.1.1"),
    ),
    Constant(
        "EntersEpochWithRecord",
        "a leader enters its epoch into the cache with its first record, and not as it starts",
        "KAFKA-7415, 2.0.1; `LeaderEpochFileCache.endOffsetFor` (1.1.1), `Partition.makeLeader` (2.3.1)",
        ("1.1.1",),
    ),
    Constant(
        "RefusesStopInOwnEpoch",
        "a StopReplica in the leader epoch that the broker knows is refused",
        "KIP-570, 2.6, brought it; KAFKA-13972, 3.4.1; `ReplicaManager.stopReplicas` (2.6.0, 2.7.2, 3.6.0)",
        ("2.6.0", "2.7.2"),
    ),
    Constant(
        "ForgetsOwnIsrWrite",
        "where ZooKeeper's answer to an ISR write is lost the old version stays cached",
        "KAFKA-1382, 0.8.2; `Partition.updateIsr` (0.8.0), `ReplicationUtils.checkLeaderAndIsrZkData` (0.8.2.2)",
        ("0.8.0",),
    ),
    Constant(
        "IsrByController",
        "the controller writes the ISR for the leader",
        "KIP-497, 2.7; `Partition.sendAlterIsrRequest` (2.7.2)",
        _until("3.9.0", "2.7.2"),
    ),
)


def true_in(release: str) -> frozenset[str]:
    """The names of the constants that are TRUE in a release; none of them as it was ``meant``.

    Raises: LookupError for a release that was not read.
    """
    if release not in (*RELEASES, MEANT):
        raise LookupError(f"no release {release}; there are {', '.join((*RELEASES, MEANT))}")
    return frozenset(constant.name for constant in CONSTANTS if release in constant.releases)


def release_of(profile_release: str) -> str:
    """The release whose constants hold for a profile's: the last of ``RELEASES`` that is not after it."""
    return max((one for one in RELEASES if _numbers(one) <= _numbers(profile_release)), key=_numbers)


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))

"""Bugs of fetcher threads: what one failure takes with it."""

from attrs import evolve

from fetchers.failures import KIP_461, STORAGE_TOLERATED, Verdict
from fetchers.truncation import Kip279
from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KIP-461",
        title="an error in one partition ends the fetcher thread of many",
        affected="up to 2.2; fixed in 2.3.0",
        happened="An append or a truncation that failed in one partition ended the thread. All partitions that it "
        "fetched fell out of their ISRs, and nothing showed why but a line in the log; only a restart of the broker "
        "helped (KAFKA-8346).",
        here="An unforeseen error ends the thread. Its manager does not notice, and gives it new partitions.",
        checker="followed_in_time",
        also=("converged",),
        policies={"fetchers.failures": STORAGE_TOLERATED},
        source="KIP-461; AbstractFetcherThread, 2.2.0 and 2.3.0",
    ),
    Bug(
        ticket="KAFKA-5864",
        title="a replica in a log directory that is offline ends the fetcher thread",
        affected="0.11.1 before its release; fixed in 1.0.0",
        happened="With KIP-112 a broker goes on when one of its log directories has failed. A fetcher thread that "
        "came upon a replica there ended, and the replicas in the directories that were well were not fetched any "
        "more.",
        here="A storage error in one partition ends the thread.",
        checker="converged",
        also=("followed_in_time",),
        policies={"fetchers.failures": evolve(KIP_461, storage=Verdict.DIE)},
        source="ReplicaFetcherThread, d7c39daddee^ and 1.0.0",
    ),
    Bug(
        ticket="KAFKA-4384",
        title="a damaged batch ends the fetcher thread",
        affected="0.9 to 0.10.1.0; fixed in 0.10.1.1",
        happened="A follower moved its fetch offset before it looked at the batch. After a damaged one the next batch "
        "did not follow the log, which was a fatal error: the thread ended, and all its partitions fell out of their "
        "ISRs. Met at Airbnb.",
        here="A damaged batch ends the thread, where since the fix its partition is tried again.",
        checker="converged",
        also=("followed_in_time",),
        policies={"fetchers.failures": evolve(KIP_461, corrupt=Verdict.DIE)},
        trigger="a batch that is damaged on the leader's disk before a follower has fetched it, and a leader that"
        " restarts before that follower",
        source="AbstractFetcherThread.processFetchRequest, 0.10.1.0 and 0.10.1.1",
    ),
    Bug(
        ticket="KAFKA-7786",
        title="a follower takes the answer to an earlier question for that to the present one",
        affected="2.1.0; fixed in 2.1.1",
        happened="A follower asks its leader where an epoch ends. If both got a new leader epoch before the question "
        "was answered, the answer was FENCED_LEADER_EPOCH; the follower, which was in the new epoch by then, took "
        "that to be about itself, and did not fetch the partition until the next election.",
        here="The answer to a question of an earlier leader epoch counts for the new one.",
        checker="converged",
        policies={"fetchers.truncation": Kip279(takes_late_answers=True)},
        source="AbstractFetcherThread.maybeTruncate, 2.1.0 and 2.1.1",
    ),
    Bug(
        ticket="KAFKA-7414",
        title="a follower whose log is longer than its leader's ends its broker",
        affected="up to 2.0.0; fixed in 2.0.1 and 2.1.0",
        happened="An offset that is out of the leader's range, where unclean elections are disabled, was taken to be "
        "impossible: the follower ended its broker so as not to lose records. It was possible, for example after a "
        "leader had lost records with its machine, and the broker ended again after each restart.",
        here="A follower in that position halts its broker.",
        checker="converged",
        policies={"fetchers.out_of_range_halts": True},
        source="ReplicaFetcherThread.handleOffsetOutOfRange, 2.0.0; fetchOffsetAndTruncate, 2.1.0",
    ),
    Bug(
        ticket="KAFKA-8012",
        title="a partition that is taken from a fetcher thread while it truncates ends the thread",
        affected="2.1.0; fixed in 2.1.1 and 2.2.0",
        happened="A thread first asks its leader about the logs that have epochs, and then cuts the others at their "
        "high watermarks. If one of those was taken away while it asked, it found no state and ended with a "
        "NullPointerException, with all its other partitions.",
        here="A partition without epochs that is gone after the answer ends the thread.",
        checker="converged",
        also=("followed_in_time",),
        policies={"fetchers.ends_without_partition": True},
        trigger="a partition without records that is moved away while its fetcher thread waits for an answer "
        "about another one",
        source="AbstractFetcherThread.truncateToHighWatermark, 2.1.0 and 2.1.1",
    ),
    Bug(
        ticket="KAFKA-5758",
        title="one partition that was moved away stops the replication of all others",
        affected="0.8.1 to 0.11.0; fixed in 1.0.0",
        happened="A broker that had missed that a replica was moved away went on fetching it. The leader, which did "
        "not count it any more, failed its whole fetch: the other partitions between the two brokers were not "
        "replicated either, and left their ISRs.",
        here="A fetch that names a partition of which its sender is not a replica is answered with errors for all "
        "partitions.",
        checker="converged",
        policies={"brokers.refuses_with_strangers": True},
        trigger="a StopReplica that is lost with its controller",
        source="Partition.updateReplicaLogReadResult and ReplicaManager.fetchMessages, 0.11.0.0 and 1.0.0",
    ),
)

"""Bugs of what brokers show of themselves."""

from brokers.under_replication import AllAssigned
from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KIP-352",
        title="a partition that is being moved counts as under-replicated",
        affected="up to 2.4; fixed in 2.5.0",
        happened="A move adds replicas to the assignment before they have anything. As UnderReplicatedPartitions "
        "compared the ISR with all that are assigned, every move set off the alarm that operators have for failed "
        "brokers, and while one went on a real failure was not noticed (KAFKA-8834).",
        here="The replicas that a move adds count like all others. The checker sees a gauge that is higher than the "
        "release means it to be.",
        checker="under_replicated_true",
        policies={"brokers.under_replication": AllAssigned()},
        source="KIP-352; Partition.isUnderReplicated, 2.4.1 and 2.5.0",
    ),
    Bug(
        ticket="KAFKA-7704",
        title="an idle follower shows the whole high watermark as its lag",
        affected="2.1.0; fixed in 2.1.1",
        happened="The lag was computed from the offset after the last record of the answer, which for an answer "
        "without records is 0. MaxLag of a cluster without traffic was as high as its longest log, and alerts fired.",
        here="An answer without records sets the lag to the leader's high watermark.",
        checker="lag_true",
        policies={"fetchers.empty_answer_lags": True},
        source="AbstractFetcherThread.processFetchRequest, 2.1.0 and 2.1.1",
    ),
)

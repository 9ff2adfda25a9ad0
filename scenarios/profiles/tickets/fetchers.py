"""Tickets of followers: truncation, the leader epochs by which they do it, and fetcher threads that fail."""

from attrs import evolve

from fetchers.failures import KIP_461, STORAGE_TOLERATED, Verdict
from fetchers.truncation import Kip101, Kip279, ToHighWatermark
from scenarios.profiles.profile import Difference
from scenarios.profiles.ticket import DIVERGENCES, LOSSES, Effect, Ticket

TICKETS = (
    Ticket(
        key="KIP-101",
        title="a follower truncates to its high watermark, and cuts off committed records that it has",
        last="0.10.2",
        until=("0.11.0",),
        happened="A follower learns with a later fetch that a record is committed. One that met a new leader before "
        "that cut the record off, to fetch it again; if that leader died first, the follower was elected without the "
        "record, which had been acknowledged to its producer as written to all replicas (KAFKA-1211).",
        here="A follower under a new leader epoch truncates to its own high watermark and asks no leader.",
        checker="no_acked_record_lost",
        also=("truncate_safety", "isr_complete", "leader_completeness", "log_matching"),
        policies={"fetchers.truncation": ToHighWatermark()},
        differences=(
            Difference(
                title="a follower under a new leader epoch truncates its log",
                here="to its high watermark, without a request to the leader",
            ),
        ),
        effects=(
            Effect(
                text="a follower under a new leader epoch cuts its log at its own high watermark, committed records "
                "included",
                checkers=(*LOSSES, *DIVERGENCES, "append_shape", "logs_reload"),
            ),
        ),
        source="KIP-101, scenario 1; ReplicaManager.makeFollowers, 0.10.2.1 and 0.11.0.0",
    ),
    Ticket(
        key="KAFKA-3919",
        title="after a power failure two replicas have different records at the same offsets",
        until=("0.11.0",),
        affected="up to 0.10.2; fixed in 0.11.0 by KIP-101",
        happened="A power failure took a part of a cluster down. The broker that came back first had lost records "
        "that it had not flushed; it led, and wrote others at their offsets. The next broker truncated to its high "
        "watermark, 2,228 records above the end of that leader's log, and went on fetching from there. Brokers could "
        "not start any more, since offsets in their logs went back (KIP-101's second scenario).",
        here="As in KIP-101: a follower truncates to its own high watermark, also where that is above the end of the "
        "leader's log.",
        checker="reads_consistent",
        also=("log_matching", "isr_complete", "leader_completeness"),
        policies={"fetchers.truncation": ToHighWatermark()},
        source="KIP-101, scenario 2; ReplicaManager.makeFollowers, 0.10.2.1 and 0.11.0.0",
    ),
    Ticket(
        key="KIP-279",
        title="after two changes of the leader in quick succession a follower truncates too little",
        since="0.11.0",
        last="1.1",
        until=("2.0.0",),
        happened="A leader that is asked about an epoch that it has never seen answers with the end of the one before "
        "it in its own log. The follower took that offset as it was, though it has other records below it: the two "
        "logs differed there for good, and no error told (KAFKA-6361).",
        here="The answer to where an epoch ends is an offset without its epoch, and the follower truncates to it. The "
        "checker sees a batch of an older epoch that follows one of a newer epoch.",
        checker="append_shape",
        also=("log_matching", "isr_complete", "isr_logs_identical", "logs_reload"),
        policies={"fetchers.truncation": Kip101(takes_late_answers=False), "brokers.answers_with_epoch": False},
        differences=(
            Difference(
                title="the answer to OffsetsForLeaderEpoch holds",
                before="an end offset and the epoch that it belongs to",
                here="an end offset alone; none for an epoch before all known ones",
                policies={"brokers.answers_with_epoch": False},
            ),
            Difference(
                title="a follower under a new leader epoch truncates its log",
                before="to where leader and follower agree, asking about ever earlier epochs",
                here="to where the leader says that the follower's latest epoch ends, after one request",
                policies={"fetchers.truncation": Kip101()},
            ),
        ),
        effects=(
            Effect(
                text="a follower truncates to where the leader says that an epoch ends which the leader never had, "
                "or which it has deleted: too little, or too much",
                checkers=(*LOSSES, *DIVERGENCES, "append_shape", "logs_reload"),
            ),
        ),
        witness="KIP-279",
        rule=lambda policies: (
            isinstance(policies.fetchers.truncation, Kip101) and not policies.brokers.answers_with_epoch
        ),
        source="KIP-279; LeaderEpochFileCache.endOffsetFor and ReplicaFetcherThread.maybeTruncate, 1.1.1 and 2.0.0",
    ),
    Ticket(
        key="KAFKA-7164",
        title="a follower that missed an election does not truncate when its old leader leads again",
        last="2.0.0",
        until=("2.0.1", "2.1.0"),
        happened="A LeaderAndIsr with the leader that the follower had already was taken for no change, and the "
        "fetcher went on where it was. If the follower had missed the leader in between, it kept records that its "
        "leader had cut off meanwhile. Found by review.",
        here="A LeaderAndIsr that names the leader of before leaves the fetcher alone. Fetches name no epochs, as in "
        "2.0: since KIP-320 the leader would refuse them.",
        checker="isr_logs_identical",
        also=("isr_complete", "log_matching", "fetchers_fit"),
        policies={"brokers.restarts_every_fetcher": False, "brokers.checks_epochs": False},
        source="Partition.makeFollower and ReplicaManager.makeFollowers, 2.0.0 and 2.0.1",
    ),
    Ticket(
        key="KAFKA-7415",
        title="a leader that has written nothing does not know its own epoch",
        last="2.0.0",
        until=("2.0.1", "2.1.0"),
        happened="An epoch was noted with its first record. A leader without one did not know any epoch as late as "
        "that of a follower which had led in between, and had no answer for it; such a follower fell back to its high "
        "watermark, which KIP-101 had been made to avoid. Found by review of the protocol.",
        here="A new leader notes no epoch before its first record.",
        checker="truncate_safety",
        policies={"brokers.begins_epoch_at_election": False},
        source="Partition.makeLeader and LeaderEpochFileCache, 2.0.0 and 2.0.1",
    ),
    Ticket(
        key="KAFKA-9491",
        title="a follower that starts over at its leader's start keeps a high watermark from before it",
        since="2.4.0",
        last="2.4.0",
        until=("2.4.1",),
        happened="A follower that has less than its leader still has drops its log and begins at the leader's start. "
        "Its high watermark stayed below that, until the leader's next answer; one that was elected first answered "
        "every fetch with an error, since it could not find its high watermark in its log.",
        here="The high watermark stays where it was when a log begins again at a later offset.",
        checker="offset_bounds",
        policies={"brokers.start_raises_high_watermark": False},
        source="Log.truncateFullyAndStartAt, 2.4.0 and 2.4.1",
    ),
    Ticket(
        key="KAFKA-14704",
        title="a follower takes over a high watermark that covers what it has to truncate",
        since="2.7",
        last="3.4",
        until=("3.5.0", "3.4.1"),
        happened="With truncation on fetch (KIP-595) the answer that tells a follower to truncate has the leader's "
        "high watermark too. The follower took that over before it truncated, so that it counted records as committed "
        "that were not, and its high watermark went back at once. Consumers that read from followers could read them.",
        here="The follower takes over the high watermark of such an answer, and truncates then.",
        checker="log_matching",
        policies={"fetchers.learns_before_truncating": True},
        source="AbstractFetcherThread.processFetchRequest, 3.4.0 and 3.5.0",
    ),
    Ticket(
        key="KAFKA-15080",
        title="a throttle holds back a follower that has everything, as long as its partition is idle",
        since="2.5.0",
        last="3.5.0",
        until=("3.5.1", "3.6.0"),
        happened="A throttle spares followers that do not lag. A fetcher learned its lag with the first records that "
        "it fetched, so that of a partition to which nobody wrote it did not know that it had everything, and fetched "
        "it as seldom as what it copied. The first records that were written then waited for the quota, and with them "
        "their producers. Found by review.",
        here="A follower counts as behind until it has fetched records. The gauge of its lag shows 0 all the same, as "
        "in Kafka. The checker sees that it leaves out of its fetches what it has.",
        checker="in_sync_fetched",
        policies={"fetchers.idle_lag_unknown": True},
        differences=(
            Difference(
                title="a throttle of followers holds back",
                before="those that lag, or have no answer yet",
                here="those that lag, or have fetched no records since their fetcher began, though they have "
                "everything",
            ),
        ),
        effects=(Effect(checkers=("in_sync_fetched",)),),
        witness="KAFKA-15080",
        trigger="a throttle, and an idle partition among those that are limited",
        source="AbstractFetcherThread.processFetchRequest, 2.5.0, 3.5.0 and 3.5.1",
    ),
    Ticket(
        key="KAFKA-10706",
        title="a follower cannot forget an epoch in which it led and wrote nothing",
        last="2.6.0",
        until=("2.6.1", "2.7.0"),
        happened="A truncation to the end of the log did nothing. An epoch that a former leader had noted there "
        "stayed, and the leader that it asked about it knew only an earlier one: truncate to the end again. The "
        "follower asked for ever and never fetched.",
        here="A truncation to the end of the log leaves the epochs alone.",
        checker="converged",
        policies={"brokers.log_rules.cleans_epochs_at_end": False},
        trigger="a leader with records that the next one lacks, and an election back to it before the next one "
        "has written",
        source="Log.truncateTo, 2.6.0 and 2.6.1",
    ),
    Ticket(
        key="KAFKA-2143",
        title="a follower drops its log because its leader has caught up with it",
        last="0.9",
        until=("0.10.0", "0.9.0.1"),
        happened="A follower that is ahead of its leader is refused (OFFSET_OUT_OF_RANGE) and asks where the leader's "
        "log ends. If the leader had caught up by then, the follower took itself to be far behind: it dropped its log "
        "and copied everything again. Users saw replicas start over at offset 0 whenever leaders were changed.",
        here="A follower whose log is no longer than the leader's, when it asks after a refused fetch, drops its log "
        "and begins at the leader's start.",
        checker="truncate_safety",
        policies={"fetchers.out_of_range_drops_log": True},
        differences=(
            Difference(
                title="a follower that gets OFFSET_OUT_OF_RANGE, and then finds the leader's log longer than its own,",
                before="keeps its log",
                here="drops its log and begins at the leader's start",
            ),
        ),
        trigger="a follower that is ahead of a leader that does not fence it, for a moment",
        source="ReplicaFetcherThread.handleOffsetOutOfRange, 0.9.0.0 and 0.10.0.0",
    ),
    Ticket(
        key="KAFKA-13207",
        title="a leader truncates its log, as it should have done as a follower",
        since="2.7.0",
        last="2.8.0",
        until=("2.8.1", "3.0.0"),
        happened="A follower learns from the answer to a fetch where the two logs diverge, and truncates once it has "
        "the lock of its fetcher's partitions. A partition that was taken from the fetcher meanwhile was truncated "
        "all the same, though it may lead by then.",
        here="A thread waits 20 ms before it truncates, and truncates partitions that it does not fetch any more.",
        checker="truncate_safety",
        policies={"fetchers.truncates_late_us": 20_000},
        trigger="an election at the very answer that says where to truncate",
        source="AbstractFetcherThread.truncateOnFetchResponse, 2.8.0 and 2.8.1",
    ),
    Ticket(
        key="KIP-461",
        title="an error in one partition ends the fetcher thread of many",
        last="2.2",
        until=("2.3.0",),
        happened="An append or a truncation that failed in one partition ended the thread. All partitions that it "
        "fetched fell out of their ISRs, and nothing showed why but a line in the log; only a restart of the broker "
        "helped (KAFKA-8346).",
        here="An unforeseen error ends the thread. Its manager does not notice, and gives it new partitions.",
        checker="followed_in_time",
        also=("converged",),
        policies={"fetchers.failures": STORAGE_TOLERATED},
        differences=(
            Difference(
                title="after an error, a partition's fetcher",
                before="fails the partition and goes on with the others",
                here="tries again if the disk refused; any other error ends the thread, and nothing reports it",
            ),
        ),
        effects=(
            Effect(
                text="an error on one partition, such as a batch that begins before the end of the log, ends its "
                "fetcher's thread",
                checkers=("converged",),
                parts=("FETCHED", "IN_SYNC"),
            ),
            Effect(
                text="a move waits for replicas whose fetcher's thread has died",
                checkers=("converged",),
                parts=("NOTHING_ASKED",),
            ),
        ),
        rule=lambda policies: policies.fetchers.failures.unexpected is Verdict.DIE,
        source="KIP-461; AbstractFetcherThread, 2.2.0 and 2.3.0",
    ),
    Ticket(
        key="KAFKA-5864",
        title="a replica in a log directory that is offline ends the fetcher thread",
        until=("1.0.0",),
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
    Ticket(
        key="KAFKA-4384",
        title="a damaged batch ends the fetcher thread",
        since="0.9",
        last="0.10.1.0",
        until=("0.10.1.1",),
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
    Ticket(
        key="KAFKA-7786",
        title="a follower applies the response to a request of an earlier leader epoch",
        since="2.1.0",
        last="2.1.0",
        until=("2.1.1",),
        happened="A follower asks its leader where an epoch ends (OffsetsForLeaderEpoch). If both got a new leader "
        "epoch before the response, the response was FENCED_LEADER_EPOCH. It was about the request's old epoch, but "
        "the follower took it for an error of its new epoch, and did not fetch the partition until the next election.",
        here="A follower applies a response to OffsetsForLeaderEpoch that it asked for in an earlier leader epoch.",
        checker="converged",
        policies={"fetchers.truncation": Kip279(takes_late_answers=True)},
        source="AbstractFetcherThread.maybeTruncate, 2.1.0 and 2.1.1",
    ),
    Ticket(
        key="KAFKA-7414",
        title="a follower whose log is longer than its leader's ends its broker",
        last="2.0.0",
        until=("2.0.1", "2.1.0"),
        happened="An offset that is out of the leader's range, where unclean elections are disabled, was taken to be "
        "impossible: the follower ended its broker so as not to lose records. It was possible, for example after a "
        "leader had lost records with its machine, and the broker ended again after each restart.",
        here="A follower in that position halts its broker.",
        checker="converged",
        policies={"fetchers.out_of_range_halts": True},
        source="ReplicaFetcherThread.handleOffsetOutOfRange, 2.0.0; fetchOffsetAndTruncate, 2.1.0",
    ),
    Ticket(
        key="KAFKA-8012",
        title="a partition that is taken from a fetcher thread while it truncates ends the thread",
        since="2.1.0",
        last="2.1.0",
        until=("2.1.1", "2.2.0"),
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
    Ticket(
        key="KIP-74",
        title="a follower gets nothing at a message that is larger than its replica.fetch.max.bytes, and stays there",
        last="0.10.0",
        until=("0.10.1",),
        policies={"brokers.sends_first_batch": False},
        differences=(
            Difference(
                title="a fetch at a message that is larger than its limit gets",
                before="the message's batch",
                here="no records, as long as the limit is below it",
            ),
        ),
        effects=(
            Effect(
                text="a replica in the ISR does not get what is from a message on that is larger than its limit",
                checkers=("isr_logs_identical", "converged"),
            ),
            Effect(
                text="a replica that stays before a message that is larger than its limit does not join the ISR",
                checkers=("converged",),
                parts=("IN_SYNC",),
            ),
            Effect(
                text="a replica that stays before a message that is larger than its limit leaves the ISR",
                checkers=("idle_changes_nothing",),
            ),
        ),
        witness="KIP-74",
        source="FileMessageSet.read and ReplicaFetcherThread.warnIfMessageOversized, 0.9.0 to 0.10.1",
    ),
    Ticket(
        key="KAFKA-5758",
        title="one partition that was moved away stops the replication of all others",
        since="0.8.1",
        last="0.11.0",
        until=("1.0.0",),
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
    Ticket(
        key="LeaderEpochFileCache.truncateFromEnd (2.3.1 to 2.7.2)",
        title="a replica whose log retention has emptied knows no epoch after a restart: it goes on from where it "
        "was, though its new leader has less, and does not get what that leader writes in between",
        since="0.11.0.0",
        effects=(Effect(checkers=(*LOSSES, *DIVERGENCES)),),
    ),
    Ticket(
        key="LeaderEpochFileCache.endOffsetFor (2.3.1 to 2.7.2)",
        title="a follower whose log ends where its leader's begins joins the ISR with what it has before, also where "
        "that differs from what was deleted, and drops it with the next answer: if it leads before, it is read",
        since="2.0.0",
        effects=(Effect(checkers=("reads_consistent",)),),
    ),
    Ticket(
        key="Log.truncateTo (0.8.0 to 2.7.2)",
        title="a replica that is truncated to before the start of its log is emptied and goes on from there: it does "
        "not get what its leader has before that",
        effects=(Effect(checkers=(*LOSSES, *DIVERGENCES)),),
    ),
    Ticket(
        key="FetchSessionHandler.build (1.1.0 to 2.7.2)",
        title="a follower whose fetcher gets the partition again ignores the answer that is under way; the session "
        "takes the high watermark in it for known, and does not repeat it while nothing is written",
        since="1.1.0",
        effects=(
            Effect(checkers=("converged",), parts=("COMMITTED",), until="2.5.0"),
            Effect(
                text="the same, of an answer that was sent in the leader epoch before",
                checkers=("converged",),
                parts=("COMMITTED",),
                since="2.5.0",
                until="2.7.0",
            ),
            Effect(
                text="a change of num.replica.fetchers gives a partition back to the thread that it had; that "
                "ignores the answer which is under way, and the session takes the high watermark in it for known",
                checkers=("converged",),
                parts=("COMMITTED",),
                until="2.7.0",
            ),
        ),
    ),
    Ticket(
        key="DelayedItem.getDelay (0.8.0 to 3.9.0)",
        title="a fetcher's back-off ends by the wall clock: where that has been set back, a partition is not fetched "
        "for as long as it was ahead",
        witness="DelayedItem.getDelay",
        effects=(Effect(checkers=("followed_in_time", "converged"), parts=("IN_SYNC",)),),
    ),
)

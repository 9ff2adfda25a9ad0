"""Bugs of followers that truncate their logs, and of the leader epochs by which they do."""

from fetchers.truncation import Kip101, ToHighWatermark
from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KIP-101",
        title="a follower truncates to its high watermark, and cuts off committed records that it has",
        affected="up to 0.10.2; fixed in 0.11.0",
        happened="A follower learns with a later fetch that a record is committed. One that met a new leader before "
        "that cut the record off, to fetch it again; if that leader died first, the follower was elected without the "
        "record, which had been acknowledged to its producer as written to all replicas (KAFKA-1211).",
        here="A follower under a new leader epoch truncates to its own high watermark and asks no leader.",
        checker="no_acked_record_lost",
        also=("truncate_safety", "isr_complete", "leader_completeness", "log_matching"),
        policies={"fetchers.truncation": ToHighWatermark()},
        source="KIP-101, scenario 1; ReplicaManager.makeFollowers, 0.10.2.1 and 0.11.0.0",
    ),
    Bug(
        ticket="KAFKA-3919",
        title="after a power failure two replicas have different records at the same offsets",
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
    Bug(
        ticket="KIP-279",
        title="after two changes of the leader in quick succession a follower truncates too little",
        affected="0.11.0 to 1.1; fixed in 2.0.0",
        happened="A leader that is asked about an epoch that it has never seen answers with the end of the one before "
        "it in its own log. The follower took that offset as it was, though it has other records below it: the two "
        "logs differed there for good, and no error told (KAFKA-6361).",
        here="The answer to where an epoch ends is an offset without its epoch, and the follower truncates to it. The "
        "checker sees a batch of an older epoch that follows one of a newer epoch.",
        checker="append_shape",
        also=("log_matching", "isr_complete", "isr_logs_identical"),
        policies={"fetchers.truncation": Kip101(takes_late_answers=False), "brokers.answers_with_epoch": False},
        source="KIP-279; LeaderEpochFileCache.endOffsetFor and ReplicaFetcherThread.maybeTruncate, 1.1.1 and 2.0.0",
    ),
    Bug(
        ticket="KAFKA-7164",
        title="a follower that missed an election does not truncate when its old leader leads again",
        affected="up to 2.0.0; fixed in 2.0.1 and 2.1.0",
        happened="A LeaderAndIsr with the leader that the follower had already was taken for no change, and the "
        "fetcher went on where it was. If the follower had missed the leader in between, it kept records that its "
        "leader had cut off meanwhile. Found by review.",
        here="A LeaderAndIsr that names the leader of before leaves the fetcher alone. Fetches name no epochs, as in "
        "2.0: since KIP-320 the leader would refuse them.",
        checker="isr_logs_identical",
        also=("isr_complete", "log_matching"),
        policies={"brokers.restarts_every_fetcher": False, "brokers.checks_epochs": False},
        source="Partition.makeFollower and ReplicaManager.makeFollowers, 2.0.0 and 2.0.1",
    ),
    Bug(
        ticket="KAFKA-7415",
        title="a leader that has written nothing does not know its own epoch",
        affected="up to 2.0.0; fixed in 2.0.1 and 2.1.0",
        happened="An epoch was noted with its first record. A leader without one did not know any epoch as late as "
        "that of a follower which had led in between, and had no answer for it; such a follower fell back to its high "
        "watermark, which KIP-101 had been made to avoid. Found by review of the protocol.",
        here="A new leader notes no epoch before its first record.",
        checker="truncate_safety",
        policies={"brokers.begins_epoch_at_election": False},
        source="Partition.makeLeader and LeaderEpochFileCache, 2.0.0 and 2.0.1",
    ),
    Bug(
        ticket="KAFKA-9491",
        title="a follower that starts over at its leader's start keeps a high watermark from before it",
        affected="2.4.0; fixed in 2.4.1",
        happened="A follower that has less than its leader still has drops its log and begins at the leader's start. "
        "Its high watermark stayed below that, until the leader's next answer; one that was elected first answered "
        "every fetch with an error, since it could not find its high watermark in its log.",
        here="The high watermark stays where it was when a log begins again at a later offset.",
        checker="offset_bounds",
        policies={"brokers.start_raises_high_watermark": False},
        source="Log.truncateFullyAndStartAt, 2.4.0 and 2.4.1",
    ),
    Bug(
        ticket="KAFKA-14704",
        title="a follower takes over a high watermark that covers what it has to truncate",
        affected="2.7 to 3.4; fixed in 3.5.0 and 3.4.1",
        happened="With truncation on fetch (KIP-595) the answer that tells a follower to truncate has the leader's "
        "high watermark too. The follower took that over before it truncated, so that it counted records as committed "
        "that were not, and its high watermark went back at once. Consumers that read from followers could read them.",
        here="The follower takes over the high watermark of such an answer, and truncates then.",
        checker="log_matching",
        policies={"fetchers.learns_before_truncating": True},
        source="AbstractFetcherThread.processFetchRequest, 3.4.0 and 3.5.0",
    ),
    Bug(
        ticket="KAFKA-10706",
        title="a follower cannot forget an epoch in which it led and wrote nothing",
        affected="up to 2.6.0; fixed in 2.6.1 and 2.7.0",
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
    Bug(
        ticket="KAFKA-2143",
        title="a follower drops its log because its leader has caught up with it",
        affected="up to 0.9; fixed in 0.10.0 and 0.9.0.1",
        happened="A follower that is ahead of its leader is refused (OFFSET_OUT_OF_RANGE) and asks where the leader's "
        "log ends. If the leader had caught up by then, the follower took itself to be far behind: it dropped its log "
        "and copied everything again. Users saw replicas start over at offset 0 whenever leaders were changed.",
        here="A follower whose log is no longer than the leader's, when it asks after a refused fetch, drops its log "
        "and begins at the leader's start.",
        checker="truncate_safety",
        policies={"fetchers.out_of_range_drops_log": True},
        trigger="a follower that is ahead of a leader that does not fence it, for a moment",
        source="ReplicaFetcherThread.handleOffsetOutOfRange, 0.9.0.0 and 0.10.0.0",
    ),
    Bug(
        ticket="KAFKA-13207",
        title="a leader truncates its log, as it should have done as a follower",
        affected="2.7.0 to 2.8.0; fixed in 2.8.1 and 3.0.0",
        happened="A follower learns from the answer to a fetch where the two logs diverge, and truncates once it has "
        "the lock of its fetcher's partitions. A partition that was taken from the fetcher meanwhile was truncated "
        "all the same, though it may lead by then.",
        here="A thread waits 20 ms before it truncates, and truncates partitions that it does not fetch any more.",
        checker="truncate_safety",
        policies={"fetchers.truncates_late_us": 20_000},
        trigger="an election at the very answer that says where to truncate",
        source="AbstractFetcherThread.truncateOnFetchResponse, 2.8.0 and 2.8.1",
    ),
)

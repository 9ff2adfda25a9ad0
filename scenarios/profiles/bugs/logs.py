"""Bugs of logs: what is deleted, what is found again after a crash, and what consumers may read."""

from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KAFKA-9835",
        title="a consumer reads beyond the high watermark",
        affected="up to 2.5; fixed in 2.6.0 and 2.5.1",
        happened="What a fetch may read ends at the high watermark, unless that is the end of the file: then it ends "
        "at the size of the file, which was looked up twice. A record that was appended in between went out to the "
        "consumer before any follower had it, and could be gone after the next election. Found as a test that failed "
        "now and then.",
        here="An answer that reaches the end of the log takes 5 ms to make, and takes along what is appended "
        "meanwhile.",
        checker="reads_committed",
        policies={"brokers.read_race_us": 5_000},
        source="FileRecords.slice, 2.5.0 and 2.6.0",
    ),
    Bug(
        ticket="KAFKA-5634",
        title="a leader deletes segments that reach beyond its high watermark",
        affected="up to 0.11.0.0; fixed in 0.11.0.1",
        happened="Retention looked at age and size alone. Where followers lagged, the start of the leader's log "
        "passed the high watermark; since 0.11 fetch responses carry that start, and followers and consumers met "
        "offsets that are out of range on both sides.",
        here="A leader deletes old segments whatever its high watermark is.",
        checker="high_watermark_monotone",
        also=("offset_bounds",),
        policies={"brokers.retention_stops_at_high_watermark": False},
        source="Log.deletableSegments, 0.11.0.0 and 0.11.0.1",
    ),
    Bug(
        ticket="KAFKA-10432",
        title="a log that is recovered after a crash comes back without leader epoch 0",
        affected="0.11 to 2.6.0; fixed in 2.6.1 and 2.7.0",
        happened="A recovery builds the cache of leader epochs again from the batches, but left out those of epoch 0, "
        "by which a log knows where the first leader's records end. A follower without an epoch truncates to its high "
        "watermark, which is the rule that KIP-101 replaced.",
        here="A log whose broker was not stopped in order is loaded without epoch 0.",
        checker="truncate_safety",
        policies={"brokers.log_rules.recovers_epoch_0": False},
        source="LogSegment.recover, 2.6.0 and 2.7.0",
    ),
    Bug(
        ticket="KAFKA-3978",
        title="a leader begins with the high watermark -1",
        affected="up to 1.0.1; fixed in 1.0.2 and 1.1.0",
        happened="A leader looks for its high watermark in its log. One that was read from an old checkpoint could "
        "lie before the first segment; then it became -1, was saved so, and the broker logged an error with each "
        "attempt to save or compare it. Seen in clusters while partitions were reassigned.",
        here="The high watermark of a checkpoint is not raised to the start of the log; a leader that does not find "
        "it in its log begins with -1.",
        checker="offset_bounds",
        also=("high_watermark_monotone",),
        policies={"brokers.bounds_high_watermark": False},
        source="Log.convertToOffsetMetadata and Replica.convertHWToLocalOffsetMetadata, 1.0.1 and 1.1.0",
    ),
    Bug(
        ticket="KAFKA-769",
        title="a broker that starts sets all its high watermarks to 0",
        affected="in 0.8.0 before its release; fixed in 0.8.0",
        happened="The high watermarks were written to the disk from the start of the broker on, before the first "
        "LeaderAndIsr had given it its replicas: the file lost all of them. Followers then truncated their logs to 0 "
        "and copied them again, and were without them if the leader died first.",
        here="A broker forgets the high watermarks on its disk when it starts. The case expects that nothing "
        "acknowledged with acks=1 is lost, which Kafka does not promise; without the bug nothing is.",
        checker="no_acks_1_record_lost",
        also=("truncate_safety", "isr_complete", "leader_completeness"),
        policies={"brokers.log_rules.keeps_high_watermarks": False},
        trigger="a follower that restarts in the ISR, under releases that truncate to the high watermark",
        source="ReplicaManager.startHighWaterMarksCheckPointThread, 144a0a2ac02^ and 0.8.0",
    ),
    Bug(
        ticket="KIP-98",
        title="a batch that is sent again is written again",
        affected="up to 0.10.2; fixed in 0.11.0",
        happened="A producer whose request was not answered cannot know whether it took effect. It sent the batch "
        "again, and the leader could not tell the second one from a new one: everyone who set retries got messages "
        "twice now and then, and in another order where several requests were under way. Since KIP-98 a batch bears "
        "the id of its producer and a sequence number.",
        here="Leaders append what an idempotent producer sends, whatever its sequence number. The checker sees a batch "
        "that is committed twice.",
        checker="no_batch_twice",
        policies={"brokers.recognizes_repeats": False},
        source="KIP-98; ProducerStateManager and Log.analyzeAndValidateProducerState, 0.11.0.0",
    ),
    Bug(
        ticket="KAFKA-6003",
        title="a follower cannot append the batch of an idempotent producer that it does not know",
        affected="0.11.0.0 and 0.11.0.1; fixed in 0.11.0.2 and 1.0.0",
        happened="Followers checked the sequence numbers of idempotent producers as leaders do. A replica whose log "
        "begins later than its leader's, after retention, or from which a compaction has removed a batch, met a "
        "sequence number that did not follow: the append failed, and the fetcher thread ended.",
        here="A batch that is not its producer's first one is appended only to a log that knows the producer.",
        checker="converged",
        policies={"brokers.log_rules.checks_sequences": True},
        source="ProducerStateManager and Log.analyzeAndValidateProducerState, 0.11.0.1 and 0.11.0.2",
    ),
)

"""Tickets of brokers: changes of their role, settings, and logs that are deleted, recovered or read."""

from scenarios.profiles.profile import Difference
from scenarios.profiles.ticket import DIVERGENCES, LOSSES, Effect, Ticket

TICKETS = (
    Ticket(
        key="KAFKA-9769",
        title="a broker that failed to change its role refuses the request that would repair it",
        last="2.6",
        until=("2.7.0",),
        happened="A broker that becomes a follower reads the topic's settings from ZooKeeper. Where that failed, the "
        "new leader epoch was noted already: the same LeaderAndIsr was refused as old when it came again, for example "
        "from a new controller, and the replica was not fetched until the next election.",
        here="A change of role that a scenario makes fail leaves its leader epoch behind.",
        checker="converged",
        policies={"brokers.epoch_follows_role": False},
        trigger="a change of role that fails (broker.fail_start_replica), and no election afterwards",
        source="Partition.makeFollower, 2.6.0 and 2.7.0",
    ),
    Ticket(
        key="KAFKA-9839",
        title="a broker refuses requests that carry a newer broker epoch than it knows",
        since="2.2",
        last="2.5.0",
        until=("2.5.1",),
        happened="The controller learns of a broker's registration by a watch, and may do so before the broker has "
        "the answer. What it sent then was refused, with an error that it does not act on: the broker led and "
        "followed nothing, or what it had before, until the next change.",
        here="A request with a higher broker epoch than the broker's own fails and has no effect.",
        checker="converged",
        also=(
            "broker_epoch_fence",
            "metadata_kept",
            "broker_remembers",
        ),
        policies={"brokers.accepts_newer_broker_epoch": False},
        fixed={"brokers.accepts_newer_broker_epoch": True},
        differences=(
            Difference(
                title="a request with a later broker epoch than the broker knows",
                before="fails with UNKNOWN_SERVER_ERROR and has no effect",
                here="is accepted",
            ),
        ),
        trigger="the answer to a registration that is later than the controller",
        effects=(
            Effect(
                text="a broker that does not know its broker epoch yet refuses metadata, and then a leader that it "
                "takes for dead; a move may wait for it",
                checkers=("roles_adopted", "converged"),
                parts=("LED", "IN_SYNC", "FETCHED", "NOTHING_ASKED"),
            ),
            Effect(
                text="a broker that does not know its broker epoch yet refuses metadata, and is not sent all of it "
                "again",
                checkers=("metadata_kept",),
            ),
            Effect(
                text="a broker that does not know its broker epoch yet refuses to delete a replica, and is not asked "
                "again: the topic stays",
                checkers=("converged",),
                parts=("NOTHING_ASKED", "LED"),
            ),
            Effect(
                text="a broker that does not know its broker epoch yet refuses metadata, and goes on with the "
                "replicas, ISRs and live brokers from before",
                checkers=("broker_remembers",),
            ),
        ),
        source="KafkaApis.isBrokerEpochStale, 2.5.0 and 2.5.1",
    ),
    Ticket(
        key="KAFKA-1074",
        title="a replica that was moved away stays on the disk",
        since="0.8.0",
        last="0.8.0",
        until=("0.8.1",),
        happened="StopReplica did not delete logs yet. After a reassignment the old replicas stayed on the disks of "
        "their brokers, which it had often been meant to free.",
        here="StopReplica with deletion stops the replica and deletes nothing.",
        checker="converged",
        policies={"brokers.stop_deletes": False},
        source="ReplicaManager.stopReplica, 0.8.0 and 0.8.1",
    ),
    Ticket(
        key="KAFKA-9254",
        title="brokers forget the settings of topics when those of all brokers change twice",
        since="2.3.1",
        until=("2.4.1",),
        affected="2.3.1 and 2.4.0, among others; fixed in 2.4.1",
        happened="A dynamic change of the brokers' settings made new settings for each log, and left out which of "
        "them were the topic's own. The next change took the brokers' values for all: min.insync.replicas, retention "
        "and the like of every topic were those of the broker, until the broker was restarted.",
        here="The second change of the settings of all brokers drops the settings of topics.",
        checker="acks_all_in_sync",
        policies={"brokers.keeps_topic_settings": False},
        source="DynamicLogConfig.reconfigure, 2.4.0 and 2.4.1",
    ),
    Ticket(
        key="KAFKA-9654",
        title="a copy to another log directory fails for good when the leader epoch changes",
        since="1.1",
        last="2.4",
        until=("2.5.0",),
        happened="A copy between log directories names the leader epoch that it began under. After an election its "
        "own broker refused it, and the copy failed; the LeaderAndIsr that could have helped was over. Moves between "
        "disks stood still until the broker was restarted.",
        here="A LeaderAndIsr does not begin a copy again under the new epoch.",
        checker="converged",
        policies={"brokers.copies_follow_epochs": False},
        fixed={"brokers.copies_follow_epochs": True},
        effects=(Effect(checkers=("converged",), parts=("FETCHED",)),),
        differences=(
            Difference(
                title="when the leader epoch changes, a copy to another log directory",
                before="is refused by its own broker (FENCED_LEADER_EPOCH) and fails until the broker is restarted",
                here="goes on under the new epoch",
            ),
        ),
        trigger="a copy to another log directory that is still under way when the leader epoch changes",
        source="ReplicaManager.becomeLeaderOrFollower, 2.4.1 and 2.5.0",
    ),
    Ticket(
        key="KAFKA-8813",
        title="a setting that a topic gets as soon as it is created is lost",
        last="2.3",
        until=("2.4.0",),
        happened="A broker that opens a log reads the topic's settings first, and the log takes part in later changes "
        "once it is open. A change that came in between, as when a tool creates a topic and then sets its "
        "min.insync.replicas, was lost until the broker was restarted.",
        here="Opening a log takes 100 ms, in which changes of the topic's settings are lost.",
        checker="acks_all_in_sync",
        also=("broker_remembers",),
        policies={"brokers.misses_settings_us": 100_000},
        trigger="a higher min.insync.replicas within milliseconds of a topic's creation, and a minute later an "
        "ISR below it under acks=all",
        source="Partition.getOrCreateReplica, 2.3.1; Partition.createLog, 2.4.0",
    ),
    Ticket(
        key="KAFKA-9835",
        title="a consumer reads beyond the high watermark",
        last="2.5",
        until=("2.6.0", "2.5.1"),
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
    Ticket(
        key="KAFKA-5634",
        title="a leader deletes segments that reach beyond its high watermark",
        last="0.11.0.0",
        until=("0.11.0.1",),
        happened="Retention looked at age and size alone. Where followers lagged, the start of the leader's log "
        "passed the high watermark; since 0.11 fetch responses carry that start, and followers and consumers met "
        "offsets that are out of range on both sides.",
        here="A leader deletes old segments whatever its high watermark is.",
        checker="high_watermark_monotone",
        also=("offset_bounds",),
        policies={"brokers.retention_stops_at_high_watermark": False},
        source="Log.deletableSegments, 0.11.0.0 and 0.11.0.1",
    ),
    Ticket(
        key="KAFKA-13194",
        title="a log is compacted beyond its high watermark",
        last="3.0.2",
        until=("3.1.0",),
        happened="The log cleaner stopped at the first open transaction, and where there was none at the active "
        "segment, however far the followers were. A value that all replicas had went for a later one of its key that "
        "only the leader had. Where another leader cut that off, the key was gone.",
        here="The high watermark does not limit what is compacted.",
        checker="compaction_keeps",
        policies={"brokers.log_rules.compacts_stable": False},
        fixed={"brokers.log_rules.compacts_stable": True},
        effects=(Effect(checkers=("compaction_keeps",)),),
        differences=(
            Difference(
                title="a log is compacted",
                before="up to the first open transaction, even beyond the high watermark",
                here="up to the last stable offset at most",
            ),
        ),
        source="LogCleanerManager.cleanableOffsets, 3.0.2 and 3.1.2",
    ),
    Ticket(
        key="KAFKA-6975",
        title="a replica that begins in the middle of a batch cannot be filled",
        since="0.11",
        last="1.1.0",
        until=("1.0.2", "1.1.1", "2.0.0"),
        happened="Deleting records on request (KIP-107) may leave the start of a leader's log in the middle of a "
        "batch. A new replica, a copy in another log directory and a follower that was down meanwhile begin there, are "
        "sent the whole batch, and refused it, since its first offset is before the end of their log. The fetcher "
        "thread ended with it, and so did the replication of all its other partitions.",
        here="A follower whose log is empty, and ends within the first batch that it is sent, tries to append that.",
        checker="converged",
        policies={"brokers.log_rules.begins_within_batch": False},
        source="Log.append and Partition.appendRecordsToFollower, 1.1.0 and 1.1.1",
    ),
    Ticket(
        key="KAFKA-10432",
        title="a log that is recovered after a crash comes back without leader epoch 0",
        since="0.11",
        last="2.6.0",
        until=("2.6.1", "2.7.0"),
        happened="A recovery builds the cache of leader epochs again from the batches, but left out those of epoch 0, "
        "by which a log knows where the first leader's records end. A follower without an epoch truncates to its high "
        "watermark, which is the rule that KIP-101 replaced.",
        here="A log whose broker was not stopped in order is loaded without epoch 0.",
        checker="truncate_safety",
        also=("logs_reload",),
        policies={"brokers.log_rules.recovers_epoch_0": False},
        source="LogSegment.recover, 2.6.0 and 2.7.0",
    ),
    Ticket(
        key="KAFKA-3978",
        title="a leader begins with the high watermark -1",
        last="1.0.1",
        until=("1.0.2", "1.1.0"),
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
    Ticket(
        key="KAFKA-769",
        title="a broker that starts sets all its high watermarks to 0",
        until=("0.8.0",),
        affected="in 0.8.0 before its release; fixed in 0.8.0",
        happened="The high watermarks were written to the disk from the start of the broker on, before the first "
        "LeaderAndIsr had given it its replicas: the file lost all of them. Followers then truncated their logs to 0 "
        "and copied them again, and were without them if the leader died first.",
        here="A broker forgets the high watermarks on its disk when it starts. The case expects that nothing "
        "acknowledged with acks=1 is lost, which Kafka does not promise; without the bug nothing is.",
        checker="no_acks_1_record_lost",
        also=("truncate_safety", "isr_complete", "leader_completeness", "logs_reload"),
        policies={"brokers.log_rules.keeps_high_watermarks": False},
        trigger="a follower that restarts in the ISR, under releases that truncate to the high watermark",
        source="ReplicaManager.startHighWaterMarksCheckPointThread, 144a0a2ac02^ and 0.8.0",
    ),
    Ticket(
        key="KIP-98",
        title="a batch that is sent again is written again",
        last="0.10.2",
        until=("0.11.0",),
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
    Ticket(
        key="KAFKA-6003",
        title="a follower cannot append the batch of an idempotent producer that it does not know",
        since="0.11.0.0",
        until=("0.11.0.2", "1.0.0"),
        affected="0.11.0.0 and 0.11.0.1; fixed in 0.11.0.2 and 1.0.0",
        happened="Followers checked the sequence numbers of idempotent producers as leaders do. A replica whose log "
        "begins later than its leader's, after retention, or from which a compaction has removed a batch, met a "
        "sequence number that did not follow: the append failed, and the fetcher thread ended.",
        here="A batch that is not its producer's first one is appended only to a log that knows the producer.",
        checker="converged",
        policies={"brokers.log_rules.checks_sequences": True},
        source="ProducerStateManager and Log.analyzeAndValidateProducerState, 0.11.0.1 and 0.11.0.2",
    ),
    Ticket(
        key="KIP-966",
        title="a replica comes back into its ISR without what it had not flushed, or could not recover, before any "
        "controller has removed it",
        effects=(
            Effect(checkers=(*LOSSES, *DIVERGENCES, "append_shape", "logs_reload")),
            Effect(
                text="a leader that has crashed leads again in the leader epoch that it had, without what it had not "
                "flushed",
                checkers=(*LOSSES, *DIVERGENCES),
            ),
            Effect(
                text="a follower that is ahead of such a leader gives up with a batch that begins before its end, "
                "until the next leader epoch (KIP-461); a move may wait for it",
                checkers=("converged",),
                parts=("FETCHED", "IN_SYNC", "NOTHING_ASKED"),
            ),
            Effect(
                text="a transaction whose marker such a leader has lost stays open: its coordinator has it as over",
                checkers=("transactions_close",),
            ),
            Effect(
                text="a transaction coordinator whose log such a leader has cut gives a producer an epoch that it has "
                "given before: a partition takes the producer's first batch for a repetition of one that it has "
                "(ProducerStateEntry.findDuplicateBatch, 3.9.0)",
                checkers=("no_acked_record_lost",),
            ),
        ),
    ),
    Ticket(
        key="KIP-903",
        title="a fetch, or a change of an ISR, that is on its way adds a replica whose machine has crashed since, "
        "without what it had not flushed: nothing compares broker epochs, as only KRaft does from 3.5 on",
        effects=(Effect(checkers=(*LOSSES, *DIVERGENCES)),),
        source="KafkaController.processAlterIsr, 2.7.2; KafkaController.tryProcessAlterPartition, 3.9.0",
    ),
    Ticket(
        key="KAFKA-15608",
        title="a copy in another log directory has the epochs of its records only: a leader that has written nothing "
        "yet does not know where its epoch begins, and a follower that is ahead of it goes on with what it has",
        since="0.11.0.0",
        effects=(
            Effect(checkers=(*LOSSES, *DIVERGENCES)),
            Effect(
                text="a copy without records has no epochs: a leader that has it answers that what a follower "
                "fetches is out of range, and it begins again at the same offset, as long as nothing is written "
                "(Partition.readRecords, 2.7.2)",
                checkers=("converged",),
                parts=("IN_SYNC",),
                since="2.7.0",
            ),
        ),
    ),
    Ticket(
        key="KAFKA-9235",
        title="a transaction coordinator whose replica is removed goes on answering for its transactional ids",
        last="2.4.0",
        until=("2.4.1",),
        policies={"brokers.transactions.stop_resigns": False},
        fixed={"brokers.transactions.stop_resigns": True},
        differences=(
            Difference(
                title="a transaction coordinator whose replica of `__transaction_state` is removed",
                before="goes on answering for its ids, until it follows the new leader or leads again; what it writes "
                "is refused (NOT_COORDINATOR)",
                here="gives up its ids",
                source="KAFKA-9235, 2.4.1",
            ),
        ),
        effects=(
            Effect(checkers=("coordinators_lead", "coordinators_remember", "transactions_end", "requests_answered")),
        ),
        witness="KAFKA-9235",
        source="KafkaApis.handleStopReplicaRequest and TransactionCoordinator.handleTxnImmigration, 1.1.1 and 2.3.1; "
        "onResignation, 2.4.1",
    ),
    Ticket(
        key="KAFKA-9801",
        title="a static member that comes back while the leader assigns has a member id for which there is no "
        "assignment: the group waits until its leader assigns again, or for ever where its clients end before",
        until=("2.5.0",),
        effects=(Effect(checkers=("groups_settle",)),),
        witness="KAFKA-9801",
        source="GroupMetadataManager.storeGroup with setAndPropagateAssignment, and DelayedHeartbeat, 2.3.1",
    ),
    Ticket(
        key="TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue (0.11 to 3.9)",
        title="a coordinator that begins before its broker has received any partition takes those of a decided "
        "transaction for deleted: they get no marker, and the transaction stays open in their logs",
        since="0.11.0.0",
        effects=(
            Effect(
                checkers=("markers_decided", "transactions_close", "records_in_transactions", "converged"),
                parts=("READ",),
            ),
        ),
        witness="TransactionMarkerChannelManager",
        source="addTxnMarkersToBrokerQueue, 2.3.1 and 3.9.0",
    ),
    Ticket(
        key="KIP-360",
        title="a leader whose log began empty, after a producer's records that were deleted, takes any sequence "
        "number: a batch whose answer was lost is written again, and one that comes late is written after later ones",
        since="2.5.0",
        effects=(Effect(checkers=("no_batch_twice",)),),
    ),
    Ticket(
        key="ProducerAppendInfo.checkSequence (2.4.1)",
        title="a leader whose log began empty, after a producer's records that were deleted, takes its batches "
        "again: the producer begins with sequence number 0, as what it was answered for is deleted "
        "(TransactionManager.canRetry)",
        since="2.4.0",
        until=("2.5.0",),
        effects=(Effect(checkers=("no_batch_twice",)),),
    ),
    Ticket(
        key="KAFKA-7190",
        title="a leader forgets a producer with the last of its records that retention deletes (0.11.0 to 2.3.1); "
        "what the producer was answered for is deleted, and so it begins with sequence number 0 again and sends a "
        "batch whose answer was lost (TransactionManager.canRetry, 2.3.1)",
        until=("2.4.0",),
        policies={"brokers.log_rules.keeps_producers": False},
        fixed={"brokers.log_rules.keeps_producers": True},
        effects=(Effect(checkers=("no_batch_twice",)),),
    ),
    Ticket(
        key="GroupMetadata.removeOffsets (0.11 to 3.9)",
        title="a coordinator that removes the offset of a deleted topic forgets one that a transaction has written and "
        "not ended, and a first one that is being written; it stays in the log, and counts for the next coordinator, "
        "that of a transaction once it is committed",
        since="0.11.0.0",
        effects=(
            Effect(checkers=("coordinators_remember",)),
            Effect(
                text="a coordinator that removes the offset of a deleted topic forgets a first one that is being "
                "written, and then answers that it is committed",
                checkers=("offsets_read_back",),
            ),
        ),
        witness="GroupMetadata.removeOffsets",
        source="GroupMetadata.removeOffsets, onOffsetCommitAppend and completePendingTxnOffsetCommit, "
        "GroupMetadataManager.cleanupGroupMetadata and loadGroupsAndOffsets, 0.11.0.2, 1.1.1, 2.3.1, 2.7.0 and 3.9.0",
    ),
)

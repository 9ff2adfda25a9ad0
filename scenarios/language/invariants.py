"""The invariants that a scenario may expect by name; checkers of the same names watch every run."""

from __future__ import annotations

from collections.abc import Mapping

INVARIANTS: Mapping[str, str] = {
    "no_acked_record_lost": "a record acknowledged with acks=all is never gone from the committed log",
    "one_leader_per_epoch": "no two brokers lead one partition in the same leader epoch",
    "high_watermark_monotone": "on one broker and in one leader epoch the high watermark never goes back",
    "log_matching": "no two replicas of a partition differ below their high watermarks",
    "leader_completeness": "a leader that was elected cleanly has every committed record",
    "leader_in_isr": "the leader in ZooKeeper is in the ISR in ZooKeeper, which is never empty",
    "isr_complete": "every in-sync replica has every committed record",
    "offset_bounds": "a high watermark is never before its log's start nor behind its end",
    "truncate_safety": "an in-sync replica never cuts off what is committed",
    "append_shape": "logs have no holes and their epochs do not go back",
    "isr_logs_identical": "when nothing is left to do, in-sync replicas have the same log",
    "epochs_grow": "leader, controller and broker epochs never go back, and each new leader has a new one",
    "controller_fence": "a controller that was replaced changes nothing in ZooKeeper",
    "broker_epoch_fence": "a control request that was meant for an earlier life of a broker has no effect",
    "isr_write_conditional": "a leader's ISR is what it has written to ZooKeeper over the version it knew",
    "no_write_after_expiry": "a broker without a session writes nothing to ZooKeeper",
    "joins_caught_up": "who joins the ISR has reached the high watermark and the start of the leader's epoch",
    "expands_assigned": "nobody joins the ISR who is not assigned to the partition",
    "shrinks_overdue": "who is put out of the ISR is behind, and has been for too long",
    "fetch_fence": "a follower joins the ISR by a fetch under the leader's own epoch",
    "one_role": "a replica is led, fetched from one leader, or failed",
    "failed_until_epoch": "only a later leader epoch or StopReplica brings back what a fetcher gave up",
    "applied_high_watermark": "a leader tells consumers the latest offset once it knows what is committed",
    "reads_committed": "a consumer reads nothing above the high watermark",
    "reads_consistent": "what a consumer reads at an offset is what is committed there",
    "polls_go_on": "from poll to poll a consumer neither skips nor repeats, unless its position was reset",
    "no_batch_twice": "an idempotent producer's batches are committed once, and in their order",
    "under_replicated_true": "UnderReplicatedPartitions counts what the broker leads, by its release's definition",
    "reassigning_true": "ReassigningPartitions counts what the broker leads and a reassignment changes",
    "lag_true": "a follower's ConsumerLag is no more than what its leader has committed beyond it",
    "offline_true": "when nothing is left to do, OfflinePartitionsCount counts the partitions without a live leader",
    "one_active_controller": "no two brokers with a session show that they are the controller",
}

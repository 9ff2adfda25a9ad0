"""The treatment of the data plane by leaps: of every event, and of every part of the state that data changes.

A new event or attribute is declared here, with what a leap does about it (docs/extend/contributing.md); the tests
beside this file fail until it is declared.
"""

from __future__ import annotations

from collections.abc import Mapping

ENDS = "ends a leap: the control plane, or a fault, has done something"
BRINGS = "is recorded by a leap, for what would have come"
GOES_ON = "comes during a leap as ever"
OUTSIDE = "comes only while all is simulated, or as part of what ends a leap"
NEVER = "comes only in runs that do not leap"

EVENTS: Mapping[str, tuple[str, ...]] = {
    ENDS: (
        "BecameFollower", "BecameLeader", "Fault", "FetcherStarted", "IsrChanged", "IsrProposed", "NodeCrashed",
        "ReplicaStopped", "RoutesChanged", "Step", "ZkWritten",
    ),
    BRINGS: (
        "Appended", "BatchesAppended", "HighWatermark", "HighWatermarksMoved", "Produced", "BatchesProduced",
        "Consumed", "PollReturned", "ConsumerLag", "LeapBegan", "Leapt",
    ),
    GOES_ON: (
        "GaugeSet", "MeterMarked", "MetricRegistered", "MetricRemoved", "ZkSession",
    ),
    NEVER: (
        "Fetched", "GroupGeneration", "GroupMemberAdded", "GroupMemberRemoved", "GroupsLoaded", "GroupStateChanged",
        "GroupsUnloaded", "OffsetsCommitted", "OffsetsRemoved",
    ),
}  # fmt: skip
"""Events by their treatment; those that are not named here are ``OUTSIDE`` if ``OUTSIDE_EVENTS`` has them."""

KEPT = "is as it was when the leap began"
SET = "is brought to where it would be"
EMPTY = "is empty while the cluster is quiet"
MOVED = "is moved to later, by the length of the leap, or by that of its whole samples"

STATE: Mapping[str, Mapping[str, str]] = {
    "brokers.log.log.Log": {
        "_closed": SET, "_file": SET, "_found": SET, "_room": SET, "_rolls_at_us": SET, "start_offset": KEPT,
        "end_offset": SET, "epochs": KEPT,
        "producers": SET, "directory": KEPT, "tp": KEPT, "_hooks": KEPT, "verifications": KEPT,
    },
    "brokers.partition.local_replica.LocalReplica": {
        "adding": KEPT, "high_watermark": SET, "leader_epoch": KEPT, "log": SET, "process": KEPT, "recorder": EMPTY,
        "readers": KEPT, "tp": KEPT,
    },
    "brokers.partition.partition.Partition": {
        "controller_epoch": KEPT, "current": KEPT, "delayed": EMPTY, "epoch_start_offset": KEPT, "figures": KEPT,
        "impending": KEPT, "is_leader": KEPT, "isr_state": KEPT, "leader": KEPT, "not_assigned": KEPT,
        "remotes": SET, "removing": KEPT, "replication_factor": KEPT, "services": KEPT, "unassigned": KEPT,
        "zk_version": KEPT,
    },
    "brokers.partition.remote.RemoteReplica": {
        "broker": KEPT, "log_end_offset": SET, "last_caught_up_us": SET, "last_fetch_us": SET,
        "last_fetch_leader_end": SET, "position": KEPT, "must_fetch": KEPT, "log_start_offset": KEPT,
    },
    "brokers.replica_manager.record_deletion.RecordDeletion": {
        "process": KEPT, "partitions": KEPT, "offline": KEPT, "metadata": KEPT, "futures": KEPT,
        "error_without_replica": KEPT, "waiting": EMPTY,
    },
    "brokers.purgatory.DelayedFetch": {
        "purgatory": KEPT, "process": KEPT, "session": KEPT, "request": EMPTY, "poll": EMPTY, "rank": KEPT,
        "_expires_us": KEPT, "_timer_set": KEPT, "_expired": KEPT,
    },
    "fetchers.state.PartitionFetchState": {
        "tp": KEPT, "leader_epoch": KEPT, "offset": SET, "log": SET, "truncating": EMPTY, "delayed_until_us": EMPTY,
        "held": SET, "had_error": KEPT, "adding": KEPT, "unread": SET, "lag": SET, "lag_written": KEPT,
        "log_start": KEPT,
    },
    "fetchers.quota.Quota": {
        "rate": KEPT, "windows": KEPT, "window_us": KEPT, "held_us": SET, "shut": SET, "counted": SET,
        "_samples": MOVED, "_current": KEPT,
        "_judged": SET, "_constantly": KEPT,
    },
    "scenarios.cluster.clients.producer.Producer": {
        "_network": KEPT, "_process": KEPT, "_workload": KEPT, "_bootstrap": KEPT, "_first_id": KEPT, "_next_id": SET,
        "_open_to": KEPT, "_accumulator": EMPTY, "_idempotence": SET, "_partitioner": SET, "_connections": EMPTY,
        "_metadata": KEPT, "_producer_id": KEPT, "_tick_us": KEPT, "_batch_messages": KEPT, "_owed": SET,
        "_timer": MOVED, "_due_us": MOVED, "_held": SET, "_backlog": SET, "_kept": SET, "_waking": EMPTY,
    },
    "scenarios.cluster.clients.producing.idempotence.Sequences": {
        "next": SET, "acked": SET, "sent": EMPTY, "unresolved": KEPT,
    },
    "scenarios.cluster.clients.consumer.Consumer": {
        "_network": KEPT, "_process": KEPT, "_load": KEPT, "_bootstrap": KEPT, "_begun": KEPT, "_positions": SET,
        "_metadata": KEPT, "_readers": EMPTY, "_arrived": EMPTY, "_busy": KEPT, "_polled_us": KEPT, "_held": SET,
    },
    "scenarios.cluster.clients.consuming.Position": {
        "tp": KEPT, "offset": SET, "offset_epoch": SET, "leader": KEPT, "leader_epoch": KEPT, "reason": EMPTY,
        "valid": KEPT, "failed": KEPT, "rests_until_us": KEPT, "fetched": EMPTY, "high_watermark": SET, "source": SET,
    },
}  # fmt: skip
"""The attributes of what data changes, each with its treatment."""

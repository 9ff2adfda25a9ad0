"""Bugs of the deletion of topics."""

from controller.metrics import is_offline_by_leader
from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KAFKA-1681",
        title="a new controller does not begin the deletions that are asked for",
        affected="0.8.1; fixed in 0.8.2.0",
        happened="A controller that took over found the topics to be deleted in ZooKeeper, queued them, and did not "
        "wake the thread that deletes. They stayed until something else woke it, such as the next request or a "
        "broker that started.",
        here="A new controller queues the deletions and does not begin them. The checker sees a request for a "
        "deletion that stays in ZooKeeper.",
        checker="converged",
        policies={"controller.resumes_deletions": False},
        trigger="a controller that is replaced within milliseconds of a request for a deletion, and no broker "
        "that starts after that",
        source="TopicDeletionManager.start, 0.8.1.1 and 0.8.2.0",
    ),
    Bug(
        ticket="KAFKA-6650",
        title="a topic that is half deleted cannot be deleted by the next controller",
        affected="up to 1.1; fixed in 2.0.0",
        happened="A controller deletes the znodes of a topic one after the other. When it failed in between, its "
        "successor found partitions without a leader and ISR, and refused to take their replicas offline; a replica "
        "that is not offline cannot be deleted. The topic stayed, marked for deletion, until its znodes were "
        "removed by hand (KAFKA-2937 is an earlier form).",
        here="A replica of a partition that has no state znode does not go offline. The checker sees a request for "
        "a deletion that stays in ZooKeeper.",
        checker="converged",
        policies={"controller.replicas.leaderless_go_offline": False},
        source="ReplicaStateMachine.doHandleStateChanges, 1.1.1 and 2.0.0",
    ),
    Bug(
        ticket="KAFKA-1742",
        title="a controller remembers the leaders of a topic that is gone",
        affected="0.8.2 during its development, and 0.8.1; fixed in 0.8.2.0",
        happened="Meant to drop a deleted topic from two maps, the code dropped entries only as long as they came "
        "first in the map (dropWhile instead of filter). The leaders of deleted topics stayed in the controller's "
        "memory, and were counted as offline.",
        here="The memory keeps the leaders of deleted topics; OfflinePartitionsCount goes by leaders, as it did "
        "until 1.1. The checker sees more offline partitions than there are.",
        checker="offline_true",
        policies={"controller.keeps_deleted_leaders": True, "controller.is_offline": is_offline_by_leader},
        source="ControllerContext.removeTopic, 0.8.1.1 and 0.8.2.0",
    ),
    Bug(
        ticket="KAFKA-9946",
        title="a topic counts as deleted before its replicas are",
        affected="2.6 during its development; fixed in 2.6.0",
        happened="A deletion sends each replica two StopReplica, one that keeps it and one that deletes it. When "
        "the deletion flag moved from the request to its partitions (KIP-570), the controller took the answer to "
        "the first for that of the second: it deleted the znodes of the topic while the replicas were still there, "
        "and could not be deleted any more if that failed. Found by its author before the release.",
        here="The answer to a StopReplica that keeps replicas counts like that of one that deletes them. The "
        "checker sees a topic that is forgotten before its replicas are deleted.",
        checker="replicas_deleted_first",
        policies={"controller.counts_kept_as_deleted": True},
        source="AbstractControllerBrokerRequestBatch.sendStopReplicaRequests, before and after the ticket's commit "
        "(May 2020)",
    ),
    Bug(
        ticket="KAFKA-6612",
        title="a partition that is added to a topic while it is deleted is created",
        affected="up to 1.1; fixed in 2.0.0",
        happened="A deletion that waits for a broker can last for days. Partitions that were added meanwhile were "
        "created, led and written to, and the deletion, which had begun without them, found replicas that it did "
        "not expect: it took them too, with what had been acknowledged, or never ended.",
        here="Partitions that are added to a topic while it is deleted are created. The checker sees an election "
        "for a topic whose deletion has begun.",
        checker="deleted_get_no_leader",
        policies={"controller.restores_deleting": False},
        source="KafkaController.PartitionModifications, 1.1.1 and 2.0.0",
    ),
)

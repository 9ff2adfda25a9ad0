"""Bugs of controllers that take over, or that are replaced and do not know it."""

from controller.fencing import Unfenced
from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KAFKA-849",
        title="a new controller takes a partition with a dead leader for one that never had a leader",
        affected="0.8.0 during its development; fixed in 0.8.0",
        happened="A new controller loaded only the leaders that were alive. Partitions whose leader had died with "
        "the old controller looked new: it tried to create their leader and ISR, found them in ZooKeeper already, "
        "and gave up. Nothing led them until another broker failed or started.",
        here="A new controller forgets the leaders and ISRs of partitions whose leader is not alive. The checker "
        "sees a partition that has a live in-sync replica, a controller, and no leader.",
        checker="led_in_time",
        also=("offline_true",),
        policies={"controller.loads_every_leader": False},
        source="KafkaController.updateLeaderAndIsrCache, before and after the ticket's commit (March 2013)",
    ),
    Bug(
        ticket="KAFKA-6082",
        title="a controller that was replaced overwrites what its successor has written",
        affected="up to 2.0; fixed in 2.1.0",
        happened="A controller does not notice that it was replaced while it is paused, or in the middle of a long "
        "event. It went on writing assignments, leaders and requests to ZooKeeper over those of its successor, and "
        "could delete /controller of another broker. Partitions got the replicas of moves that were over, and "
        "elections were skipped (KAFKA-3083 is an early report).",
        here="The controller's writes do not check the controller epoch, and an election is two writes. The checker "
        "sees a write of a broker that is not the controller any more.",
        checker="controller_fence",
        also=("moves_recoverable",),
        policies={"controller.fencing": Unfenced()},
        source="KafkaController.elect, KafkaZkClient.setTopicAssignmentRaw and setLeaderAndIsr, 2.0.0 and 2.1.0",
    ),
    Bug(
        ticket="KAFKA-4443",
        title="brokers refuse leaders of whose life the new controller has not told them",
        affected="up to 0.10.1; fixed in 0.10.2.0",
        happened="A new controller sent the brokers their leaders first, and the list of live brokers last. A "
        "broker that had started while there was no controller knew no live brokers, or only old ones: it refused "
        "to follow a leader that was not among them, and was not asked again. Its replicas stayed out of sync until "
        "the next failover or restart.",
        here="A new controller sends UpdateMetadata after the requests of its state machines. The checker sees that "
        "a broker which has started before the failover never joins the ISR.",
        checker="converged",
        policies={"controller.announces_before_elections": False},
        trigger="a leader that starts again while there is no controller",
        source="KafkaController.onControllerFailover and ReplicaManager.makeFollowers, 0.10.1.1 and 0.10.2.0",
    ),
    Bug(
        ticket="KAFKA-3085",
        title="a broker that fails while the controller looks is neither live nor dead",
        affected="up to 0.9; fixed in 0.10.0.0",
        happened="When brokers came or went, the controller listed them, worked out who was new and who was dead, "
        "and then read each of them again: those it found were the live ones. A broker that went between the two "
        "was not dead by the first list and not live by the second, so that its failure was never handled.",
        here="What has changed is found in the list of ids, and who is live in what is read next. The checker sees "
        "a partition whose dead leader is not replaced.",
        checker="led_in_time",
        also=("offline_true",),
        policies={"controller.finds_brokers_twice": True},
        trigger="two brokers come and go within a millisecond",
        source="ReplicaStateMachine.BrokerChangeListener, 0.9.0.1 and 0.10.0.0",
    ),
    Bug(
        ticket="KAFKA-4447",
        title="a controller that has resigned goes on with what is queued",
        affected="up to 0.10.1; fixed in 0.10.2.0",
        happened="The notifications that had come before a controller resigned were handled after it, one after the "
        "other, and most handlers did not ask whether it was still the controller. With a long queue it acted as "
        "one for minutes: it began moves, wrote assignments, and filled its log with requests that it could not "
        "send.",
        here="A controller that resigns keeps its memory and handles the events that are queued; writes are not "
        "fenced, as in those releases. The checker sees a broker that writes assignments and is not the controller.",
        checker="controller_fence",
        also=("moves_recoverable",),
        policies={"controller.acts_after_resigning": True, "controller.fencing": Unfenced()},
        source="KafkaController.onControllerResignation and the listeners of 0.10.1.0; ControllerZkListener, 0.10.2.0",
    ),
    Bug(
        ticket="KAFKA-1578",
        title="a controller that has resigned is still told of new moves, and begins them",
        affected="0.8.1; fixed in 0.8.2.0",
        happened="A controller that resigned went on watching /admin/reassign_partitions and the requests for "
        "elections. When a move was asked for it began it too, from what it remembered, beside the real controller: "
        "both wrote assignments and took the request out of the znode.",
        here="A controller that resigns keeps its watches and its memory; writes are not fenced, as in those "
        "releases. The checker sees a broker that writes assignments and is not the controller.",
        checker="controller_fence",
        also=("moves_recoverable",),
        policies={
            "controller.keeps_watches": True,
            "controller.acts_after_resigning": True,
            "controller.fencing": Unfenced(),
        },
        source="KafkaController.onControllerResignation, 0.8.1.1 and 0.8.2.0",
    ),
    Bug(
        ticket="KAFKA-1096",
        title="a controller that was replaced takes over the epoch of its successor, and goes on",
        affected="0.8.0 and 0.8.1; fixed in 0.8.2.0",
        happened="Every broker's controller read /controller_epoch again when it changed, and stored it as its own. "
        "A controller that came out of a long garbage collection did that before it learned that it was replaced, "
        "and its requests then had the highest epoch: brokers obeyed both controllers.",
        here="A controller that was replaced does not resign before its session expires, and takes over the epoch "
        "that it reads. The checker sees two brokers that write as controller in one epoch.",
        checker="controller_fence",
        policies={"controller.follows_controller_epoch": True},
        source="KafkaController's ControllerEpochListener and ZookeeperLeaderElector, 0.8.0 and 0.8.2.0",
    ),
)

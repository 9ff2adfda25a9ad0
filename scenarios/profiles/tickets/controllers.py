"""Tickets of controllers: elections, failovers, and sessions that expire."""

from controller.fencing import Unfenced
from controller.state_machines.leader_election_algorithms import HEAD_OF_ISR
from scenarios.profiles.profile import Difference
from scenarios.profiles.ticket import DIVERGENCES, LOSSES, Effect, Ticket

TICKETS = (
    Ticket(
        key="KAFKA-1028",
        title="the last in-sync replica leaves the ISR when it dies, so that any other may lead",
        last="0.8.1",
        until=("0.8.2.0",),
        happened="When the last in-sync replica died, the controller wrote an ISR without it and elected any replica "
        "that was alive, however far it lagged: committed records were gone, whatever the operator wanted. The ticket "
        "brought unclean.leader.election.enable, and a controller that leaves the last member in the ISR.",
        here="The controller removes the last member from the ISR too, and gives leadership to the first live replica "
        "whatever the settings say. The checker sees a leader that was not in the ISR.",
        checker="unclean_where_allowed",
        also=("leader_in_isr",),
        policies={"controller.replicas.keeps_last_in_isr": False, "controller.selectors.offline": HEAD_OF_ISR},
        differences=(
            Difference(
                title="the last member of an ISR that goes offline",
                before="stays in the ISR",
                here="leaves the ISR, which is then empty",
                policies={"controller.replicas.keeps_last_in_isr": False},
            ),
            Difference(
                title="a partition without a leader gets",
                before="the first assigned replica that is alive and in the ISR; any live one if unclean elections "
                "are allowed",
                here="the first of the ISR that is alive; else any replica that is alive",
                policies={"controller.selectors.offline": HEAD_OF_ISR},
            ),
        ),
        effects=(
            Effect(
                text="the last in-sync replica that goes offline leaves the ISR, which is then empty",
                checkers=("leader_in_isr",),
            ),
        ),
        witness="KAFKA-1028",
        source="KafkaController.removeReplicaFromIsr and OfflinePartitionLeaderSelector, 0.8.0 and 0.8.2.0",
    ),
    Ticket(
        key="KAFKA-708",
        title="a dead broker stays the leader of a partition whose ISR it has left",
        until=("0.8.0",),
        affected="0.8.0 during its development; fixed in 0.8.0",
        happened="The controller took a dead replica out of the ISR and left the leader as it was, also where that was "
        "the same broker. The last replica of a partition was then its leader and not in its ISR, which had no "
        "members; brokers could not read a LeaderAndIsr with such an ISR.",
        here="A controller that takes the last replica out of an ISR leaves it the leader. The checker sees a leader "
        "that is not in the ISR.",
        checker="leader_in_isr",
        policies={
            "controller.replicas.keeps_last_in_isr": False,
            "controller.replicas.offline_lead_no_longer": False,
        },
        source="KafkaController.removeReplicaFromIsr and PartitionStateInfo.readFrom, before and after the ticket's "
        "commit (January 2013)",
    ),
    Ticket(
        key="KAFKA-3143",
        title="a new controller leaves replicas on dead brokers in their ISRs",
        last="2.2",
        until=("2.3.0",),
        happened="A broker died together with the controller, or before the controller had learned of it. The next "
        "controller found the broker dead and changed no ISR, as it never handled the broker's failure as an event. "
        "Gauges showed no under-replicated partition, and the replica counted as in sync when it came back.",
        here="A new controller marks the replicas of dead brokers as offline and leaves their ISRs alone. The checker "
        "sees a replica that comes back in the ISR without records that are committed.",
        checker="isr_complete",
        policies={"controller.replicas.shrink_at_failover": False},
        differences=(
            Difference(
                title="a new controller",
                before="removes dead replicas from their ISRs",
                here="leaves dead replicas in their ISRs",
            ),
        ),
        effects=(
            Effect(
                text="a controller that takes over leaves dead replicas in their ISRs, also one that then comes back "
                "with less",
                checkers=(*LOSSES, *DIVERGENCES),
            ),
            Effect(
                text="a controller that takes over leaves dead replicas in their ISRs, and elects with them",
                checkers=("dead_leave_isr", "elects_the_living"),
            ),
            Effect(
                text="a controller that takes over leaves dead replicas in their ISRs, where they stay while nothing "
                "is written",
                checkers=("converged",),
                parts=("IN_SYNC",),
                only=lambda policies: not policies.brokers.out_of_sync.even_at_the_end,
            ),
            Effect(
                text="a follower that is ahead of a leader which came back so gives up with a batch that begins before "
                "its end, until the next leader epoch (KIP-461); a move may wait for it",
                checkers=("converged",),
                parts=("FETCHED", "IN_SYNC", "NOTHING_ASKED"),
            ),
        ),
        witness="KAFKA-3143",
        source="ReplicaStateMachine.startup, 2.2.0 and 2.3.0",
    ),
    Ticket(
        key="KAFKA-6835",
        title="an unclean election that was allowed for a topic waits for another controller",
        last="2.0",
        until=("2.1.0",),
        happened="An operator whose partition had lost its last in-sync replica switched "
        "unclean.leader.election.enable on for the topic, and nothing happened: the controller reads the setting "
        "when it elects, and it elects when brokers come and go. The way out was to delete /controller.",
        here="A topic's setting has no effect by itself when it is switched on. The checker sees a partition that "
        "stays without a leader.",
        checker="converged",
        policies={"controller.follows_unclean_topics": False},
        differences=(
            Difference(
                title="an unclean election that is allowed while a partition has no leader, for its topic or for all "
                "brokers,",
                before="is held at once",
                here="waits until a broker starts or fails, or another controller is elected",
                source="KAFKA-6526, 2.0; KAFKA-6835, 2.1",
                policies={"controller.follows_unclean_default": False, "controller.follows_unclean_topics": False},
            ),
        ),
        trigger="the last in-sync replica lost for good while another lives, and the topic's setting switched on "
        "after that",
        effects=(
            Effect(
                text="an unclean election that is allowed while a partition has no leader waits for the next broker "
                "that comes or goes, or for another controller",
                checkers=("converged",),
                parts=("LED",),
            ),
        ),
        source="KafkaController.enableTopicUncleanLeaderElection and TopicConfigHandler, 2.0.0 and 2.1.0",
    ),
    Ticket(
        key="KAFKA-6526",
        title="unclean elections that were allowed for all brokers wait for another controller",
        since="1.1",
        last="1.1",
        until=("2.0.0",),
        happened="unclean.leader.election.enable became a setting that can be changed while brokers run (KIP-226), "
        "and switching it on had no effect on the partitions that were offline, until another controller was "
        "elected.",
        here="The setting of all brokers has no effect by itself when it is switched on. The checker sees a "
        "partition that stays without a leader.",
        checker="converged",
        policies={"controller.follows_unclean_default": False},
        trigger="the last in-sync replica lost for good while another lives, and the setting of all brokers "
        "switched on after that",
        source="KafkaController.enableDefaultUncleanLeaderElection and DynamicLogConfig, 1.1.1 and 2.0.0",
    ),
    Ticket(
        key="KAFKA-828",
        title="a new controller leaves a request for elections in ZooKeeper that it has carried out",
        until=("0.8.0",),
        affected="0.8.0 during its development; fixed in 0.8.0",
        happened="Preferred elections are asked for in a znode, and the tool makes no other request while it is "
        "there. A controller that found the request when it took over held the elections and left the znode: "
        "preferred elections were over for good, until an operator deleted it.",
        here="A new controller holds the elections that are asked for, and does not delete the request. The checker "
        "sees a request that stays in ZooKeeper.",
        checker="converged",
        also=("notifications_taken",),
        policies={"controller.ends_elections_at_failover": False},
        source="KafkaController.onPreferredReplicaElection, before and after the ticket's commit (April 2013)",
    ),
    Ticket(
        key="KAFKA-849",
        title="a new controller takes a partition with a dead leader for one that never had a leader",
        until=("0.8.0",),
        affected="0.8.0 during its development; fixed in 0.8.0",
        happened="A new controller loaded only the leaders that were alive. Partitions whose leader had died with "
        "the old controller looked new: it tried to create their leader and ISR, found them in ZooKeeper already, "
        "and gave up. Nothing led them until another broker failed or started.",
        here="A new controller forgets the leaders and ISRs of partitions whose leader is not alive. The checker "
        "sees a partition that has a live in-sync replica, a controller, and no leader.",
        checker="led_in_time",
        also=("offline_true", "controller_remembers", "broker_remembers", "counts_true", "steps_done"),
        policies={"controller.loads_every_leader": False},
        source="KafkaController.updateLeaderAndIsrCache, before and after the ticket's commit (March 2013)",
    ),
    Ticket(
        key="KAFKA-6082",
        title="a controller that was replaced overwrites what its successor has written",
        last="2.0",
        until=("2.1.0",),
        happened="A controller does not notice that it was replaced while it is paused, or in the middle of a long "
        "event. It went on writing assignments, leaders and requests to ZooKeeper over those of its successor, and "
        "could delete /controller of another broker. Partitions got the replicas of moves that were over, and "
        "elections were skipped (KAFKA-3083 is an early report).",
        here="The controller's writes do not check the controller epoch, and an election is two writes (`/controller`, "
        "then the epoch). The checker sees a write of a broker that is not the controller any more.",
        checker="controller_fence",
        also=("moves_recoverable",),
        policies={"controller.fencing": Unfenced()},
        differences=(
            Difference(
                title="a replaced controller",
                before="cannot write: each write checks the controller epoch, and an election writes `/controller` and "
                "the epoch at once",
                here="goes on writing until it learns of its successor; an election writes `/controller` first, then "
                "the epoch",
            ),
        ),
        effects=(
            Effect(
                text="a controller that has been replaced goes on writing",
                checkers=(
                    "controller_fence",
                    "one_leader_per_epoch",
                    "epochs_grow",
                    "moves_recoverable",
                    "deleted_get_no_leader",
                    "drops_stopped",
                ),
            ),
            Effect(
                text="a controller that has been replaced writes an assignment over; its successor goes on with the "
                "one it knows",
                checkers=("moves_recoverable", "replicas_notified", "drops_stopped"),
            ),
            Effect(
                text="a controller that has been replaced deletes the request for moves; its successor, whose watch "
                "that took, does not see the next one",
                checkers=("converged", "moves_recoverable"),
                parts=("NOTHING_ASKED",),
            ),
            Effect(
                text="a broker whose failover fails deletes /controller, also where that is another one's by then, "
                "which shows that it is the controller until it learns of that",
                checkers=("one_active_controller",),
            ),
            Effect(
                text="a controller that has been replaced takes a move out of /admin/reassign_partitions; its "
                "successor, which has read it before, goes on with it",
                checkers=("moves_recoverable",),
            ),
            Effect(
                text="a controller that has been replaced takes each member of the ISR out of an assignment; once the "
                "leader has been away, none is elected, and it is not sent that it leads",
                checkers=("controller_remembers", "converged"),
                parts=("LED",),
            ),
        ),
        source="KafkaController.elect, KafkaZkClient.setTopicAssignmentRaw and setLeaderAndIsr, 2.0.0 and 2.1.0",
    ),
    Ticket(
        key="KAFKA-4443",
        title="brokers refuse leaders of whose life the new controller has not told them",
        last="0.10.1",
        until=("0.10.2.0",),
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
    Ticket(
        key="KAFKA-3085",
        title="a broker that fails while the controller looks is neither live nor dead",
        last="0.9",
        until=("0.10.0.0",),
        happened="When brokers came or went, the controller listed them, worked out who was new and who was dead, "
        "and then read each of them again: those it found were the live ones. A broker that went between the two "
        "was not dead by the first list and not live by the second, so that its failure was never handled.",
        here="What has changed is found in the list of ids, and who is live in what is read next. The checker sees "
        "a partition whose dead leader is not replaced.",
        checker="led_in_time",
        also=("offline_true", "broker_remembers"),
        policies={"controller.finds_brokers_twice": True},
        trigger="two brokers come and go within a millisecond",
        source="ReplicaStateMachine.BrokerChangeListener, 0.9.0.1 and 0.10.0.0",
    ),
    Ticket(
        key="KAFKA-4447",
        title="a controller that has resigned goes on with what is queued",
        last="0.10.1",
        until=("0.10.2.0",),
        happened="The notifications that had come before a controller resigned were handled after it, one after the "
        "other, and most handlers did not ask whether it was still the controller. With a long queue it acted as "
        "one for minutes: it began moves, wrote assignments, and filled its log with requests that it could not "
        "send.",
        here="A controller that resigns keeps its memory and handles the events that are queued; writes are not "
        "fenced, as in those releases. The checker sees a broker that writes assignments and is not the controller.",
        checker="controller_fence",
        also=("controller_remembers", "elects_in_order", "moves_recoverable", "resigned_forgets"),
        policies={"controller.acts_after_resigning": True, "controller.fencing": Unfenced()},
        source="KafkaController.onControllerResignation and the listeners of 0.10.1.0; ControllerZkListener, 0.10.2.0",
    ),
    Ticket(
        key="KAFKA-1578",
        title="a controller that has resigned is still told of new moves, and begins them",
        since="0.8.1",
        last="0.8.1",
        until=("0.8.2.0",),
        happened="A controller that resigned went on watching /admin/reassign_partitions and the requests for "
        "elections. When a move was asked for it began it too, from what it remembered, beside the real controller: "
        "both wrote assignments and took the request out of the znode.",
        here="A controller that resigns keeps its watches and its memory; writes are not fenced, as in those "
        "releases. The checker sees a broker that writes assignments and is not the controller.",
        checker="controller_fence",
        also=(
            "moves_recoverable",
            "resigned_forgets",
        ),
        policies={
            "controller.keeps_watches": True,
            "controller.acts_after_resigning": True,
            "controller.fencing": Unfenced(),
        },
        source="KafkaController.onControllerResignation, 0.8.1.1 and 0.8.2.0",
    ),
    Ticket(
        key="KAFKA-1096",
        title="a controller that was replaced takes over the epoch of its successor, and goes on",
        since="0.8.0",
        until=("0.8.2.0",),
        affected="0.8.0 and 0.8.1; fixed in 0.8.2.0",
        happened="Every broker's controller read /controller_epoch again when it changed, and stored it as its own. "
        "A controller that came out of a long garbage collection did that before it learned that it was replaced, "
        "and its requests then had the highest epoch: brokers obeyed both controllers.",
        here="A controller that was replaced does not resign before its session expires, and takes over the epoch "
        "that it reads. The checker sees two brokers that write as controller in one epoch.",
        checker="controller_fence",
        also=("resigned_forgets", "broker_remembers", "sent_as_written"),
        policies={"controller.follows_controller_epoch": True},
        source="KafkaController's ControllerEpochListener and ZookeeperLeaderElector, 0.8.0 and 0.8.2.0",
    ),
    Ticket(
        key="KAFKA-1068",
        title="a controller that has resigned goes on showing offline partitions",
        since="0.8.0",
        until=("0.8.0",),
        affected="0.8.0 beta; fixed in 0.8.0",
        happened="OfflinePartitionsCount was computed from the memory of any broker that had ever been the controller. "
        "After a failover the old controller went on showing the offline partitions of the moment when it resigned, so "
        "that dashboards, which add all brokers up, showed an outage that was over.",
        here="The gauge of a controller that resigns keeps its value. The checker sees a broker that is not the "
        "controller and shows offline partitions.",
        checker="offline_true",
        policies={"controller.resigned_shows_offline": True},
        source="KafkaController, 0.8.0 beta and 0.8.0",
    ),
    Ticket(
        key="KAFKA-7235",
        title="a broker that has restarted gets what was meant for its earlier incarnation",
        until=("2.2.0",),
        affected="up to 2.1; fixed in 2.2.0 (KIP-380)",
        happened="Broker ids were all that told incarnations apart. A controller that was late carried out the "
        "controlled shutdown of a broker that had ended and started again: it moved its leaderships away, sent it "
        "StopReplica, and thought that it was shutting down. A restart that was over before the controller looked "
        "was not noticed at all: nothing told the new incarnation to lead and to follow.",
        here="Requests bear no broker epochs and the controller compares none. The checker sees a broker that runs "
        "and never joins the ISR again.",
        checker="converged",
        also=("controller_remembers", "sent_as_written"),
        policies={"controller.broker_epochs": False},
        differences=(
            Difference(
                title="a restarted broker",
                before="is distinguished from its earlier incarnation by its epoch",
                here="looks like its earlier incarnation; a restart that is over before the controller looks is not "
                "noticed",
                source="KIP-380, 2.2",
            ),
        ),
        source="KafkaController.processControlledShutdown and BrokerChange, KafkaApis.isBrokerEpochStale, 2.1.0 and "
        "2.2.0",
    ),
    Ticket(
        key="KAFKA-4229",
        title="a broker handles two new sessions in the second one, and is a controller that does nothing",
        until=("1.1.0",),
        affected="up to 1.0; closed by the queue of 1.1.0 (KAFKA-5642)",
        happened="Sessions were made again in the background, and each new one was handled in its turn. When a "
        "broker was slow and its session expired twice, it handled both in the last one: first it was elected, then "
        "it resigned, found its own id in /controller, and took that for being the controller. It watched nothing "
        "any more; leaders were not replaced until its session expired again.",
        here="Each new session is an event in the controller's queue, and later ones drop nothing. The checker sees "
        "a partition that can be led and is not.",
        checker="led_in_time",
        also=(
            "epochs_grow",
            "metadata_follows",
            "metadata_kept",
            "offline_true",
            "replicas_notified",
            "broker_remembers",
            "controller_remembers",
            "counts_true",
        ),
        policies={"controller.sessions_in_turn": True},
        source="KafkaController.SessionExpirationListener and ZookeeperLeaderElector.elect, 0.10.1.0; the patch of "
        "the ticket; KafkaController, 1.1.0",
    ),
    Ticket(
        key="KAFKA-1387",
        title="a broker waits for its own znode to go",
        last="0.8.2",
        until=("0.9.0.0",),
        happened="A broker whose session had expired twice registered twice in the last one. The second time it "
        "found a znode in /brokers/ids with other data than its own, as the time in it differs, took it for one of "
        "an earlier session that ZooKeeper would remove, and waited for that without end; nothing else that "
        "ZooKeeper told it was handled meanwhile.",
        here="Each new session is handled in its turn, and a broker's own znode with other data is waited for. The "
        "checker sees a partition that can be led and is not, since the only controller waits.",
        checker="led_in_time",
        also=("broker_remembers", "controller_remembers", "metadata_follows", "replicas_notified"),
        policies={"controller.sessions_in_turn": True, "brokers.waits_for_own_registration": True},
        source="ZkUtils.createEphemeralPathExpectConflictHandleZKBug and KafkaHealthcheck, 0.8.2.1 and 0.9.0.0",
    ),
    Ticket(
        key="KAFKA-6879",
        title="a controller waits for its new session, which waits for the controller",
        since="1.1.0",
        last="1.1.0",
        until=("1.1.1", "2.0.0"),
        happened="When the session expired, the ZooKeeper client held the lock of its initialization until the "
        "controller's event thread had handled the expiry. The event that this thread was handling needed the same "
        "lock to ask ZooKeeper for more. Both waited for ever: the broker lived, was not registered, and served "
        "nothing.",
        here="What an event asks for in an expired session is never answered, and a new session waits for that "
        "event. The checker sees a broker that runs and is not registered.",
        checker="converged",
        policies={"controller.expiry_waits_for_event": True},
        trigger="a session that expires while its controller is between two requests of one event",
        source="ZooKeeperClient.reinitialize and handleRequests, KafkaController's StateChangeHandler, 1.1.0 and 1.1.1",
    ),
    Ticket(
        key="ReplicaStateMachine.handleStateChange (0.8.0)",
        title="a controller leaves a dead replica in an ISR to which a leader has added it, as it goes by the ISR "
        "that it knows; the replica comes back without what it had not flushed",
        until=("0.8.1",),
        policies={"controller.replicas.trusts_memory": True},
        effects=(
            Effect(checkers=(*LOSSES, *DIVERGENCES)),
            Effect(
                text="a controller leaves a dead replica in an ISR to which a leader has added it, as it goes by the "
                "ISR that it knows",
                checkers=("dead_leave_isr", "elects_the_living"),
            ),
            Effect(
                text="the same; it stays while nothing is written",
                checkers=("converged",),
                parts=("IN_SYNC",),
                only=lambda policies: not policies.brokers.out_of_sync.even_at_the_end,
            ),
        ),
        witness="ReplicaStateMachine.handleStateChange",
    ),
    Ticket(
        key="KafkaController.processControllerChange (1.1.0 to 2.7.2)",
        title="brokers that learn that there is a controller, and find none, since it was deleted at once, wait for "
        "the next one; none competes, so that there is none until a broker starts or its session expires",
        since="1.1.0",
        policies={"controller.elects_where_gone": False},
        fixed={"controller.elects_where_gone": True},
        effects=(Effect(checkers=("converged",), parts=("CONTROLLED", "NOTHING_ASKED", "LED")),),
    ),
    Ticket(
        key="KafkaController.triggerControllerMove (2.1.0 to 3.9)",
        title="a controller that has been replaced, and does not know it yet, fails by another error, looks whose "
        "/controller is, and leaves all as it is: it keeps its epoch, its memory, its gauges and its handlers until it "
        "is elected again or its session expires",
        since="2.1.0",
        effects=(Effect(checkers=("resigned_forgets", "broker_remembers", "counts_true")),),
        witness="KafkaController.triggerControllerMove",
        source="KafkaController.elect, triggerControllerMove and handleIllegalState, 2.1.1, 2.3.1, 2.7.0 and 3.9.0",
    ),
)

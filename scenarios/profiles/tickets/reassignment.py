"""Tickets of reassignments: moves that are lost, begun again, or left half done."""

from controller.state_machines.leader_election_algorithms import FIRST_LIVE_OF_TARGET
from controller.state_machines.rules import FOUR_STATES
from scenarios.profiles.profile import Difference
from scenarios.profiles.ticket import DIVERGENCES, LOSSES, Effect, Ticket

TICKETS = (
    Ticket(
        key="KAFKA-6193",
        title="the request for several moves is deleted when the first of them is over",
        last="1.0",
        until=("1.1.0",),
        happened="The controller began the moves of a request one after the other, and knew of each only once it began "
        "it. When one of them ended at once, it wrote what it still knew of the request, which was nothing: it deleted "
        "/admin/reassign_partitions. A controller that took over lost the other moves half done. Found by a test that "
        "failed now and then.",
        here="A move comes into the controller's memory when it is begun. The checker sees that the replicas of a "
        "partition change while ZooKeeper asks for no move of it.",
        checker="moves_recoverable",
        policies={"controller.takes_up_moves_together": False, "controller.refuses_moves_together": False},
        source="KafkaController.PartitionReassignment and initializePartitionReassignment, 1.0.0 and 1.1.0",
    ),
    Ticket(
        key="KAFKA-5310",
        title="a controller that is elected again takes up a move that is over",
        last="0.10.2",
        until=("0.11.0.0",),
        happened="A controller that resigned kept the list of moves in its memory. Elected again, it added what "
        "/admin/reassign_partitions said and began all of them: also those that another controller had completed, or "
        "that an operator had withdrawn and replaced by newer ones. The partitions went back to where they had been.",
        here="A controller that resigns keeps its moves, and takes them up again when it is elected again. The checker "
        "sees that the replicas of a partition change while ZooKeeper asks for no move of it.",
        checker="moves_recoverable",
        also=("resigned_forgets",),
        policies={"controller.forgets_moves": False},
        trigger="a controller that is lost in the midst of a move, another move of that partition, and then the "
        "first controller again",
        source="KafkaController.onControllerResignation and initializePartitionReassignment, 0.10.2.1 and 0.11.0.0",
    ),
    Ticket(
        key="KAFKA-4214",
        title="a new controller gives a move up because a new replica is down",
        last="0.10.0",
        until=("0.10.1.0",),
        happened="A controller refused a move if a broker of its target was down, also when it had taken the move over "
        "from a controller that had begun it: rolling restarts during reassignments made them fail. The partition kept "
        "its old and new replicas until its operator asked for the move again.",
        here="A controller refuses moves with a target that is not alive, and takes them out of "
        "/admin/reassign_partitions. The checker sees the request leave, and the replicas of the middle of the move.",
        checker="moves_recoverable",
        policies={"wiki.needs_live_target": True},
        effects=(
            Effect(
                text="a move with a broker in its target that is down when the controller takes it up is given up",
                checkers=("unfinished",),
            ),
        ),
        by_release=True,
        source="KafkaController.initiateReassignReplicasForTopicPartition, 0.10.0.1 and 0.10.1.0",
    ),
    Ticket(
        key="KAFKA-13972",
        title="the replica of a cancelled move stays where it is",
        since="2.6",
        last="3.4.0",
        until=("3.5.0", "3.4.1"),
        happened="Since KIP-570 a broker refuses a StopReplica whose leader epoch is not above its own. A replica "
        "that was being added and has not joined the ISR is not removed from it either, so the epoch stays the "
        "same: cancelling the move left its replica on the disk, where it went on fetching.",
        here="StopReplica has leader epochs, as KIP-570 first had them. The checker sees a replica on a broker that "
        "it is not assigned to.",
        checker="converged",
        policies={"controller.stops_name_epochs": True, "brokers.stops_in_own_epoch": False},
        trigger="a move that is cancelled before the replica which it adds is in sync",
        effects=(
            Effect(
                text="a StopReplica in the replica's own leader epoch, as a move that is cancelled or changed sends "
                "it, is refused: the replica stays on the disk",
                checkers=("converged",),
                parts=("NO_STRAYS", "IN_SYNC", "LED", "NOTHING_ASKED"),
            ),
        ),
        witness="KAFKA-13972",
        source="ReplicaManager.stopReplicas and ReplicaStateMachine.removeReplicasFromIsr, 2.6.0, 3.4.0 and 3.4.1",
    ),
    Ticket(
        key="KAFKA-10314",
        title="a broker with a failed log directory takes no replica of a move",
        since="2.4",
        last="2.6.0",
        until=("2.7.0",),
        happened="A broker with an offline log directory creates only logs that are certain to be new, as the one "
        "that it is asked for may be in that directory. The first request for a replica that a move adds did not "
        "say that it is new, and the second one, which did, was refused as it had the same leader epoch. The move "
        "never ended.",
        here="The first LeaderAndIsr for the replicas that a move adds does not say that they are new. The checker "
        "sees that the first request of a leader epoch for an added replica does not say that it is new.",
        checker="new_replicas_marked",
        also=("converged",),
        policies={"kip_455.adds_as_new": False},
        fixed={"kip_455.adds_as_new": True},
        differences=(
            Difference(
                title="LeaderAndIsr of `kip-455` for the replicas it adds",
                before="is as for all others",
                here="says that they are new, so that they may use any log directory",
            ),
        ),
        source="KafkaController.updateLeaderEpochAndSendRequest, 2.6.0 and 2.7.0",
    ),
    Ticket(
        key="KAFKA-9212",
        title="while a partition is moved, brokers give clients a leader epoch that is over",
        last="2.3",
        until=("2.4.0",),
        happened="A move begins with a leader epoch that is raised without an election. The controller wrote it, "
        "sent it to the replicas, and did not take it into its memory, from which metadata is made. Since consumers "
        "name the epoch that they know (KIP-320), they were refused until the move was over (FENCED_LEADER_EPOCH), "
        "and their lookups of offsets failed.",
        here="A leader epoch that is raised alone does not get into the controller's memory. The checker sees "
        "metadata with an older leader epoch than ZooKeeper has.",
        checker="metadata_follows",
        policies={"controller.remembers_bumps": False},
        fixed={"controller.remembers_bumps": True},
        differences=(
            Difference(
                title="when a move raises a leader epoch without an election, UpdateMetadata has",
                before="the old epoch and ISR, so that consumers are refused until an election or an announced ISR",
                here="the new epoch and ISR",
            ),
        ),
        effects=(
            Effect(
                text="a move raises a leader epoch, and the controller does not know it (updateLeaderEpoch, 2.3.1): "
                "a broker that starts gets the one before, and its fetcher gives up",
                checkers=("converged",),
                parts=("FETCHED", "IN_SYNC", "NOTHING_ASKED"),
            ),
            Effect(
                text="a move raises a leader epoch of which brokers do not tell clients: a consumer is refused until "
                "the next election or change of the ISR",
                checkers=("converged",),
                parts=("READ",),
                only=lambda policies: policies.brokers.checks_epochs,
            ),
        ),
        source="KafkaController.updateLeaderEpoch, 2.3.1 and 2.4.0",
    ),
    Ticket(
        key="KAFKA-9672",
        title="an in-sync replica that is not assigned keeps all others in the ISR",
        since="2.4",
        last="2.8",
        until=("3.0.0",),
        happened="A request that replaces a move drops replicas that may be in sync already. If the controller "
        "fails before it has stopped them, the next leader gets an ISR with a member that it has no replica for: "
        "its check of the ISR throws there, at every turn, and no replica of any partition of that broker leaves "
        "its ISR.",
        here="A leader's check for lagging replicas fails at a member of the ISR that is not assigned. The checker "
        "sees a dead broker that stays in the ISR. The profile is that of 2.3, with the moves of 2.4: later "
        "profiles have the bug.",
        checker="dead_leave_isr",
        also=("converged",),
        policies={"brokers.unassigned_leave_isr": False},
        differences=(
            Difference(
                title="a member of the ISR that is not assigned",
                before="leaves it like one that does not fetch",
                here="makes the broker's check of its ISRs fail, every time",
            ),
        ),
        trigger="a move by the API that is replaced while it waits, another controller before what it drops is "
        "stopped, and the death of that replica",
        effects=(
            Effect(
                text="a replica joins the ISR after it was dropped, before its leader gets the request: the check of "
                "ISRs fails at it from then on, and it stays, also as the last one, and cannot be elected: no move "
                "goes on then",
                checkers=("converged",),
                parts=("IN_SYNC", "LED", "NOTHING_ASKED"),
            ),
            Effect(
                text="such a replica is still in the ISR when another move adds it, without what was committed "
                "meanwhile, for which no leader waited for it",
                checkers=(*LOSSES, "truncate_safety"),
            ),
        ),
        source="Partition.getOutOfSyncReplicas, 2.4.1 and 3.0.0; KafkaController.onPartitionReassignment, 2.4.1",
    ),
    Ticket(
        key="KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)",
        title="a move that is cancelled or changed deletes its new replicas also where they are all of the ISR, in "
        "which they stay: one that is assigned again is elected without anything",
        since="2.4.0",
        effects=(
            Effect(checkers=(*LOSSES, *DIVERGENCES)),
            Effect(
                text="a move that is cancelled or changed drops its new replicas also where they are all of the ISR: "
                "the partition has no leader, and none can be elected",
                checkers=("converged",),
                parts=("LED", "FETCHED"),
            ),
            Effect(
                text="a replica that a cancelled or changed move drops is not stopped, and stays in the ISR, where "
                "the controller is replaced before its requests are delivered: its successor finds nothing left to do",
                checkers=("converged",),
                parts=("NO_STRAYS", "IN_SYNC", "LED", "NOTHING_ASKED"),
            ),
        ),
    ),
    Ticket(
        key="KafkaController.removePartitionsFromReassignedPartitions (2.0.1 to 2.3.1)",
        title="a move that is asked for while a new controller takes over, or as the last move before it ends, is "
        "deleted unread with /admin/reassign_partitions",
        effects=(
            Effect(
                checkers=("moves_recoverable", "unfinished"),
                until="2.4.0",
                only=lambda policies: policies.controller.refuses_moves_together,
            ),
            Effect(
                text="the same, of a protocol that goes by the znode, under a later release",
                checkers=("moves_recoverable", "unfinished"),
                since="2.4.0",
            ),
        ),
    ),
    Ticket(
        key="KafkaController.maybeTriggerPartitionReassignment (1.1.1 to 2.3.1)",
        title="a move that is asked for while a new controller takes over is begun twice, as it reads the request and "
        "as it hears of it: one that only adds replicas counts as made by then, and is dropped; what it adds stays new",
        effects=(
            Effect(
                checkers=("controller_remembers",), only=lambda policies: policies.controller.takes_up_moves_together
            ),
        ),
    ),
    Ticket(
        key="AdminZkClient.addPartitions (2.4.1 to 3.9)",
        title="CreatePartitions writes back the assignment that it has read, whatever the topic's znode holds by then: "
        "what a move has written in between is gone from ZooKeeper, and stays in the controller's memory",
        since="2.4.0",
        effects=(
            Effect(
                checkers=(
                    "moves_recoverable",
                    "new_replicas_marked",
                    "replicas_notified",
                    "controller_remembers",
                    "broker_remembers",
                    "converged",
                ),
                parts=("IN_SYNC", "NO_STRAYS", "LED"),
            ),
            Effect(
                text="the same, and the controller that remembers the move is replaced: the move is lost",
                checkers=("unfinished",),
            ),
        ),
    ),
    Ticket(
        key="KafkaController.processApiPartitionReassignment (2.4.1 to 2.7.2)",
        title="a move that is asked for through the API is nowhere but in the controller's queue until it begins: it "
        "is lost with that controller",
        since="2.4.0",
        effects=(Effect(checkers=("unfinished",)),),
    ),
    Ticket(
        key="ReplicaStateMachine.doRemoveReplicasFromIsr (1.1.1 to 2.7.2)",
        title="a move that drops the leader, where no other could be elected before, leaves the partition online "
        "without one: none is elected, and OfflinePartitionsCount does not count it",
        since="0.8.2.0",
        effects=(Effect(checkers=("led_in_time", "offline_true", "converged"), parts=("LED",)),),
    ),
    Ticket(
        key="KafkaController.onPartitionReassignment (2.4.1 to 2.7.2)",
        title="a move that assigns the only in-sync replica again to a partition without a leader elects none: that "
        "waits for the next change of brokers",
        since="2.4.0",
        effects=(
            Effect(checkers=("led_in_time", "converged"), parts=("LED",)),
            Effect(
                text="a replica that a changed move has dropped and its leader has added to the ISR again is assigned "
                "by a later move without becoming new, and cannot become online (ReplicaStateMachine): a move that "
                "drops it neither stops it nor takes it out of the ISR",
                checkers=("steps_done", "replicas_notified", "drops_stopped", "converged", *DIVERGENCES),
                parts=("NO_STRAYS", "IN_SYNC", "SAME_LOGS"),
            ),
        ),
    ),
    Ticket(
        key="KafkaController.updateLeaderEpoch (2.4.1 to 3.0.2)",
        title="a move of a partition that has never had a leader fails half begun, with its replicas assigned: they "
        "are not new, cannot become online (ReplicaStateMachine), and get no LeaderAndIsr when their brokers start",
        since="2.4.0",
        effects=(
            Effect(checkers=("roles_adopted", "converged"), parts=("LED", "IN_SYNC")),
            Effect(
                text="a move of a partition that has never had a leader fails half begun; where the first leader then "
                "has the target in its ISR, the move stays until something has it checked again",
                checkers=("converged",),
                parts=("NOTHING_ASKED",),
            ),
            Effect(
                text="replicas of a move that failed so cannot go offline either: one that dies stays in the ISR, as "
                "long as it lacks nothing",
                checkers=("dead_leave_isr",),
            ),
            Effect(
                text="a move that fails so has read a state znode that was not there yet, so no watch tells its "
                "controller of the ISRs that are written to it",
                checkers=("broker_remembers",),
            ),
            Effect(
                text="a cancellation of a move that failed so cannot stop the replicas that it drops: they stay, also "
                "in the ISR",
                checkers=("converged", "drops_stopped", "replicas_notified"),
                parts=("IN_SYNC", "NO_STRAYS"),
            ),
            Effect(
                text="no controller that takes over can go on with such a move: each resigns, and the next one is "
                "elected at once; a topic that is being deleted gets no first leader, so this does not end",
                checkers=("converged",),
                parts=("NOTHING_ASKED", "LED", "IN_SYNC"),
            ),
        ),
    ),
    Ticket(
        key="KafkaController.processTopicDeletion (1.1.1 to 3.9)",
        title="a topic is deleted though /admin/reassign_partitions asks for its move (it is marked as ineligible "
        "before it is queued): the request stays until another controller is elected, which moves a new topic of that "
        "name",
        since="0.8.2.0",
        effects=(
            Effect(checkers=("converged",), parts=("NOTHING_ASKED",)),
            Effect(
                text="the controller of such a request is told nothing of the ISRs of a new topic of that name: its "
                "watch went with the old one",
                checkers=("broker_remembers",),
            ),
        ),
    ),
    Ticket(
        key="KafkaController.fetchTopicDeletionsInProgress (1.1.1 to 2.3.1)",
        title="a topic that is to be deleted, and is to be moved by the znode, waits for its move as a controller is "
        "elected, which then refuses the move: the topic stays until a broker of its replicas starts",
        last="2.3.1",
        rule=lambda _: True,  # also of later profiles with a strategy of earlier releases
        effects=(Effect(checkers=("converged",), parts=("NOTHING_ASKED", "IN_SYNC")),),
    ),
    Ticket(
        key="ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers (0.10.1 to 3.9)",
        title="a move of a topic that is to be deleted does not end: brokers are sent its partitions without leaders, "
        "leaders refuse what brokers do not know (KafkaApis.handleFetchRequest), and the deletion waits for the move",
        since="0.10.1.0",
        effects=(Effect(checkers=("converged",), parts=("NOTHING_ASKED", "IN_SYNC")),),
    ),
    Ticket(
        key="ControllerContext.removeTopic (2.4.1 to 3.0.2)",
        title="a topic that is deleted while it is moved leaves its moves in the controller's memory "
        "(partitionsBeingReassigned)",
        since="2.4.0",
        effects=(
            Effect(checkers=("controller_remembers",)),
            Effect(
                text="a broker that starts makes a move of a topic go on that is being deleted (onBrokerStartup): "
                "replicas that are deleted already are created again, and stay",
                checkers=("gone_topics_forgotten", "converged"),
                parts=("NO_STRAYS",),
            ),
            Effect(
                text="no preferred leader is elected by the check of the imbalance while a move is remembered, though "
                "its topic is gone",
                checkers=("elects_in_order",),
            ),
        ),
    ),
    Ticket(
        key="KafkaController.onPartitionReassignment (0.8.1)",
        title="a new replica gets no LeaderAndIsr where its broker registers, or another leader is elected, while "
        "the partition is moved: the move never ends",
        until=("0.8.2.0",),
        effects=(
            Effect(checkers=("converged",), parts=("NOTHING_ASKED",)),
            Effect(
                text="a new replica that is in the ISR when another leader is elected during its move goes on "
                "following the one before: the move ends, and no LeaderAndIsr follows",
                checkers=("roles_adopted", "converged"),
                parts=("LED", "IN_SYNC"),
            ),
            Effect(
                text="new replicas are assigned when their move is over: those of a move that does not end, or is "
                "given up, stay",
                checkers=("converged",),
                parts=("NO_STRAYS",),
            ),
        ),
    ),
    Ticket(
        key="ReplicaStateMachine.initializeReplicaState (0.8.1)",
        title="a replica that the controller takes for offline cannot go offline: a move that drops it leaves it in "
        "the ISR, and once its broker is back it is elected, without LeaderAndIsr, or none can be, and no move goes on",
        until=("0.8.2.0",),
        policies={"controller.replicas.predecessors": FOUR_STATES.predecessors},
        effects=(Effect(checkers=("converged",), parts=("LED", "IN_SYNC", "NOTHING_ASKED")),),
    ),
    Ticket(
        key="KafkaController.onPartitionReassignment (0.8.0)",
        title="a move to replicas that are in the ISR already, from a move that was given up, marks none of them as "
        "online: their brokers get no LeaderAndIsr when they start",
        until=("0.8.2.0",),
        effects=(
            Effect(checkers=("roles_adopted", "converged"), parts=("LED", "IN_SYNC")),
            Effect(
                text="the same: a later move that drops such a replica cannot take it offline, and does not stop it",
                checkers=("drops_stopped", "converged"),
                parts=("NO_STRAYS",),
            ),
        ),
        witness="KafkaController.onPartitionReassignment",
        source="KafkaController.onPartitionReassignment and ReplicaStateMachine.handleStateChange, 0.8.0",
    ),
    Ticket(
        key="ReassignedPartitionLeaderSelector.selectLeader (0.8.0)",
        title="a move gives leadership to a new replica that has left the ISR since the move went on",
        until=("0.8.1",),
        policies={"controller.selectors.reassigned": FIRST_LIVE_OF_TARGET},
        effects=(
            Effect(checkers=("leader_in_isr",)),
            Effect(
                text="the same: no leader adds itself, so it stays outside",
                checkers=("converged",),
                parts=("IN_SYNC",),
            ),
        ),
        source="ReassignedPartitionLeaderSelector.selectLeader, 0.8.0 and 0.8.1",
    ),
    Ticket(
        key="KAFKA-6794 (the document)",
        title="step 5 writes the assignment before the replicas that it drops leave the ISR: where the controller "
        "dies between the two, they stay, also as the only ones, which cannot lead, or as the leader, which gets no "
        "request",
        effects=(
            Effect(checkers=("converged", "offline_true"), parts=("IN_SYNC", "LED")),
            Effect(
                text="a partition in whose ISR there are only such replicas has no leader, or such a leader does not "
                "lead: its next move does not go on",
                checkers=("converged",),
                parts=("NOTHING_ASKED",),
            ),
            Effect(
                text="step 1 waits for all current replicas to be in the ISR, also for those that the move drops: "
                "while the broker of such a one is dead the move does not go on",
                checkers=("converged",),
                parts=("NOTHING_ASKED",),
            ),
        ),
    ),
)

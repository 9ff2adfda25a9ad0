"""Tickets of the in-sync set, of the high watermark on leaders, and of what brokers show of both."""

from brokers.partition.isr import ByController, ByZooKeeper, NotCaughtUp, StuckOrSlow
from brokers.under_replication import AllAssigned, FactorAtCreation, WithoutAdding
from scenarios.profiles.profile import Difference, Policies
from scenarios.profiles.ticket import DIVERGENCES, LOSSES, Effect, Ticket


def _drops_wishes(policies: Policies) -> bool:
    writes = policies.brokers.isr_writes
    return isinstance(writes, ByController) and not writes.awaits_answers


TICKETS = (
    Ticket(
        key="KAFKA-7128",
        title="a follower joins the ISR although it lacks records that are committed",
        last="2.0.0",
        until=("2.0.1", "2.1.0"),
        happened="After an election the high watermark of the new leader is behind what its predecessor had "
        "committed, until its followers have fetched. A follower that fetched up to that high watermark was taken "
        "into the ISR; when it was elected next, committed records were gone. Found with a model of the protocol, not "
        "by a user.",
        here="A leader takes in a follower at the high watermark, whether or not it has reached the start of the "
        "leader's epoch.",
        checker="joins_caught_up",
        also=("isr_complete",),
        policies={"brokers.join_needs_epoch_start": False},
        differences=(
            Difference(
                title="a follower joins the ISR",
                before="at the high watermark and the start of the leader's epoch",
                here="at the high watermark",
            ),
        ),
        effects=(
            Effect(
                text="a follower joins the ISR at the high watermark of a new leader, without what its predecessor "
                "had committed",
                checkers=(*LOSSES, *DIVERGENCES, "joins_caught_up"),
            ),
        ),
        witness="KAFKA-7128",
        source="Partition.isFollowerInSync, 2.0.0 and 2.1.0",
    ),
    Ticket(
        key="KIP-320",
        title="a follower that missed elections fetches from a leader that has other records than it",
        last="2.0",
        until=("2.1.0",),
        happened="A broker that the controller could not reach, or that had lost its session without knowing it, went "
        "on fetching from the leader that it knew. When that broker led again, with another log, nothing told the two "
        "that the follower had never truncated: it appended what came, and joined the ISR (KAFKA-6880, KAFKA-7395).",
        here="A leader answers fetches whatever leader epoch they name.",
        checker="leader_completeness",
        also=("isr_complete", "log_matching"),
        policies={"brokers.checks_epochs": False},
        differences=(
            Difference(
                title="a reader that knows another leader epoch than the replica",
                before="is refused (FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH)",
                here="may read",
            ),
        ),
        effects=(
            Effect(
                text="a follower that missed elections goes on fetching from the broker that it knew as the leader, "
                "which leads again with other records",
                checkers=(*LOSSES, *DIVERGENCES),
            ),
            Effect(
                text="a follower that missed elections reads what is written under a later epoch than the one in "
                "which it then leads, by a request that was late: its log forgets the later epoch",
                checkers=(*LOSSES, *DIVERGENCES, "append_shape", "logs_reload"),
            ),
            Effect(
                text="a follower truncates by what the leader of another epoch answers",
                checkers=(*LOSSES, *DIVERGENCES, "append_shape", "logs_reload"),
            ),
        ),
        witness="KIP-320",
        source="KIP-320; ReplicaManager.readFromLocalLog, 2.0.0 and 2.1.0",
    ),
    Ticket(
        key="KAFKA-7152",
        title="a follower that has everything leaves the ISR of a partition to which no client writes",
        last="2.0",
        until=("2.1.0",),
        happened="A follower that had not fetched for replica.lag.time.max.ms left the ISR, though there was nothing "
        "to fetch. With many partitions a slow round of the fetcher was enough: ISRs of idle partitions shrank and "
        "grew all the time, and each change went through ZooKeeper and the controller.",
        here="A member of the ISR that was not caught up lately leaves it, even at the end of the leader's log.",
        checker="shrinks_overdue",
        policies={"brokers.out_of_sync": NotCaughtUp(even_at_the_end=True)},
        differences=(
            Difference(
                title="a follower leaves the ISR",
                before="when it lags and has not been caught up for `replica.lag.time.max.ms`",
                here="when it has not been caught up for `replica.lag.time.max.ms`, also where its log ends where "
                "the leader's "
                "does",
            ),
        ),
        source="Partition.getOutOfSyncReplicas, 2.0.0 and 2.1.0",
    ),
    Ticket(
        key="KAFKA-10301",
        title="a leader forgets its followers for a moment when it gets a LeaderAndIsr",
        until=("2.6.0",),
        affected="in 2.6 before its release; fixed in 2.6.0",
        happened="The map of a leader's followers was emptied and filled again with each LeaderAndIsr. Threads that "
        "look at it without the lock could find it empty, which means that the leader is the only replica. Found by "
        "review before the release.",
        here="The leader looks at its high watermark while the map is empty, as if the race was lost each time. In "
        "Kafka that reader held the lock; the others, such as the low watermark, are not emulated.",
        checker="isr_complete",
        policies={"brokers.forgets_followers_first": True},
        source="Partition.updateAssignmentAndIsr, fa6e5b89222^ and 2.6.0",
    ),
    Ticket(
        key="KAFKA-1097",
        title="a leader takes a replica into the ISR that a move has removed",
        since="0.8.0",
        last="0.8.0",
        until=("0.8.1",),
        happened="A leader accepted every broker that fetched. The replica that a move removes fetches until it "
        "gets StopReplica; with little traffic it had everything, and the leader put it back into the ISR that the "
        "controller had just written without it. Its log was deleted then (KAFKA-1170 is the same race with the write "
        "to ZooKeeper).",
        here="A leader lets every broker that fetches into its ISR, assigned or not.",
        checker="expands_assigned",
        policies={"brokers.checks_assignment": False},
        differences=(
            Difference(
                title="a follower that is not assigned",
                before="cannot join the ISR",
                here="joins the ISR like any other",
            ),
        ),
        effects=(
            Effect(text="a leader adds a replica that is not assigned to it", checkers=("expands_assigned",)),
            Effect(
                text="a replica that a leader added though it is not assigned stays in the ISR as long as it fetches",
                checkers=("converged",),
                parts=("IN_SYNC",),
            ),
            Effect(
                text="a member of the ISR that is not assigned is elected, and LeaderAndIsr goes to those assigned "
                "only",
                checkers=("converged",),
                parts=("LED",),
            ),
        ),
        source="Partition.maybeExpandIsr and ReplicaManager.becomeLeaderOrFollower, 0.8.0 and 0.8.1",
    ),
    Ticket(
        key="KAFKA-2334",
        title="a new leader tells consumers an earlier end of the log than its predecessor did",
        until=("2.2.0",),
        affected="up to 2.1; fixed in 2.2.0 by KIP-207",
        happened="A follower learns of a commit with a later fetch, so the high watermark of a new leader lags until "
        "its followers have fetched from it. It answered ListOffsets with that: the end of a partition went back for "
        "a moment, and a consumer that was ahead of it got the answer that its offset is out of range.",
        here="A new leader answers with its high watermark as it is.",
        checker="applied_high_watermark",
        policies={"brokers.latest_is_committed": False},
        differences=(
            Difference(
                title="a new leader answers a consumer's request for the latest offset",
                before="once its high watermark has reached the start of its epoch",
                here="with its high watermark at once, which may lag what its predecessor had answered",
                source="KIP-207, 2.2",
            ),
        ),
        effects=(
            Effect(
                text="a new leader answers a consumer's request for the latest offset before it knows what is "
                "committed",
                checkers=("applied_high_watermark",),
            ),
        ),
        witness="KAFKA-2334",
        source="KIP-207; Partition.fetchOffsetForTimestamp, 2.1.0 and 2.2.0",
    ),
    Ticket(
        key="KAFKA-428",
        title="a leader writes its ISR without checking whether another broker has written it since",
        until=("0.8.0",),
        affected="0.8.0 during its development; fixed in 0.8.0",
        happened="A leader changed the ISR in its memory first. Then it read what ZooKeeper had, put its ISR into "
        "that, and wrote it back, even if it had changed meanwhile. A leader that had been replaced and did not "
        "know it wrote its own ISR beside the name of its successor. Since then ZooKeeper refuses the write "
        "unless the znode still has the version that the leader knows, and the memory changes after the write.",
        here="A leader has its new ISR at once, and puts it into the znode as it finds it. The checker sees a leader "
        "with an ISR that ZooKeeper does not have from it.",
        checker="isr_write_conditional",
        also=("broker_remembers", "isr_complete", "leader_in_isr"),
        policies={"brokers.isr_writes": ByZooKeeper(conditional=False)},
        source="Partition.updateISR, before and after the ticket's commit (August 2012)",
    ),
    Ticket(
        key="KAFKA-1382",
        title="a leader never learns that its write of the ISR took effect",
        last="0.8.1",
        until=("0.8.2",),
        happened="ZooKeeper applied the conditional write, and the connection was lost before its answer. The second "
        "attempt was refused for the version that the first had made. From then on every change of this ISR was "
        "refused, the leader counted on replicas that the ISR did not have, and only a restart helped.",
        here="A write that is refused for its version has failed, whatever the znode holds.",
        checker="converged",
        also=(
            "broker_remembers",
            "controller_remembers",
        ),
        policies={"brokers.isr_writes": ByZooKeeper(compares=False)},
        differences=(
            Difference(
                title="a leader changes its ISR",
                before="by a conditional write to ZooKeeper",
                here="by a conditional write to ZooKeeper; one that took effect before its connection was lost has "
                "failed",
            ),
        ),
        trigger="a lost answer to a leader's write of its ISR, and no election for that partition until "
        "everything is healed",
        effects=(
            Effect(
                text="an ISR that is in ZooKeeper though its write seemed to fail: the leader commits without a "
                "replica that it has added",
                checkers=(*LOSSES, *DIVERGENCES),
            ),
            Effect(
                text="a leader takes a write of its ISR for refused that ZooKeeper has carried out: it repeats it "
                "with the version from before until the next leader epoch, and no other change succeeds",
                checkers=("converged",),
                parts=("IN_SYNC", "GAUGES"),
            ),
            Effect(
                text="a leader takes a write of its ISR for refused that ZooKeeper has carried out: it goes on with "
                "the ISR from before",
                checkers=("broker_remembers",),
            ),
        ),
        source="ReplicationUtils.updateLeaderAndIsr and ZkUtils.conditionalUpdatePersistentPath, 0.8.1 and 0.8.2",
    ),
    Ticket(
        key="KAFKA-4485",
        title="a follower that keeps up leaves the ISR of a leader that is written to all the time",
        since="0.9",
        last="0.10.1",
        until=("0.10.2.0",),
        happened="A follower counted as caught up only when it asked for the end of the log. Where records come more "
        "often than it fetches it never does, however close it is: it left the ISR, and came back only when the "
        "producers paused.",
        here="A follower is caught up where its fetch finds nothing to read, and the high watermark waits for the ISR "
        "alone.",
        checker="converged",
        policies={"brokers.counts_last_fetch": False, "brokers.high_watermark_waits_for_caught_up": False},
        trigger="a producer that writes more often than a fetch takes",
        effects=(
            Effect(
                text="a follower that fetches as fast as the leader's log grows is never at its end: it does not "
                "join the ISR while the load goes on",
                checkers=("converged",),
                parts=("IN_SYNC",),
            ),
        ),
        rule=lambda policies: not policies.brokers.high_watermark_waits_for_caught_up,
        source="Replica.updateLogReadResult and Partition.maybeExpandIsr, 0.10.1.1 and 0.10.2.0",
    ),
    Ticket(
        key="KAFKA-1546",
        title="a follower leaves the ISR because a burst of messages is longer than a setting allows",
        last="0.8.2",
        until=("0.9.0.0",),
        happened="A follower left the ISR when it was more than replica.lag.max.messages behind. No value fits all "
        "topics: where producers send large batches each of them drove the followers out, and they came back a moment "
        "later, at the cost of two writes to ZooKeeper each time.",
        here="A follower that is more than 4000 messages behind, or does not fetch, leaves the ISR.",
        checker="converged",
        also=("shrinks_overdue",),
        policies={"brokers.out_of_sync": StuckOrSlow()},
        differences=(
            Difference(
                title="a follower leaves the ISR",
                here="when it lags and has not fetched for `replica.lag.time.max.ms`, or lags by more than "
                "`replica.lag.max.messages`",
            ),
        ),
        source="Partition.getOutOfSyncReplicas, 0.8.2.2 and 0.9.0.0",
    ),
    Ticket(
        key="KAFKA-4313",
        title="a replication throttle drives replicas out of the ISR, and keeps them out",
        since="0.10.1.0",
        last="0.10.1.0",
        until=("0.10.1.1",),
        happened="The throttle of KIP-73 is meant for replicas that catch up. It also held back those that were in "
        "sync: with a rate below what producers wrote they fell out of the ISR, caught up a little, and fell out "
        "again.",
        here="A leader throttles members of the ISR like all others.",
        checker="converged",
        policies={"brokers.throttles_in_sync": True},
        trigger="a throttle below what producers write that is still there when all faults have ended",
        source="ReplicaManager.readFromLocalLog, 0.10.1.0 and 0.10.1.1",
    ),
    Ticket(
        key="KIP-352",
        title="a partition that is being moved counts as under-replicated",
        last="2.4",
        until=("2.5.0",),
        happened="A move adds replicas to the assignment before they have anything. As UnderReplicatedPartitions "
        "compared the ISR with all that are assigned, every move set off the alarm that operators have for failed "
        "brokers, and while one went on a real failure was not noticed (KAFKA-8834).",
        here="The replicas that a move adds count like all others. The checker sees a gauge that is higher than the "
        "release means it to be.",
        checker="under_replicated_true",
        policies={"brokers.under_replication": AllAssigned()},
        fixed={"brokers.under_replication": WithoutAdding()},
        differences=(
            Difference(
                title="a partition counts as under-replicated",
                before="with fewer replicas in sync than assigned",
                here="with fewer replicas in sync than assigned, not counting those being added",
            ),
        ),
        source="KIP-352; Partition.isUnderReplicated, 2.4.1 and 2.5.0",
    ),
    Ticket(
        key="KAFKA-7704",
        title="an idle follower shows the whole high watermark as its lag",
        since="2.1.0",
        last="2.1.0",
        until=("2.1.1",),
        happened="The lag was computed from the offset after the last record of the answer, which for an answer "
        "without records is 0. MaxLag of a cluster without traffic was as high as its longest log, and alerts fired.",
        here="An answer without records sets the lag to the leader's high watermark.",
        checker="lag_true",
        policies={"fetchers.empty_answer_lags": True},
        source="AbstractFetcherThread.processFetchRequest, 2.1.0 and 2.1.1",
    ),
    Ticket(
        key="KafkaApis.handleFetchRequest (0.8.0 to 0.8.1.1)",
        title="a follower's fetch counts before it is read: one that is ahead of its leader joins the ISR, and cuts "
        "its log once the fetch is refused",
        until=("0.8.2.0",),
        policies={"brokers.records_fetch_first": True},
        effects=(Effect(checkers=(*LOSSES, *DIVERGENCES, "joins_caught_up")),),
        witness="KafkaApis.handleFetchRequest",
    ),
    Ticket(
        key="KAFKA-9338",
        title="a session is not held against a new leader epoch: a follower that missed elections goes on fetching "
        "within it from the broker that it knew as the leader, which leads again with other records",
        until=("2.5.0",),
        policies={"brokers.sessions_keep_epochs": False},
        fixed={"brokers.sessions_keep_epochs": True},
        rule=lambda policies: policies.brokers.checks_epochs and not policies.brokers.sessions_keep_epochs,
        effects=(
            Effect(checkers=(*LOSSES, *DIVERGENCES)),
            Effect(
                text="the same within a session, which is not held against a new leader epoch",
                checkers=(*LOSSES, *DIVERGENCES, "append_shape", "logs_reload"),
            ),
        ),
    ),
    Ticket(
        key="Log.updateHighWatermark (2.4)",
        title="a follower, or a copy in another log directory, takes over a high watermark from before its start",
        until=("2.4.0",),
        policies={"brokers.start_raises_learned_high_watermark": False},
        fixed={"brokers.start_raises_learned_high_watermark": True},
        effects=(
            Effect(checkers=("offset_bounds",)),
            Effect(
                text="a high watermark from before the log's start stays until the follower learns another one, or its "
                "broker starts again",
                checkers=("logs_reload",),
            ),
        ),
        witness="Log.updateHighWatermark",
    ),
    Ticket(
        key="Partition.maybeIncrementLeaderHW (0.10.2 to 3.9)",
        title="a leader that gets the target of a move commits without the members of its ISR that the next step "
        "drops: where the controller is replaced between the two they stay in the ISR, and are assigned again, with "
        "less",
        since="0.10.2.0",
        effects=(Effect(checkers=(*LOSSES, *DIVERGENCES)),),
    ),
    Ticket(
        key="Partition.makeLeader (0.9 to 3.9)",
        title="a leader that has not learned that another one led meanwhile goes on from where it knew its followers "
        "to be, and commits what they have cut off",
        since="0.9.0.0",
        effects=(Effect(checkers=(*LOSSES, *DIVERGENCES)),),
    ),
    Ticket(
        key="KAFKA-14140",
        title="a leader adds a replica to its ISR whose broker has died since its last fetch, or has no session any "
        "more: no controller prevents it",
        last="3.2",
        until=("3.3.0",),
        happened="A broker that had lost its session in ZooKeeper, or was shutting down, still fetched. The controller "
        "took it out of the ISR, and its leader, which looks at fetches alone, took it in again. Where the leader died "
        "then, a replica that could not lead was all that was left; one that came back with an empty disk could lead, "
        "and lose what was committed (KIP-841).",
        here="Leaders do not look whether a broker is alive, and the controller writes what they ask for. The checkers "
        "see a dead broker in the ISR that the controller has written, and that it stays there.",
        checker="dead_leave_isr",
        also=("elects_the_living",),
        policies={"brokers.isr_needs_live": False, "controller.refuses_dead_in_isr": False},
        fixed={"brokers.isr_needs_live": True, "controller.refuses_dead_in_isr": True},
        trigger="a broker without a session that fetches",
        effects=(Effect(checkers=("dead_leave_isr", "elects_the_living")),),
    ),
    Ticket(
        key="KAFKA-13141",
        title="a follower whose log diverges from its leader's counts as if it had what it is about to cut off",
        since="2.7.0",
        last="2.8.0",
        until=("2.7.2", "2.8.1", "3.0.0"),
        happened="With truncation on fetch (KIP-595) a leader answers a follower whose log diverges with the place to "
        "truncate to. It noted the offset of that fetch all the same: an old leader that came back with records which "
        "no other had could join the ISR, and move the high watermark, by records that it then cut off.",
        here="A leader counts the fetch that it answers with a diverging epoch. The checker sees an in-sync replica "
        "that lacks what is committed.",
        checker="isr_complete",
        also=("joins_caught_up",),
        policies={"brokers.diverging_fetch_counts": True},
        trigger="a leader with records that no other has, which comes back with a longer log than the next one",
        source="ReplicaManager.updateFollowerFetchState, 2.8.0 and 2.8.1",
    ),
    Ticket(
        key="KAFKA-12996",
        title="a follower below the start of its leader's log gets the place where the logs diverge, and fails",
        since="2.7.0",
        last="2.8.0",
        until=("2.7.2", "2.8.1", "3.0.0"),
        happened="With truncation on fetch (KIP-595) a leader looked first whether the follower's last epoch diverges, "
        "and then whether it has that offset. A follower that was below the start of the leader's log, under an epoch "
        "that the leader did not know, got the place to truncate to together with the leader's log start. It could not "
        "take over a start beyond its own end: the partition failed there, until a restart.",
        here="A leader gives that answer. The checker sees that the follower does not get well.",
        checker="converged",
        policies={"brokers.diverges_below_start": True},
        trigger="unclean elections, and records that are deleted meanwhile",
        source="Partition.readRecords, 2.8.0 and 2.8.1",
    ),
    Ticket(
        key="KAFKA-15583",
        title="the high watermark goes on while fewer replicas than min.insync.replicas are in sync",
        last="3.6",
        until=("3.7.0",),
        happened="A leader that was left alone in its ISR went on committing what producers with acks=1 wrote, "
        "whatever min.insync.replicas asked for. Consumers read it, though no other replica had it. Where the leader "
        "died then and an unclean election took another one, consumers had read what was no longer there.",
        here="A leader looks at the members of its ISR alone. The checker sees what it commits meanwhile; in releases "
        "before 3.7 that is how Kafka works.",
        checker="held_by_min_isr",
        policies={"brokers.high_watermark_needs_min_isr": False},
        fixed={"brokers.high_watermark_needs_min_isr": True},
        trigger="min.insync.replicas, and producers with acks=1",
        source="Partition.maybeIncrementLeaderHW, 3.6.2 and 3.7.0",
    ),
    Ticket(
        key="Partition.isUnderReplicated (0.8.0)",
        title="a partition counts as under-replicated by the replication factor that it had when it came to the broker",
        until=("0.8.1",),
        policies={"brokers.under_replication": FactorAtCreation()},
        effects=(Effect(checkers=("converged",), parts=("GAUGES",)),),
    ),
    Ticket(
        key="KafkaZkClient.conditionalUpdatePath (1.1.1 to 2.6.3)",
        title="a leader whose session ends while ZooKeeper carries out its write of the ISR goes on with the ISR from "
        "before: it commits without a replica that it has added, until it learns of the next leader",
        since="1.1.0",
        until=("2.7.0",),
        effects=(
            Effect(checkers=(*LOSSES, *DIVERGENCES)),
            Effect(
                text="what a coordinator loses so is a producer's epoch: the next coordinator gives it to another "
                "instance, whose first batch then counts as a repetition",
                checkers=("no_acked_record_lost",),
            ),
        ),
        source="Partition.expandIsr and ReplicationUtils.updateLeaderAndIsr, 1.1.1 and 2.6.3",
    ),
    Ticket(
        key="Partition.handleAlterIsrResponse (2.7.0 to 3.0.0)",
        title="the controller takes its own write, whose answer was lost, for that of another one; the leader, which "
        "is refused, waits for the next leader epoch with the ISR from before",
        since="2.7.0",
        effects=(Effect(checkers=("converged",), parts=("GAUGES",)),),
    ),
    Ticket(
        key="KAFKA-14010",
        title="a leader whose request for an ISR fails for a reason that passes asks no more",
        since="2.7.0",
        last="3.2.0",
        until=("3.2.1", "3.3.0"),
        happened="Where the controller could not write an ISR, because its session had expired, it answered with an "
        "error that the leader meant to ask again after. But its first try was still in the queue, which takes one of "
        "a partition, so that the second one was refused there. Up to 3.0 the change then counted as under way for "
        "ever, or until the next leader epoch; in 3.1 and 3.2.0 it was given up.",
        here="A leader takes such an answer for final, as up to 3.0.",
        checker="converged",
        policies={
            "brokers.isr_writes": ByController(at_once=True, awaits_answers=True, outcome_moves_high_watermark=True)
        },
        fixed={
            "brokers.isr_writes": ByController(
                at_once=True, awaits_answers=True, outcome_moves_high_watermark=True, asks_again=True
            )
        },
        trigger="a controller whose session expires while it writes an ISR for a leader",
        source="DefaultAlterIsrManager.handleAlterIsrResponse, 2.7.2, 3.0.2, 3.1.2, 3.2.0 and 3.2.3",
    ),
    Ticket(
        key="KAFKA-12686",
        title="the answer to an AlterIsr of an earlier leader epoch takes along what the leader has wished for "
        "since, which is never sent: its ISR stays as it is, the high watermark waits for whom it would add, and a "
        "move that waits for it does not end",
        since="2.7.0",
        last="2.8",
        until=("3.0.0",),
        happened="A leader had asked for an ISR when a LeaderAndIsr gave it another leader epoch. It forgot what it "
        "had asked for, and asked for something else, which had to wait for the answer to the first request. That "
        "answer was about the first one, and removed whatever was waiting for the partition. The leader waited for "
        "ever, or until the next leader epoch.",
        here="A LeaderAndIsr drops what was asked for in the last leader epoch, and its answer takes along what waits.",
        checker="converged",
        witness="KAFKA-12686",
        policies={"brokers.isr_writes": ByController(at_once=True)},
        rule=_drops_wishes,
        trigger="a leader epoch between a request for an ISR and its answer",
        source="DefaultAlterIsrManager, 2.8.2 and 3.0.2; Partition.makeLeader",
        effects=(
            Effect(
                checkers=("converged", "expectation"), parts=("IN_SYNC", "COMMITTED", "NOTHING_ASKED"), expects=("isr",)
            ),
            Effect(text="the change of the ISR that was not sent does not end", checkers=("isr_changes_end",)),
        ),
    ),
)

"""S14: it fires when an acknowledged record is gone, and not for what Kafka allows."""

from emulator.protocol import events as e
from emulator.protocol.znodes import encode_topic, topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.no_acked_record_lost import NoAckedRecordLost
from scenarios.observe.history.acknowledged import ALL, ONE
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = NoAckedRecordLost.name
ALL_OF_THEM = (
    "log_matching", "leader_completeness", "isr_complete", "truncate_safety", "no_acked_record_lost",
)  # fmt: skip


def story() -> WrittenHistory:
    return WrittenHistory(NAME).begin()


def lost(story: WrittenHistory, acks: int = ALL) -> tuple[int, int]:
    """How many batches and records were lost, in all."""
    story.violations()
    found = [event for event in story.events_so_far() if type(event) is e.AckedLost and event.acks == acks]
    return sum(event.batches for event in found), sum(event.records for event in found)


def test_a_clean_leader_without_the_record() -> None:
    run = story()
    run.everywhere(0, 1)
    run.append(0, 10, 2, leader=True)
    run.append(1, 10, 2)
    run.acked(0, 1)
    run.acked(10, 2)
    run.state(2, (1, 2), 1)
    election = run.leads(2, 1)
    [violation] = run.violations()
    assert violation.invariant == NAME
    [found] = [event for event in run.events_so_far() if type(event) is e.AckedLost]
    assert (violation.seq, found.cause) == (found.seq, election.seq)
    assert violation.t_us == election.t_us
    assert "1 acknowledged batch not" in violation.state
    assert "batch 2, from offset 10 on, 10 records in all" in violation.state
    assert "broker 2, leader of epoch 1, which ends at 10" in violation.state


def test_the_violation_is_in_the_trace_and_points_to_the_event_that_showed_it() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.acked(0, 1)
    run.trace.cause = 3
    run.state(1, (1, 2), 1)
    election = run.leads(1, 1)
    [violated] = [event for event in run.events_so_far() if type(event) is e.Violated]
    [found] = [event for event in run.events_so_far() if type(event) is e.AckedLost]
    assert (violated.cause, found.cause) == (found.seq, election.seq)
    assert violated.invariant == NAME
    assert "orders-0" in violated.statement
    assert run.trace.cause == 3


def test_a_clean_leader_that_has_everything() -> None:
    run = story()
    run.everywhere(0, 1)
    run.acked(0, 1)
    run.append(0, 10, 2, leader=True)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    run.follows(0, 1, 1)
    run.truncated(0, 10)
    run.everywhere(10, 3, 1, (1, 2, 0))
    run.acked(10, 3, leader=1)
    assert run.violations() == []
    assert lost(run) == lost(run, ONE) == (0, 0)


def test_another_batch_at_the_same_offset_is_not_the_record() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.append(1, 0, 9)
    run.acked(0, 1)
    run.state(1, (1,), 1)
    run.leads(1, 1)
    assert run.invariants() == [NAME]


def test_the_record_after_another_history_is_not_the_record() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.append(0, 10, 2, leader=True)
    run.append(1, 0, 8)
    run.append(1, 10, 2)
    run.acked(10, 2)
    run.state(1, (1,), 1)
    run.leads(1, 1)
    assert run.invariants() == [NAME]


def test_an_unclean_election_loses_and_is_measured() -> None:
    run = story()
    run.everywhere(0, 1)
    for id, base in ((2, 10), (3, 20)):
        run.everywhere(base, id, nodes=(0, 1))
        run.acked(base, id)
    run.state(0, (0, 1), 0)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    assert run.violations() == []
    assert lost(run) == (2, 20)


def test_an_unclean_election_that_only_the_controller_reports() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.acked(0, 1)
    run.state(2, (2,), 1)
    run.emit(e.LeaderElected, *ORDERS_0, 2, 1, (2,), "offline", 1, True)
    run.leads(2, 1)
    assert run.violations() == []
    assert lost(run) == (1, 10)


def test_an_acknowledgement_still_on_its_way_during_an_unclean_election_is_measured() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.state(0, (0,), 0)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    run.acked(0, 1, leader=0)
    assert run.violations() == []
    assert lost(run) == (1, 10)


def test_what_survived_an_unclean_election_must_survive_the_next_clean_one() -> None:
    run = story()
    run.everywhere(0, 1, nodes=(0, 2))
    run.acked(0, 1)
    run.state(0, (0,), 0)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    run.state(2, (2, 1), 1)
    run.state(1, (1,), 2)
    run.leads(1, 2)
    assert run.invariants() == [NAME]


def test_what_is_written_after_an_unclean_election_is_protected_again() -> None:
    run = story()
    run.state(0, (0,), 0)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    run.append(2, 0, 5, 1, leader=True)
    run.acked(0, 5, leader=2)
    run.state(2, (2, 1), 1)
    run.state(1, (1,), 2)
    run.leads(1, 2)
    assert run.invariants() == [NAME]


def test_an_acknowledgement_that_travels_while_a_clean_leader_takes_over() -> None:
    run = story()
    run.everywhere(0, 1)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    run.acked(0, 1, leader=0)
    assert run.violations() == []


def test_an_acknowledgement_for_what_the_new_clean_leader_lacks() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    acked = run.acked(0, 1, leader=0)
    [violation] = run.violations()
    [found] = [event for event in run.events_so_far() if type(event) is e.AckedLost]
    assert (violation.seq, found.cause) == (found.seq, acked.seq)
    assert "1 acknowledged batch not in the log of broker 1" in violation.state


def test_a_leader_that_restarts_with_less_proves_nothing_while_the_isr_has_the_record() -> None:
    run = story()
    run.everywhere(0, 1)
    run.emit(e.NodeCrashed, 0, 1, "host")
    run.loaded(0, 0)
    run.acked(0, 1)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    run.follows(0, 1, 1)
    assert run.violations() == []


def committed(isr: tuple[int, ...] = (0, 1)) -> WrittenHistory:
    """Two batches of broker 0, committed and acknowledged; broker 2 is out of the ISR unless it is named."""
    run = WrittenHistory(*ALL_OF_THEM).begin()
    run.assigned((0, 1, 2))
    run.state(0, isr, 0)
    for number in (0, 1):
        run.everywhere(10 * number, number + 1, nodes=isr)
        run.high_watermark(0, 10 * (number + 1), leader=True)
        run.acked(10 * number, number + 1)
    return run


def crash(run: WrittenHistory, *nodes: int, kind: str = "host") -> None:
    for node in nodes:
        run.emit(e.NodeCrashed, node, 1, kind)


def losses_of(run: WrittenHistory) -> list[tuple[bool, int]]:
    """Whether the loss is that of KIP-966, and of how many batches."""
    return [(event.unflushed, event.batches) for event in run.events_so_far() if type(event) is e.AckedLost]


def test_a_host_crash_that_loses_the_only_copy() -> None:
    """Counted, and no violation: nothing but a flush could have kept it."""
    run = committed((0,))
    crash(run, 0)
    run.loaded(0, 10)
    run.state(-1, (0,), 1)
    run.state(0, (0,), 2)
    run.leads(0, 2, end=10)
    assert run.violations() == []
    assert losses_of(run) == [(True, 1)]


def test_the_only_copy_that_leads_again_in_its_epoch() -> None:
    """It was back before any controller noticed."""
    run = committed((0,))
    crash(run, 0)
    run.loaded(0, 0)
    run.leads(0, 0)
    assert run.violations() == []
    assert losses_of(run) == [(True, 2)]


def test_the_only_copy_of_which_a_recovery_cut_a_damaged_batch() -> None:
    """The machine stayed up."""
    run = committed((0,))
    crash(run, 0, kind="process")
    run.emit(e.LogRecovered, 0, *ORDERS_0, 10, 1, "corrupt")
    run.loaded(0, 10)
    run.state(0, (0,), 1)
    run.leads(0, 1, end=10)
    assert run.violations() == []
    assert losses_of(run) == [(True, 1)]


def test_an_acknowledgement_that_was_on_its_way_when_the_machines_crashed() -> None:
    run = committed((0,))
    run.append(0, 20, 3, leader=True)
    run.high_watermark(0, 30, leader=True)
    crash(run, 0)
    run.loaded(0, 20)
    run.state(0, (0,), 1)
    run.leads(0, 1, end=20)
    run.acked(20, 3)
    assert run.violations() == []
    assert losses_of(run) == [(True, 1)]


def test_what_every_in_sync_machine_loses_is_the_gap_of_kip_966() -> None:
    """Broker 1 had flushed more than broker 0, which leads first: broker 1 truncates."""
    run = committed()
    crash(run, 0, 1)
    run.loaded(0, 0)
    run.state(0, (0, 1), 1)
    run.leads(0, 1)
    run.loaded(1, 10)
    run.follows(1, 0, 1, end=10)
    run.truncated(1, 0)
    run.everywhere(0, 3, 1, nodes=(0, 1))
    run.high_watermark(0, 10, 1, leader=True)
    run.high_watermark(1, 10, 1)
    assert run.violations() == []
    assert losses_of(run) == [(True, 2)]


def test_those_that_come_back_with_less_than_the_leader_may_do_so() -> None:
    run = committed()
    crash(run, 0, 1)
    run.loaded(0, 20)
    run.state(0, (0, 1), 1)
    run.leads(0, 1, 20, 20)
    run.loaded(1, 0)
    run.follows(1, 0, 1)
    run.state(0, (0, 1), 1)
    run.append(1, 0, 1)
    run.append(1, 10, 2)
    assert run.violations() == []
    assert losses_of(run) == []


def test_the_second_case_of_kip_101_is_seen_all_the_same() -> None:
    """Both machines lose their tails, and the one that had more does not truncate what the leader has replaced."""
    run = committed()
    crash(run, 0, 1)
    run.loaded(0, 0)
    run.state(0, (0, 1), 1)
    run.leads(0, 1)
    run.loaded(1, 10, 10)
    run.follows(1, 0, 1, 10, 10)
    run.append(0, 0, 3, 1, leader=True)
    run.high_watermark(0, 10, 1, leader=True)
    run.high_watermark(1, 10, 1)
    assert dict.fromkeys(run.invariants()) == {"isr_complete": None, "log_matching": None}


def test_one_machine_that_was_spared_is_enough() -> None:
    """Broker 1 is only killed: it has on its disk what broker 0 lost, and broker 0 leads without it."""
    run = committed()
    crash(run, 0)
    crash(run, 1, kind="process")
    run.loaded(0, 0)
    run.state(0, (0, 1), 1)
    run.leads(0, 1)
    assert NAME in run.invariants()
    assert losses_of(run) == [(False, 2)]


def test_a_machine_that_was_back_in_sync_is_spared() -> None:
    """The two crashes do not overlap: broker 1 had caught up when broker 0 crashed."""
    run = committed()
    crash(run, 1)
    run.loaded(1, 20)
    run.follows(1, 0, 0, 20, 20)
    crash(run, 0)
    run.loaded(0, 0)
    run.state(0, (0, 1), 1)
    run.leads(0, 1)
    assert NAME in run.invariants()
    assert losses_of(run) == [(False, 2)]


def test_a_leader_that_found_its_log_and_cut_it_off_is_not_excused() -> None:
    """All machines crashed, but this one had flushed."""
    run = committed()
    crash(run, 0, 1)
    run.loaded(0, 20)
    run.follows(0, 1, 1, 20, 20)
    run.truncated(0, 0)
    run.state(0, (0, 1), 2)
    run.leads(0, 2)
    assert NAME in run.invariants()
    assert losses_of(run) == [(False, 2)]


def test_a_member_that_was_removed_and_came_back_too_early_is_not_excused() -> None:
    run = committed()
    crash(run, 0, 1)
    run.state(-1, (1,), 1)
    run.loaded(1, 20)
    run.state(1, (1,), 2)
    run.leads(1, 2, 20, 20)
    run.loaded(0, 0)
    run.state(1, (1, 0), 2)
    assert run.invariants() == ["isr_complete"]


def test_a_process_crash_keeps_the_log() -> None:
    run = story()
    run.everywhere(0, 1)
    run.acked(0, 1)
    run.emit(e.NodeCrashed, 0, 1, "process")
    run.loaded(0, 10)
    run.state(0, (0, 1, 2), 1)
    run.leads(0, 1)
    assert run.violations() == []


def test_the_leaders_own_log_is_looked_at_in_the_end() -> None:
    run = story()
    run.everywhere(0, 1)
    run.acked(0, 1)
    run.truncated(0, 0)
    assert run.invariants() == [NAME]


def test_one_loss_is_reported_once() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.acked(0, 1)
    for leader, epoch in ((1, 1), (2, 2), (1, 3)):
        run.state(leader, (1, 2), epoch)
        run.leads(leader, epoch)
    assert run.invariants() == [NAME]


def test_acks_1_may_be_lost_and_is_counted() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.acked(0, 1, acks=1)
    run.append(0, 10, 2, leader=True)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    run.acked(10, 2, acks=1)
    assert run.violations() == []
    assert lost(run, ONE) == (2, 20)


def test_a_batch_that_failed_may_be_lost() -> None:
    run = story()
    run.append(0, 0, 1, leader=True)
    run.acked(0, 1, error="REQUEST_TIMED_OUT")
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    assert run.violations() == []


def test_a_late_adoption_of_an_old_epoch_is_not_an_election() -> None:
    run = story()
    run.everywhere(0, 1, nodes=(0, 1))
    run.acked(0, 1)
    run.state(1, (1,), 2)
    run.leads(1, 2)
    run.leads(2, 1)
    assert run.violations() == []


def test_preloaded_data_is_the_same_on_the_disk_and_when_fetched() -> None:
    run = WrittenHistory(NAME)
    for node in (0, 1):
        run.loaded(node, 20)
    run.loaded(2)
    run.state(0, (0, 1), 0)
    run.leads(0, 0)
    run.append(2, 0, -1)
    run.append(2, 10, -2)
    run.everywhere(20, 1)
    run.acked(20, 1)
    run.state(0, (0, 1, 2), 0)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    assert run.violations() == []


def test_a_deleted_and_fetched_again_replica_is_as_good_as_new() -> None:
    run = story()
    run.everywhere(0, 1)
    run.acked(0, 1)
    run.emit(e.ReplicaStopped, 2, *ORDERS_0, True)
    run.loaded(2)
    run.append(2, 0, 1)
    run.state(2, (1, 2), 1)
    run.leads(2, 1)
    assert run.violations() == []


def test_a_deleted_replica_that_comes_back_empty_has_lost_the_record() -> None:
    run = story()
    run.everywhere(0, 1)
    run.acked(0, 1)
    run.emit(e.ReplicaStopped, 2, *ORDERS_0, True)
    run.loaded(2)
    run.state(2, (1, 2), 1)
    run.leads(2, 1)
    assert run.invariants() == [NAME]


def test_a_deleted_partition_need_not_have_its_records() -> None:
    run = story()
    run.everywhere(0, 1)
    run.acked(0, 1)
    run.deleted()
    for node in (0, 1, 2):
        run.emit(e.ReplicaStopped, node, *ORDERS_0, True)
    run.begin()
    run.state(1, (0, 1, 2), 1)
    run.leads(1, 1)
    assert run.violations() == []


def test_a_leader_that_has_restarted_by_the_end_proves_nothing() -> None:
    run = story()
    run.everywhere(0, 1)
    run.acked(0, 1)
    run.loaded(0, 0)
    assert run.violations() == []


def test_once_a_new_leader_has_come_it_is_its_log_that_counts_again() -> None:
    run = story()
    run.everywhere(0, 1, nodes=(0, 2))
    run.loaded(0, 0)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    run.acked(0, 1, leader=0)
    assert run.invariants() == [NAME]


def test_a_late_acknowledgement_from_after_an_unclean_election_is_not_forgiven() -> None:
    run = story()
    run.state(0, (0,), 0)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    run.append(2, 0, 5, 1, leader=True)
    run.state(2, (2, 1), 1)
    run.state(1, (1,), 2)
    run.leads(1, 2)
    run.acked(0, 5, leader=2)
    assert run.invariants() == [NAME]


def test_acknowledgements_may_arrive_in_any_order() -> None:
    run = story()
    run.everywhere(0, 1)
    run.append(0, 10, 2, leader=True)
    run.acked(10, 2)
    run.acked(0, 1)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    assert run.invariants() == [NAME]


def test_what_a_deleted_topic_took_with_it_is_not_counted_as_lost() -> None:
    """The acknowledgement of acks=1 reaches the producer when the leader's log is gone already."""
    run = story()
    run.emit(ZkWritten, -10, "create", topic_path("orders"), 0, 0, encode_topic({0: (0, 1, 2)}))
    run.append(0, 0, 1, leader=True)
    run.emit(Step, "delete.partitions", "after", "orders", -1, -1, 0, 3, "")
    for node in (0, 1, 2):
        run.emit(e.ReplicaStopped, node, *ORDERS_0, True)
    run.acked(0, 1, acks=1)
    assert run.violations() == []
    assert lost(run, ONE) == (0, 0)


def test_a_topic_created_again_under_the_name_of_a_deleted_one_is_checked_like_any() -> None:
    run = story()
    run.everywhere(0, 1)
    run.acked(0, 1)
    for node in (0, 1, 2):
        run.emit(e.ReplicaStopped, node, *ORDERS_0, True)
    run.deleted()
    run.begin((1, 2, 0))
    run.everywhere(0, 2, nodes=(1, 2, 0))
    run.acked(0, 2, leader=1)
    run.state(0, (0, 2), 1)
    run.truncated(0, 0)
    run.leads(0, 1)
    [violation] = run.violations()
    assert "batch 2, from offset 0 on" in violation.state


def test_the_sibling_for_acks_1_watches_where_it_is_expected() -> None:
    def lose(run: WrittenHistory) -> WrittenHistory:
        run.begin()
        run.append(0, 0, 1, leader=True)
        run.acked(0, 1, acks=1)
        run.state(1, (1, 2), 1)
        run.leads(1, 1)
        return run

    every_run, expecting = WrittenHistory(), WrittenHistory("no_acks_1_record_lost")
    assert NAME not in lose(every_run).invariants()
    assert "no_acks_1_record_lost" not in every_run.checkers.counts
    assert lose(expecting).invariants() == ["no_acks_1_record_lost"]
    assert lost(every_run, ONE) == lost(expecting, ONE) == (1, 10)

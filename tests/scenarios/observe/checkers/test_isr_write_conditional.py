"""E5: the ISR of a leader is the one that it has written."""

from emulator.protocol import events as e
from scenarios.observe.checkers.isr_write_conditional import IsrWriteConditional
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def changed(run: WrittenHistory, version: int, isr: tuple[int, ...] = (0, 1), node: int = 0, epoch: int = 0) -> None:
    run.proposes(node, "shrink", 2)
    run.emit(e.IsrChanged, node, *ORDERS_0, epoch, "shrink", isr, version)


def story() -> WrittenHistory:
    """The state znode at version 1 has broker 0, leader of epoch 0, with the ISR [0, 1]."""
    run = WrittenHistory(IsrWriteConditional.name)
    run.state(0, (0, 1, 2), 0)
    run.state(0, (0, 1), 0)
    return run


def test_an_isr_that_was_never_written() -> None:
    run = story()
    changed(run, 2)
    [violation] = run.violations()
    assert violation.state == (
        "orders-0: broker 0, leader of epoch 0, has the ISR [0, 1] by version 2 of the state znode; "
        "that version was never written"
    )


def test_another_has_written_that_version() -> None:
    for other in ({"isr": (0, 2)}, {"node": 1}, {"epoch": 1}):
        run = story()
        changed(run, 1, **other)
        [violation] = run.violations()
        assert violation.state.endswith("there it names leader 0, epoch 0, ISR [0, 1]")


def test_an_isr_as_it_was_written_though_the_answer_comes_late() -> None:
    run = story()
    run.state(1, (1,), 1)
    changed(run, 1)
    assert run.violations() == []


def fails(run: WrittenHistory, node: int = 0) -> None:
    run.emit(e.IsrUpdateFailed, node, *ORDERS_0, 1)


def test_a_change_that_was_proposed_under_an_earlier_role() -> None:
    for role in ("leads", "follows", "offline", "stopped", "crashed"):
        run = story()
        run.proposes(0, "shrink", 2)
        if role == "leads":
            run.leads(0, 2)
        elif role == "follows":
            run.follows(0, 1, 2)
        elif role == "offline":
            run.emit(e.ReplicaOffline, 0, *ORDERS_0)
        elif role == "stopped":
            run.emit(e.ReplicaStopped, 0, *ORDERS_0, True)
        else:
            run.emit(e.NodeCrashed, 0, 0, "process")
        fails(run)
        [violation] = run.violations()
        assert violation.state == (
            "orders-0: broker 0 fails to change its ISR in epoch 1, "
            "and has proposed no change since it took up its role"
        )


def test_one_outcome_of_each_proposal() -> None:
    run = story()
    changed(run, 1)
    assert run.violations() == []
    run = story()
    changed(run, 1)
    fails(run)
    assert len(run.violations()) == 1


def test_a_replica_that_is_stopped_and_stays_leads_on() -> None:
    run = story()
    run.proposes(0, "shrink", 2)
    run.emit(e.ReplicaStopped, 0, *ORDERS_0, False)
    fails(run)
    assert run.violations() == []

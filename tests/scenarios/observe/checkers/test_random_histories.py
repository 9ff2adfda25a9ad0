"""Random histories: checkers accept legal ones and report every injected defect."""

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.protocol.events import AckedLost, Truncated
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.ideal import NODES, TRANSITIONS, Ideal, Move
from tests.scenarios.observe.checkers.written_history import COUNT, WrittenHistory

MOVES = st.lists(st.tuples(st.sampled_from(TRANSITIONS), st.sampled_from(NODES)), max_size=60)
CLEAN_MOVES = MOVES.map(lambda moves: [move for move in moves if move[0] != "elect_unclean"])
UNCLEAN_ALLOWED = StartSettings({"unclean.leader.election.enable": True})
ACKNOWLEDGED_BY_THREE: list[Move] = [("produce", 0), ("fetch", 1), ("fetch", 2), ("ack", 0)]


def played(moves: list[Move]) -> Ideal:
    ideal = Ideal(WrittenHistory(start=UNCLEAN_ALLOWED))
    ideal.run(moves)
    return ideal


def with_one_acknowledged(moves: list[Move]) -> Ideal:
    """The last batch has been acknowledged, and the producer knows."""
    ideal = played(moves)
    ideal.produce(0)
    for node in NODES:
        ideal.fetch(node)
    while ideal.travelling:
        ideal.ack(0)
    return ideal


@given(MOVES)
@settings(max_examples=120, deadline=None)
def test_a_legal_history_breaks_nothing(moves: list[Move]) -> None:
    assert played(moves).written.violations() == []


@given(CLEAN_MOVES)
@settings(max_examples=60, deadline=None)
def test_without_unclean_elections_nothing_is_lost(moves: list[Move]) -> None:
    history = played(moves).written
    assert history.violations() == []
    assert not any(type(event) is AckedLost and event.acks == -1 for event in history.events_so_far())


@given(MOVES, st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_an_in_sync_replica_that_drops_an_acknowledged_record_and_leads(moves: list[Move], turn: int) -> None:
    ideal = with_one_acknowledged(moves)
    others = [node for node in NODES if node != ideal.leader]
    thief = others[turn % len(others)]
    ideal.expand(thief)
    ideal.logs[thief].pop()
    ideal.written.truncated(thief, len(ideal.logs[thief]) * COUNT, ideal.epoch)
    ideal.high_watermarks[thief] = 0
    ideal.elect(thief)
    assert "no_acked_record_lost" in ideal.written.invariants()


@given(MOVES, st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_a_broker_that_leads_another_brokers_epoch(moves: list[Move], turn: int) -> None:
    ideal = played(moves)
    others = [node for node in NODES if node != ideal.leader]
    ideal.written.leads(others[turn % len(others)], ideal.epoch, 10**9)
    assert "one_leader_per_epoch" in ideal.written.invariants()


@given(MOVES, st.integers(1, 100))
@settings(max_examples=60, deadline=None)
def test_a_leader_whose_high_watermark_goes_back(moves: list[Move], by: int) -> None:
    ideal = with_one_acknowledged(moves)
    back = ideal.high_watermarks[ideal.leader] - by
    ideal.written.high_watermark(ideal.leader, back, ideal.epoch, leader=True)
    assert "high_watermark_monotone" in ideal.written.invariants()


def test_the_transitions_reach_an_unclean_loss() -> None:
    ideal = played([*ACKNOWLEDGED_BY_THREE, ("elect_unclean", 3)])
    assert ideal.written.violations() == []
    [lost] = [event for event in ideal.written.events_so_far() if type(event) is AckedLost]
    assert (lost.batches, lost.records, lost.unclean) == (1, COUNT, True)


def test_the_transitions_reach_an_acknowledgement_during_an_election() -> None:
    ideal = played([*ACKNOWLEDGED_BY_THREE[:-1], ("elect", 2), ("ack", 0)])
    assert (ideal.epoch, ideal.acknowledged) == (1, 1)


def test_the_transitions_reach_divergent_logs() -> None:
    ideal = played([*ACKNOWLEDGED_BY_THREE, ("produce", 0), ("elect", 1)])
    assert any(type(event) is Truncated for event in ideal.written.events_so_far())

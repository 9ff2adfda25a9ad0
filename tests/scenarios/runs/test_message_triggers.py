"""Messages and writes to ZooKeeper as triggers: every kind, every edge, every filter, and what is done to the very
message."""

from collections.abc import Sequence
from typing import Any

import pytest

from emulator.protocol import znodes
from emulator.protocol.api import apis
from emulator.protocol.events import (
    BecameLeader,
    ControlRequest,
    ControlResponse,
    Fault,
    IsrChanged,
    MoveFinished,
    NodeCrashed,
    Produced,
)
from emulator.trace.events import Step, ZkSession, ZkWritten
from scenarios.language.known_names import only_attached_send
from tests.scenarios.runs.building import EXECUTE, HEAL, TP, Played, Table, play, scenario

STATE = znodes.state_path(TP)
EXPIRE: Table = {"action": "zk.expire", "target": 2}
"""An action that leaves a trace and little else: broker 2 has no partition."""


def wait(when: Table, **action: Any) -> Table:
    return {"when": when, **(action or EXPIRE)}


def run(*method: Table, **more: Any) -> Played:
    """Brokers 0 and 1 have orders-0, led by 0; broker 3 is controller."""
    more = {"brokers": 4, "controller": 3, "assignment": [[0, 1]], "rollbacks": HEAL, "horizon": "2m", **more}
    played = play(scenario(method=method, **more))
    assert played.run.violations == (), played.run.explanation
    return played


def fault(played: Played, action: str = "zk.expire") -> Fault:
    """The one time that the action was done."""
    assert played.run.reason != "not exercised", played.run.explanation
    [found] = played.of(Fault, lambda event: event.action == action)
    return found


# A leader that goes down and comes back causes every kind of message.
BOUNCE: Table = {"at": "3s", "action": "broker.stop", "target": 0, "duration": "5s"}


WITH_LOG_DIRS: Table = {
    "version": 1,
    "partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 3], "log_dirs": ["/data/0", "any"]}],
}
ASKED_FOR: dict[str, Table] = {
    "ControlledShutdown": {"action": "broker.controlled_shutdown", "target": 1, "duration": "5s"},
    "ElectLeaders": {"action": "election.preferred", "via": "api"},
    "AlterPartitionReassignments": {"action": "reassign.execute", "via": "api"},
    "ListPartitionReassignments": {"action": "reassign.list"},
    "AlterReplicaLogDirs": {"action": "reassign.execute", "plan": WITH_LOG_DIRS},
    "DescribeLogDirs": {"action": "reassign.verify", "plan": WITH_LOG_DIRS},
    "DeleteRecords": {"action": "records.delete", "topic": "orders"},
}
"""The entries that cause the messages that are not always sent."""

CLIENTS_ASK = ("InitProducerId", "AllocateProducerIds")
"""The requests that clients send once, at their start, or that brokers send for them."""

ALWAYS_SENT = [
    name for name in apis() if name not in ("ListOffsets", *ASKED_FOR, *CLIENTS_ASK) and not only_attached_send(name)
]
"""ListOffsets takes a follower that is out of its leader's range, which no scenario brings about by itself."""


def having(message: str) -> Table:
    """A profile in which it is sent."""
    profile = {"AlterIsr": "kafka-2.7", "AllocateProducerIds": "kafka-3.0"}.get(message)
    return {} if profile is None else {"profile": profile}


EDGES: tuple[Table, ...] = ({"edge": "sent"}, {"edge": "delivered"}, {"edge": "answered"})
ANSWERS: tuple[Table, ...] = ({"edge": "sent", "response": True}, {"edge": "delivered", "response": True})


def at_each(edges: Sequence[Table], **filters: Any) -> list[Table]:
    """An entry for each of the edges, which does next to nothing: the clock of broker 2 is that much wrong."""
    clock = {"action": "broker.clock", "target": 2, "step": "1ms"}
    return [wait({**filters, **edge}, **clock) for edge in edges]


def times(played: Played, number: int) -> list[int]:
    """When the entries of ``at_each`` were done: each once."""
    assert played.run.reason != "not exercised", played.run.explanation
    found = [event.t_us for event in played.of(Fault, lambda event: event.action == "broker.clock")]
    assert len(found) == number
    return found


@pytest.mark.parametrize("message", ALWAYS_SENT)
def test_every_message_and_every_answer_triggers_at_every_edge(message: str) -> None:
    move: Table = {"at": "20s", "action": "reassign.execute"}
    edges = (*EDGES, *ANSWERS)
    entries = at_each(edges, message=message, since="1s")
    assert min(times(run(BOUNCE, move, *entries, plan={0: [1, 3]}, **having(message)), len(edges))) > 1_000_000


@pytest.mark.parametrize("message", CLIENTS_ASK)
def test_what_a_client_asks_as_it_starts_triggers(message: str) -> None:
    config = {"enable.idempotence": True}
    load = {"topic": "orders", "producerRate": 100, "start": "2s", "config": config}
    played = run(*at_each(EDGES, message=message), workloads=[load], rate=0, **having(message))
    assert min(times(played, len(EDGES))) >= 2_000_000


@pytest.mark.parametrize("message", ASKED_FOR)
def test_what_the_operator_asks_triggers(message: str) -> None:
    asked = {"at": "20s", **ASKED_FOR[message]}
    first = [] if message == "AlterPartitionReassignments" else [EXECUTE]
    played = run(*first, asked, *at_each(EDGES, message=message), plan={0: [1, 3]}, strategy="kip-455")
    assert all(20_000_000 <= t_us < 20_100_000 for t_us in times(played, len(EDGES)))


# -- edges and filters ------------------------------------------------------------------------------------------------


def test_the_three_edges_come_in_their_order() -> None:
    """Sent by the controller, at the broker before it is looked at, and its answer back at the controller."""
    times = {}
    for edge in ("sent", "delivered", "answered"):
        when = {"message": "LeaderAndIsr", "to": 1, "partition": "orders-0", "since": "1s", "edge": edge}
        played = run(BOUNCE, wait(when))
        times[edge] = fault(played)
        [asked, *_] = played.of(ControlRequest, lambda e: e.api == "LeaderAndIsr" and e.broker == 1 and e.t_us > 1e6)
        [handled, *_] = played.of(ControlResponse, lambda e: e.api == "LeaderAndIsr" and e.node == 1 and e.t_us > 1e6)
        if edge == "sent":
            assert times[edge].cause == asked.seq
            assert times[edge].t_us == asked.t_us
        elif edge == "delivered":
            assert (times[edge].cause, times[edge].t_us) == (asked.seq, handled.t_us)
            assert times[edge].seq < handled.seq
        else:
            assert times[edge].t_us > handled.t_us


@pytest.mark.parametrize(
    ("filters", "broker"),
    [
        ({"to": 1}, 1),
        ({"to": "leader(orders-0)"}, 0),
        ({"to": {"role": "isr(orders-0)-leader"}}, 1),
        ({"from": "controller"}, 0),
        ({"from": "controller", "occurrence": 2}, 1),
        ({"topic": "orders", "to": [1, 2]}, 1),
    ],
)
def test_filters(filters: Table, broker: int) -> None:
    played = run(wait({"message": "LeaderAndIsr", "since": "1s", **filters}), EXECUTE, plan={0: [0, 1, 2]})
    asked = {event.seq: event.broker for event in played.of(ControlRequest)}
    assert asked[fault(played).cause] == broker


def test_another_partition_s_messages_do_not_count() -> None:
    plan = {1: [0, 2]}
    more: Table = {"assignment": [[0, 1], [0, 1]], "plan": plan}
    when: Table = {"message": "LeaderAndIsr", "since": "1s", "partition": "orders-1"}
    assert fault(run(wait(when), EXECUTE, **more)).t_us > 2_000_000
    other = run(wait({**when, "partition": "orders-0"}), EXECUTE, **more)
    assert other.run.reason == "not exercised"


def test_it_counts_from_a_step_on() -> None:
    since = {"step": "move.done", "edge": "before"}
    played = run(wait({"message": "UpdateMetadata", "to": 1, "since": since}), EXECUTE, plan={0: [1, 2]})
    [done] = played.of(Step, lambda event: event.step == "wiki.11" and event.edge == "before")
    assert fault(played).seq > done.seq
    first = run(wait({"message": "UpdateMetadata", "to": 1, "since": "1s"}), EXECUTE, plan={0: [1, 2]})
    assert fault(first).seq < done.seq


def test_one_that_never_passes_fails_the_run() -> None:
    played = run(wait({"message": "StopReplica", "since": "1s"}))
    assert played.run.reason == "not exercised"
    assert "method[0] zk.expire" in played.run.explanation


def test_the_controller_dies_with_its_request_on_the_wire() -> None:
    """What it has sent arrives; what it meant to send next does not."""
    when = {"message": "StopReplica", "to": 0, "partition": "orders-0"}
    played = run(EXECUTE, wait(when, action="controller.crash"), plan={0: [1, 2]})
    [crash] = played.of(NodeCrashed)
    stops = played.of(ControlResponse, lambda event: event.api == "StopReplica" and event.controller == 3)
    assert [event.node for event in stops] == [0]
    assert stops[0].t_us > crash.t_us
    assert len(played.of(MoveFinished)) == 1, "the next controller finishes the move"


# -- on the very message ----------------------------------------------------------------------------------------------


def test_message_cut_makes_the_controller_ask_again() -> None:
    when = {"message": "LeaderAndIsr", "to": 2, "partition": "orders-0"}
    played = run(EXECUTE, wait(when, action="message.cut"), plan={0: [0, 2]})
    cut = fault(played, "message.cut")
    assert cut.detail == "LeaderAndIsr 3 -> 2: orders-0"
    asked = played.of(ControlRequest, lambda e: e.api == "LeaderAndIsr" and e.broker == 2 and e.t_us >= cut.t_us)
    handled = played.of(ControlResponse, lambda e: e.api == "LeaderAndIsr" and e.node == 2 and e.t_us >= cut.t_us)
    assert len(asked) == len(handled) + 1
    assert asked[0].t_us == cut.t_us
    assert 100_000 <= asked[1].t_us - cut.t_us < 110_000, "after the sender's pause"


def test_message_cut_of_an_answer_makes_a_request_be_done_twice() -> None:
    when = {"message": "LeaderAndIsr", "to": 2, "partition": "orders-0", "edge": "answered"}
    played = run(EXECUTE, wait(when, action="message.cut"), plan={0: [0, 2]})
    cut = fault(played, "message.cut")
    assert cut.detail == "answer to LeaderAndIsr 2 -> 3: orders-0"
    first, again, *_ = played.of(ControlResponse, lambda e: e.api == "LeaderAndIsr" and e.node == 2 and e.t_us > 2e6)
    stale = (("orders-0",), ("STALE_CONTROLLER_EPOCH",))
    assert (first.refused, again.refused, again.errors) == ((), *stale), "the second time its leader epoch is stale"


def test_message_hold_keeps_later_messages_and_nothing_else() -> None:
    when = {"message": "LeaderAndIsr", "to": 2, "partition": "orders-0", "edge": "delivered"}
    played = run(EXECUTE, wait(when, action="message.hold", duration="3s"), plan={0: [0, 2]})
    held, released = fault(played, "message.hold"), fault(played, "message.release")
    assert released.t_us == held.t_us + 3_000_000
    assert (released.detail, held.detail) == ("LeaderAndIsr", "LeaderAndIsr 3 -> 2: orders-0, for 3s")
    answers = played.of(ControlResponse, lambda event: held.t_us <= event.t_us < released.t_us)
    assert {event.node for event in answers} == {0, 1}
    late = played.of(ControlResponse, lambda event: event.node == 2 and event.t_us >= held.t_us)
    assert late[0].t_us == released.t_us


def test_message_release_lets_go_what_has_no_duration() -> None:
    when = {"message": "LeaderAndIsr", "to": 2, "partition": "orders-0"}
    hold = wait(when, action="message.hold")
    for name in ({}, {"message": "LeaderAndIsr"}):
        played = run(EXECUTE, hold, {"at": "9s", "action": "message.release", **name}, plan={0: [0, 2]})
        assert played.run.passed, played.run.explanation
        answered = [e.t_us for e in played.of(ControlResponse, lambda e: e.node == 2 and e.t_us > 2_100_000)]
        assert answered[0] == 9_000_000
    other = run(EXECUTE, hold, {"at": "9s", "action": "message.release", "message": "Fetch"}, plan={0: [0, 2]})
    assert (other.run.reason, list(map(str, other.stage.performer.refused))) == (
        "not exercised", ["message.release: nothing is held or delayed at Fetch"],
    )  # fmt: skip


def test_a_control_request_that_is_held_for_too_long_is_sent_again_on_a_new_connection() -> None:
    when = {"message": "LeaderAndIsr", "to": 2, "partition": "orders-0"}
    played = run(EXECUTE, wait(when, action="message.hold", duration="40s"), plan={0: [0, 2]})
    held = fault(played, "message.hold")
    asked = played.of(ControlRequest, lambda e: e.api == "LeaderAndIsr" and e.broker == 2 and e.t_us >= held.t_us)
    assert 30_000_000 < asked[1].t_us - held.t_us < 31_000_000, "controller.socket.timeout.ms"
    assert played.assignment() == (0, 2)


def test_message_delay_slows_the_link_from_that_message_on() -> None:
    when = {"message": "Fetch", "from": 1, "to": 0, "response": False, "since": "3s"}
    delay = wait(when, action="message.delay", delay={"latency": "200ms"}, duration="5s")
    played = run(delay)
    began, ended = fault(played, "message.delay"), fault(played, "message.release")
    assert ended.t_us == began.t_us + 5_000_000
    slow = played.of(Produced, lambda event: began.t_us + 400_000 < event.t_us < ended.t_us)
    quick = played.of(Produced, lambda event: event.t_us > ended.t_us + 1_000_000)
    assert min(event.latency_us for event in slow) > 100_000 > max(event.latency_us for event in quick)


def test_message_delays_of_one_link_end_each_for_itself_and_leave_it_as_it_was() -> None:
    when = {"message": "Fetch", "from": 1, "to": 0, "response": False}
    first, second = (
        wait({**when, "since": since}, action="message.delay", delay={"latency": latency}, duration=duration)
        for since, latency, duration in (("3s", "100ms", "6s"), ("6s", "200ms", "7s"))
    )
    played = run(first, second)
    one, other = (event.t_us for event in played.of(Fault, lambda event: event.action == "message.release"))
    slow = played.of(Produced, lambda event: one + 1_000_000 < event.t_us < other)
    quick = played.of(Produced, lambda event: event.t_us > other + 1_000_000)
    assert min(event.latency_us for event in slow) > 100_000 > max(event.latency_us for event in quick)


# -- ZooKeeper --------------------------------------------------------------------------------------------------------

AWAY: Table = {"at": "3s", "action": "link.cut", "target": 1, "peer": 0, "duration": "20s"}
SHRINK: Table = {"zk": "setData", "path": STATE, "from": "leader(orders-0)"}


def test_a_write_s_edges_come_in_their_order() -> None:
    for edge in ("before", "applied", "answered"):
        played = run(AWAY, wait({**SHRINK, "edge": edge}))
        seen = fault(played)
        write = played.of(ZkWritten, lambda event: event.path == STATE)[1]
        shrunk = played.of(IsrChanged)[0]
        if edge == "before":
            assert (seen.t_us, seen.seq < write.seq) == (write.t_us, True)
        elif edge == "applied":
            assert (seen.t_us, seen.cause) == (write.t_us, write.seq)
        else:
            assert write.t_us < seen.t_us == shrunk.t_us
            assert seen.seq < shrunk.seq


@pytest.mark.parametrize(
    ("zk", "path", "writer"),
    [
        ("create", "/controller", None),
        ("multi", "/controller", None),
        ("setData", "/controller_epoch", None),
        ("delete", "/admin/reassign_partitions", 3),
        ("create", "/admin/reassign_partitions", None),
        ("setData", "/brokers/topics/*/partitions/*/state", None),
        ("create", "/isr_change_notification/*", None),
    ],
)
def test_every_write_by_its_path(zk: str, path: str, writer: int | None) -> None:
    when: Table = {"zk": zk, "path": path, "since": "1s", **({} if writer is None else {"from": writer})}
    again = {"at": "30s", "action": "controller.crash"}
    played = run(AWAY, EXECUTE, again, wait(when), plan={0: [1, 0]})
    cause = fault(played).cause
    write = next(event for event in played.of(ZkWritten) if event.seq == cause)
    together = played.of(ZkWritten, lambda event: event.zxid == write.zxid)
    assert zk in ("multi", *(event.op for event in together))
    assert writer in (None, write.client)


@pytest.mark.parametrize("state", ["created", "closed", "expired"])
def test_a_session_s_turns(state: str) -> None:
    end = "broker.stop" if state == "closed" else "broker.crash"
    stop = {"at": "3s", "action": end, "target": 1, "duration": "20s"}
    played = run(stop, wait({"zk": f"session.{state}", "from": 1, "since": "1s"}))
    [turn] = played.of(ZkSession, lambda e: (e.client, e.state) == (1, state) and e.t_us > 1_000_000)
    assert (fault(played).t_us, fault(played).cause) == (turn.t_us, turn.seq)


def test_a_failed_write_is_not_applied() -> None:
    """The tool is refused while another move is under way: the second create changes nothing."""
    hold = {"at": "1s", "action": "gate.hold", "gate": {"step": "move.start", "edge": "before"}, "duration": "20s"}
    twice = [{"at": at, "action": "reassign.execute"} for at in ("2s", "3s")]
    when = {"zk": "create", "path": "/admin/reassign_partitions", "occurrence": 2}
    before = run(hold, *twice, wait({**when, "edge": "before"}), plan={0: [0, 2]})
    assert [event.t_us > 3_000_000 for event in before.of(Fault, lambda event: event.action == "zk.expire")] == [True]
    applied = run(hold, *twice, wait(when), plan={0: [0, 2]})
    assert applied.stage.method.not_exercised() == ["method[3] zk.expire"]


def test_a_write_that_is_held_before_it_is_done_holds_its_session_s_requests() -> None:
    hold = wait({**SHRINK, "edge": "before"}, action="message.hold", duration="1s")
    played = run(AWAY, hold)
    held, released = fault(played, "message.hold"), fault(played, "message.release")
    assert held.detail == f"setData 0 -> ZooKeeper: {STATE}, for 1s"
    write = played.of(ZkWritten, lambda event: event.path == STATE)[1]
    assert write.t_us == released.t_us == held.t_us + 1_000_000


# -- the same bytes ---------------------------------------------------------------------------------------------------


def test_a_trigger_that_never_comes_changes_nothing() -> None:
    never = [
        wait({"message": "Fetch", "partition": "orders-0", "occurrence": 1_000_000}, action="message.cut"),
        wait({"message": "LeaderAndIsr", "edge": "answered", "occurrence": 1_000_000}, action="message.hold"),
        wait({"zk": "setData", "edge": "before", "occurrence": 1_000_000}, action="message.hold"),
        wait({"zk": "setData", "edge": "answered", "occurrence": 1_000_000}, action="message.hold"),
        wait({"zk": "session.expired"}),
    ]
    with_them, without = (run(*method, plan={0: [1, 2]}, rollbacks=()) for method in ((EXECUTE, *never), (EXECUTE,)))
    assert with_them.run.reason == "not exercised"
    assert with_them.events[: len(without.events)] == without.events, "but that it waits for them to the horizon"


def test_the_same_seed_gives_the_same_bytes() -> None:
    method = [
        EXECUTE,
        wait({"message": "LeaderAndIsr", "to": 2}, action="message.hold", duration="700ms"),
        wait({"message": "Fetch", "edge": "answered", "from": 2, "since": "2s"}, action="message.cut"),
        wait({"zk": "multi", "path": STATE, "edge": "applied", "since": "2s"}, action="message.cut"),
    ]
    one, other = (run(*method, plan={0: [1, 2]}) for _ in range(2))
    assert one.run.passed, one.run.explanation
    assert one.run.digest == other.run.digest
    assert len(one.of(BecameLeader)) >= 2


@pytest.mark.parametrize("strategy", ["wiki", "kafka-6794", "kip-455"])
@pytest.mark.parametrize("target", [[1, 2], [1, 0]])
def test_a_move_ends_although_its_controller_dies_before_it_says_so(strategy: str, target: list[int]) -> None:
    """No gate lies between the last write of a move and what follows it: the next controller finds nothing to do."""
    last = {"zk": "delete", "path": "/admin/reassign_partitions"}
    played = run(EXECUTE, wait(last, action="controller.crash"), plan={0: target}, strategy=strategy)
    assert played.of(MoveFinished) == []
    assert played.run.passed, played.run.explanation
    assert played.assignment() == tuple(target)
    assert played.run.metrics["moves_finished"] == 1


@pytest.mark.parametrize("step", ["kip-455.B1", "kip-455.B3"])
def test_a_move_that_changes_the_order_only_ends_with_its_controller(step: str) -> None:
    """The assignment was written first. No znode says that the leader was to change."""
    dies = {"when": {"step": step, "edge": "before"}, "action": "broker.crash", "target": "controller", "kind": "host"}
    played = run(EXECUTE | {"via": "api"}, dies, plan={0: [1, 0]}, strategy="kip-455")
    assert played.of(MoveFinished) == []
    assert played.run.passed, played.run.explanation
    assert played.run.metrics["moves_finished"] == 1

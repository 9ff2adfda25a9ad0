"""Throttles from the operator's command to the time that a copy takes: KIP-73 by the tool of 2.3 and of 2.6, and
KIP-542's rule."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from emulator.metrics.metric_events import GaugeSet, MetricRegistered
from emulator.protocol.events import (
    Appended,
    FetchPosition,
    IsrChanged,
    MoveFinished,
    MoveStarted,
    MovesVerified,
    NodeStarted,
)
from emulator.protocol.znodes import REASSIGN_PARTITIONS, decode_config
from emulator.trace.events import ZkWritten
from scenarios.errors import BadInput
from scenarios.language import Scenario
from tests.scenarios.runs.building import EXECUTE, Played, Table, play, scenario

S, MIB = 1_000_000, 2**20
LISTS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")


def moving(*method: Table, strategy: str = "wiki", execute: Table = EXECUTE, **more: Any) -> Played:
    """orders-0 moves from 0, 1 to 1, 2: 32 MiB have to be copied. orders-1 stays."""
    more = {"assignment": [[0, 1], [0, 1]], "plan": {0: [1, 2]}, "size": "32MiB", "rate": 0, **more}
    wanted = scenario(brokers=4, controller=3, strategy=strategy, method=[execute, *method], **more)
    played = play(wanted)
    assert played.run.passed, played.run.explanation
    return played


def move_s(played: Played) -> float:
    return (played.of(MoveFinished)[-1].t_us - played.of(MoveStarted)[0].t_us) / S


def settings(played: Played, entity: str) -> dict[str, str]:
    """The entity's settings in ZooKeeper at the end."""
    data = played.stage.cluster.zookeeper.tree.get(f"/config/{entity}")
    return {} if data is None else decode_config(data)


def throttles(played: Played) -> dict[str, dict[str, str]]:
    """The throttles that are left, by entity."""
    entities = ("topics/orders", *(f"brokers/{broker}" for broker in range(4)))
    found = {
        entity: {name: value for name, value in settings(played, entity).items() if ".throttled." in name}
        for entity in entities
    }
    return {entity: left for entity, left in found.items() if left}


# -- the strategy's throttle ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "strategy",
    ["wiki+throttle-4MiB", "kafka-42+throttle-4MiB", "kip-455+throttle-4MiB", "kip-455+reassign-throttle-4MiB"],
)
def test_a_move_of_32_mib_at_4_mib_a_second_takes_8_s(strategy: str) -> None:
    played = moving(strategy=strategy)
    assert 7 <= move_s(played) <= 9.5
    # No busy loop: 33 batches arrive, and in between each side looks again at most twice a second.
    assert len(played.events) < 900
    assert [event.lifted for event in played.of(MovesVerified)] == [True]
    assert throttles(played) == {}


@pytest.mark.parametrize("via", ["zk", "api"])
def test_by_either_way_of_the_tool_and_bit_by_bit(via: str) -> None:
    both = {0: [1, 2], 1: [1, 2]}
    played = moving(strategy="kip-455+waves-1+throttle-4MiB", execute={**EXECUTE, "via": via}, plan=both)
    assert 15 <= move_s(played) <= 19
    assert [event.lifted for event in played.of(MovesVerified)] == [True]
    assert throttles(played) == {}


def test_without_a_throttle_it_takes_a_moment_and_nothing_is_configured() -> None:
    played = moving()
    assert move_s(played) < 1
    assert not played.of(ZkWritten, lambda event: event.t_us > S and event.path.startswith("/config/"))


def test_the_other_replicas_are_not_throttled() -> None:
    """The partition that does not move, and the replica in sync of the one that does, begin to fetch at once."""
    played = moving(strategy="wiki+throttle-1MiB")
    began = {(e.node, e.partition): e.t_us for e in played.of(FetchPosition) if e.offset >= 0}
    assert began[1, 1] < S
    assert [event.isr for event in played.of(IsrChanged)] == [(0, 1, 2)]


def test_lists_and_rates_are_stored_before_the_plan_is_written() -> None:
    played = moving(strategy="wiki+throttle-4MiB")
    written = played.of(ZkWritten, lambda event: event.t_us > S and event.path.startswith(("/config/", "/admin/")))
    paths = [event.path for event in written if "changes" not in event.path]
    first = paths.index(REASSIGN_PARTITIONS)
    assert paths[:first] == ["/config/topics/orders", "/config/brokers/0", "/config/brokers/1", "/config/brokers/2"]
    at_first = {event.path: event.data for event in reversed(written)}
    assert decode_config(at_first["/config/topics/orders"]) == dict(zip(LISTS, ("0:0,0:1", "0:2"), strict=True))
    assert decode_config(at_first["/config/brokers/2"]) == dict.fromkeys(RATES, str(4 * MIB))


def test_three_copies_from_one_leader_come_in_bursts() -> None:
    """200 MB to each of three brokers at 20 MB/s. Real 2.3.1 took 24.6 to 27.4 s (three runs): the leader, which counts
    empty answers too, begins with a full window of 11 s, lets all of it pass, and waits until those are over."""
    execute: Table = {"at": "40s", "action": "reassign.execute", "throttle": "20MB/s"}
    wanted = scenario(plan={0: [3, 4, 5]}, method=[execute], size="200MB", rate=0)
    played = play(wanted)
    begin = played.of(MoveStarted)[0].t_us
    copied = [(e.t_us - begin, e.size) for e in played.of(Appended) if e.t_us > begin and e.node in (3, 4, 5)]
    kafka = {1.6: 62, 4.6: 201, 9.9: 216, 18.0: 433, 20.0: 433, 27.4: 600}  # MB that had been copied by then, in s
    ours = {t_s: sum(size for t_us, size in copied if t_us <= t_s * S) / 1e6 for t_s in kafka}
    assert ours == pytest.approx(kafka, rel=0.06)
    assert 24.6 <= copied[-1][0] / S <= 27.4
    # Without the burst, at the rate alone, it would be 32, 92, 198, 360, 400 and 548.


def test_one_copy_goes_at_the_rate_that_its_follower_has() -> None:
    """1 GB at 20 MB/s: real 2.3.1 took 55.9 and 55.2 s. A follower counts throttled bytes alone, so its window begins
    with the copy; all that a second allows passes at its beginning, which makes ten samples of eleven."""
    execute: Table = {"at": "40s", "action": "reassign.execute", "throttle": "20MB/s"}
    played = play(scenario(plan={0: [1, 2, 3]}, method=[execute], size="1GB", rate=0))
    assert move_s(played) == pytest.approx(55.5, abs=1)


# -- the tool, command by command -------------------------------------------------------------------------------------

SLOWLY: Table = {**EXECUTE, "throttle": "4MiB/s"}


def verify(at: str) -> Table:
    return {"at": at, "action": "reassign.verify"}


def test_verify_clears_when_the_moves_are_done_and_not_before() -> None:
    played = moving(verify("4s"), verify("15s"), execute=SLOWLY)
    assert 7 <= move_s(played) <= 9.5
    assert [event[3:] for event in played.of(MovesVerified)] == [(0, 1, 0, False), (1, 0, 0, True)]
    assert throttles(played) == {}


def test_a_throttle_that_is_never_verified_stays() -> None:
    played = moving(execute=SLOWLY)
    rates = dict.fromkeys(RATES, str(4 * MIB))
    lists = dict(zip(LISTS, ("0:0,0:1", "0:2"), strict=True))
    assert throttles(played) == {"topics/orders": lists, **{f"brokers/{broker}": rates for broker in (0, 1, 2)}}


def test_a_broker_that_is_down_keeps_its_throttle() -> None:
    stop: Table = {"at": "14s", "action": "broker.stop", "target": 2}
    played = moving(stop, verify("25s"), execute=SLOWLY)
    assert list(throttles(played)) == ["brokers/2"]


def test_executed_again_with_another_rate_the_limits_change() -> None:
    """6 MiB/s on the whole, as all of it lies in one window. By way of ZooKeeper the tool leaves the lists alone."""
    played = moving({**EXECUTE, "at": "4s", "throttle": "6MiB/s"}, execute=SLOWLY)
    assert 4.5 <= move_s(played) <= 6.5
    assert throttles(played)["brokers/1"] == dict.fromkeys(RATES, str(6 * MIB))
    assert len(played.of(ZkWritten, lambda event: event.path == "/config/topics/orders")) == 2  # made, and listed


def test_another_plan_is_refused_while_one_is_under_way() -> None:
    other = {"partitions": [{"topic": "orders", "partition": 1, "replicas": [1, 2]}]}
    again: Table = {
        **EXECUTE, "at": "4s", "throttle": "6MiB/s", "plan": other, "expect_error": "REASSIGNMENT_IN_PROGRESS",
    }  # fmt: skip
    assert 4.5 <= move_s(moving(again, execute=SLOWLY)) <= 6.5


def test_kafka_10779_asked_again_by_the_api_a_move_loses_the_followers_half() -> None:
    """A replica that is being added counts as an old one, so it is listed for the leader's throttle and not for the
    follower's."""
    by_api: Table = {**SLOWLY, "via": "api"}
    played = moving({**by_api, "at": "4s"}, execute=by_api, strategy="kip-455", profile="kafka-2.6")
    assert throttles(played)["topics/orders"] == dict(zip(LISTS, ("0:0,0:1,0:2", ""), strict=True))


def test_since_kafka_10779_a_move_asked_for_again_keeps_its_throttle() -> None:
    by_api: Table = {**SLOWLY, "via": "api"}
    played = moving({**by_api, "at": "4s"}, execute=by_api, strategy="kip-455", profile="kafka-2.8")
    assert throttles(played)["topics/orders"] == dict(zip(LISTS, ("0:0,0:1", "0:2"), strict=True))


def test_since_kafka_10779_a_second_plan_keeps_the_followers_of_the_first() -> None:
    other = {"partitions": [{"topic": "orders", "partition": 1, "replicas": [1, 2]}]}
    by_api: Table = {**SLOWLY, "via": "api"}
    played = moving({**by_api, "at": "4s", "plan": other}, execute=by_api, strategy="kip-455", profile="kafka-2.8")
    assert throttles(played)["topics/orders"] == dict(zip(LISTS, ("0:0,0:1,1:0,1:1", "0:2,1:2"), strict=True))


def test_kafka_10779_a_second_plan_by_the_api_takes_the_followers_half_from_the_first() -> None:
    other = {"partitions": [{"topic": "orders", "partition": 1, "replicas": [1, 2]}]}
    by_api: Table = {**SLOWLY, "via": "api"}
    played = moving({**by_api, "at": "4s", "plan": other}, execute=by_api, strategy="kip-455", profile="kafka-2.6")
    assert throttles(played)["topics/orders"] == dict(zip(LISTS, ("0:0,0:1,0:2,1:0,1:1", "1:2"), strict=True))


def test_cancel_clears_the_throttle() -> None:
    cancel = {"at": "4s", "action": "reassign.cancel"}
    played = moving(cancel, execute={**SLOWLY, "via": "api"}, strategy="kip-455", profile="kafka-2.6")
    assert throttles(played) == {}


def with_a_broker_down(down: Table, *method: Table, execute: Table) -> Played:
    """A move by the tool of 2.6 with --bootstrap-server."""
    by_api: Table = {**SLOWLY, "via": "api", **execute}
    return moving(down, *method, execute=by_api, strategy="kip-455", profile="kafka-2.6")


def test_kafka_13392_a_move_is_not_asked_for_while_a_broker_that_it_throttles_is_down() -> None:
    """Each broker writes its own rates; the tool waits a minute for the one that is down, and gives up."""
    down: Table = {"at": "1s", "action": "broker.stop", "target": 0}
    refused: Table = {"at": "12s", "expect_error": "REQUEST_TIMED_OUT"}
    played = with_a_broker_down(down, execute=refused)
    assert played.of(MoveStarted) == []
    lists = dict(zip(LISTS, ("0:0,0:1", "0:2"), strict=True))
    rates = dict.fromkeys(RATES, str(4 * MIB))
    assert throttles(played) == {"topics/orders": lists, "brokers/1": rates, "brokers/2": rates}


def test_a_broker_that_comes_back_within_the_minute_takes_its_throttle_and_the_move_begins() -> None:
    down: Table = {"at": "1s", "action": "broker.stop", "target": 0, "duration": "40s"}
    played = with_a_broker_down(down, execute={"at": "12s"})
    assert 41 * S <= played.of(MoveStarted)[0].t_us <= 44 * S
    assert [entity for entity in throttles(played) if entity.startswith("brokers/")] == [
        f"brokers/{broker}" for broker in (0, 1, 2)
    ]


def test_kafka_13392_the_lists_stay_where_a_target_is_down_when_the_throttle_is_to_end() -> None:
    """The rates of the others go; the lists would be cleared after all rates."""
    down: Table = {"at": "3s", "action": "broker.stop", "target": 2}
    cancel: Table = {"at": "14s", "action": "reassign.cancel", "partitions": ["orders-0"]}
    played = with_a_broker_down(down, {**cancel, "expect_error": "REQUEST_TIMED_OUT"}, verify("80s"), execute={})
    assert [event.lifted for event in played.of(MovesVerified)] == [False]
    assert set(throttles(played)) == {"topics/orders", "brokers/2"}


def test_what_clears_a_throttle_by_the_api_writes_nothing_of_a_topic_that_is_gone() -> None:
    by_api: Table = {**SLOWLY, "via": "api"}
    delete: Table = {"at": "14s", "action": "topic.delete", "topic": "orders"}
    played = moving(delete, verify("30s"), execute=by_api, strategy="kip-455", profile="kafka-2.6")
    assert played.stage.cluster.zookeeper.tree.get("/config/topics/orders") is None
    assert throttles(played) == {}


def test_by_the_api_nothing_is_cleared_while_anything_is_being_reassigned() -> None:
    other = {"partitions": [{"topic": "orders", "partition": 1, "replicas": [1, 2]}]}
    by_api: Table = {**SLOWLY, "via": "api"}
    played = moving(
        {**verify("4s"), "plan": {"partitions": [{"topic": "orders", "partition": 1, "replicas": [0, 1]}]}},
        {**by_api, "at": "12s", "plan": other},
        verify("14s"),
        verify("40s"),
        execute=by_api, strategy="kip-455", profile="kafka-2.6",
    )  # fmt: skip
    verified = [(event.done, event.open, event.lifted) for event in played.of(MovesVerified)]
    assert verified == [(1, 0, False), (1, 0, False), (1, 0, True)]
    assert throttles(played) == {}


# -- settings while it runs -------------------------------------------------------------------------------------------


def config(at: str, *, topic: str | None = None, brokers: object = None, **more: object) -> Table:
    whose = {"topic": topic, "brokers": brokers}
    return {"at": at, "action": "config.set", **{k: v for k, v in whose.items() if v is not None}, **more}


EVERY = {"mode": "all"}


@pytest.mark.parametrize(("side", "least_s", "most_s"), [(0, 5.5, 7), (1, 7, 9.5)], ids=["leader", "follower"])
def test_either_half_can_be_set_by_itself(side: int, least_s: float, most_s: float) -> None:
    """The leader's window is 2 s old when the move begins, the follower's begins with it."""
    lists = config("1s", topic="orders", config={LISTS[side]: "*"})
    rates = config("1s", brokers=EVERY, config={RATES[side]: 4 * MIB})
    assert least_s <= move_s(moving(lists, rates)) <= most_s


def test_a_rate_of_the_cluster_limits_the_replicas_that_a_topic_lists() -> None:
    played = moving(config={RATES[1]: 4 * MIB}, topic_config={LISTS[1]: "0:2"})
    assert 7 <= move_s(played) <= 9.5
    assert move_s(moving(config={RATES[1]: 4 * MIB})) < 1


@pytest.mark.parametrize("broker", [1, 2, "adding(orders-0)"])
def test_one_broker_has_a_rate_of_its_own(broker: object) -> None:
    lists = config("1s", topic="orders", config={LISTS[1]: "0:2"})
    rate = config("1s", brokers=broker, config={RATES[1]: 4 * MIB})
    assert (move_s(moving(lists, rate)) > 7) == (broker != 1)


def test_a_broker_that_starts_knows_its_throttle_before_it_fetches() -> None:
    """20 MB were written while it was down. KafkaServer.startup reads all settings before it serves a request, so also
    after 100 changes of settings no more than the throttle's second passes at once."""
    others = [config(f"{1_000 + 10 * i}ms", topic="orders", config={"retention.ms": 10**9 + i}) for i in range(100)]
    lists = config("3s", topic="orders", config={LISTS[1]: "*"})
    rate = config("3s", brokers=2, config={RATES[1]: 1_000_000})
    stop: Table = {"at": "4s", "action": "broker.stop", "target": 2, "duration": "25s"}
    load = {"topic": "orders", "producerRate": 1_000, "start": "5s", "stop": "25s", "linger": "900ms"}
    wanted = scenario(brokers=4, controller=3, method=[*others, lists, rate, stop], rate=0, workloads=[load])
    played = play(wanted)
    assert played.run.passed
    [_, start] = played.of(NodeStarted, lambda e: e.node == 2)
    copied = [(e.t_us, e.size) for e in played.of(Appended) if e.node == 2 and e.t_us > start.t_us]
    assert 20_000_000 < sum(size for _, size in copied) < 22_000_000
    assert sum(size for t_us, size in copied if t_us < start.t_us + S) < 3_000_000
    assert (copied[-1][0] - copied[0][0]) / S == pytest.approx(22, abs=1)  # 10/11 of the rate


def test_a_removed_throttle_has_no_effect_from_then_on() -> None:
    removed = config("4s", brokers=EVERY, remove=list(RATES))
    played = moving(removed, execute=SLOWLY)
    assert 2 <= move_s(played) <= 3.5
    assert list(throttles(played)) == ["topics/orders"]


def test_a_broker_that_starts_has_the_throttles_that_were_set_before() -> None:
    bounce: Table = {"at": "4s", "action": "broker.stop", "target": 2, "duration": "1s"}
    assert move_s(moving(bounce, execute=SLOWLY)) > 7


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (config("1s", config={RATES[0]: 5}), "each broker's own; add brokers"),
        (config("1s", topic="orders", remove=[RATES[0]]), "each broker's own; add brokers"),
        (config("1s", brokers=1, config={LISTS[0]: "*"}), "is a topic's; add topic"),
        (config("1s", topic="orders", brokers=1, config={"min.insync.replicas": 1}), "name a topic, or brokers"),
        (config("1s", topic="orders", config={LISTS[0]: "0-1"}), "partition:broker with commas"),
        (config("1s", topic="orders"), "no setting is named"),
        (config("1s", brokers=9, remove=[RATES[0]]), "brokers"),
    ],
)
def test_refused(entry: Table, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        scenario(brokers=4, controller=3, method=[entry]).check()


# -- KIP-73 and KIP-542 ------------------------------------------------------------------------------------------------

RESTART: Table = {"at": "20s", "action": "broker.crash", "kind": "host", "target": 2, "duration": "1s"}


def back_in_sync_s(played: Played) -> float:
    """When broker 2, to which orders-0 has moved, came back into its ISR, after a host crash that left it nothing; the
    throttle is still set. Its session has to expire first, which takes up to 6 s."""
    joined = [e.t_us for e in played.of(IsrChanged, lambda e: e.kind == "expand" and e.partition == 0)]
    return joined[-1] / S - 20


def test_kip_73_a_throttle_that_was_left_slows_a_restarted_replica_and_kip_542s_does_not() -> None:
    assert back_in_sync_s(moving(RESTART, execute=SLOWLY, strategy="kip-455")) > 12
    rates = dict.fromkeys(("leader.reassignment.throttled.rate", "follower.reassignment.throttled.rate"), 4 * MIB)
    played = moving(config("1s", brokers=EVERY, config=rates), RESTART, strategy="kip-455")
    assert 7 <= move_s(played) <= 9.5
    assert back_in_sync_s(played) < 8


def test_the_library_shows_it() -> None:
    """The same crash, before and after --verify has cleared what was left."""
    played = play(Scenario.load(Path(str(files("scenarios") / "library" / "throttle-left-behind.toml"))))
    assert played.run.passed, played.run.explanation
    _moved, slow, quick = [event.t_us for event in played.of(IsrChanged, lambda event: event.kind == "expand")]
    assert slow - 60 * S > 15 * S
    assert quick - 120 * S < 8 * S


def test_kip_542_with_the_draft_of_kip_352() -> None:
    assert 7 <= move_s(moving(strategy="wiki+reassign-throttle-4MiB", profile="kip-352-draft")) <= 9.5


def test_kip_542_is_refused_where_brokers_know_of_no_move() -> None:
    with pytest.raises(BadInput, match="do not learn which replicas a move adds"):
        scenario(strategy="wiki+reassign-throttle-4MiB")


# -- E1 --------------------------------------------------------------------------------------------------------------

RECORD, RATE = 409_600, 4 * MIB
PARTITION = 2000 * RECORD // 3


@pytest.mark.parametrize("bounce", [False, True])
@pytest.mark.parametrize("moves", [1, 2])
def test_E1_a_throttled_move_takes_as_long_as_kafkas_system_test_wants(moves: int, bounce: bool) -> None:
    """throttling_test.py (2.3): 6 brokers, 3 partitions of 273 MB, 4 MiB/s, which every other broker's clean restart
    does not hurry; between 0.9 and 2 times the estimate."""
    old = [[0, 1], [1, 2], [2, 3]] if moves == 1 else [[0, 1], [2, 3], [4, 5]]
    plan = {p: old[(p + 1) % 3] for p in range(3)}
    gained = max(len([b for b in plan[p] if b not in old[p]]) for p in range(3))
    restarts: list[Table] = [
        {"at": "2500ms", "action": "broker.controlled_shutdown", "target": b, "duration": "8s"} for b in (0, 2, 4)
    ]
    wanted = scenario(
        brokers=6, controller=5, assignment=old, plan=plan, size=f"{PARTITION}B", rate=0, horizon="10m",
        strategy="wiki+throttle-4MiB", method=[EXECUTE, *(restarts if bounce else ())],
        workloads=[{"topic": "orders", "producerRate": 3, "messageSize": 100}],
    )  # fmt: skip
    played = play(wanted)
    assert played.run.passed, played.run.explanation
    estimate = -(-gained * PARTITION // RATE)
    assert estimate == (131 if gained == 2 else 66)
    assert 0.9 * estimate <= move_s(played) <= 2 * estimate


# -- what it shows ----------------------------------------------------------------------------------------------------


def byte_rates(played: Played, type: str, node: int) -> list[tuple[int, int]]:
    """Time and value of one broker's ``byte-rate``."""
    name = f"kafka.server:type={type}:byte-rate"
    return [(event.t_us, event.value) for event in played.of(GaugeSet) if (event.node, event.metric) == (node, name)]


def test_both_halves_show_their_byte_rate_until_the_window_is_empty() -> None:
    """The leader's window is older than the move, so its rate is that much lower."""
    played = moving(verify("30s"), execute=SLOWLY)
    for type, node, least in (("LeaderReplication", 0, 2), ("FollowerReplication", 2, 3)):
        rates = byte_rates(played, type, node)
        during = [value for t_us, value in rates if 5 * S < t_us < 9 * S]
        assert len(during) >= 3
        assert all(least * MIB < value < 5 * MIB for value in during)
        assert all(t_us % S == 0 for t_us, _ in rates)
        assert rates[-1][1] == 0
    assert byte_rates(played, "LeaderReplication", 1) == []
    assert byte_rates(played, "AlterLogDirsReplication", 0) == []


def test_without_a_throttle_there_is_no_byte_rate() -> None:
    assert not moving().of(MetricRegistered, lambda event: event.metric.endswith("byte-rate"))

"""The checkers of proposed ISRs, each with the guard that it watches taken out."""

import pytest

from brokers.broker_policies import BrokerPolicies
from brokers.partition.isr import NotCaughtUp
from brokers.partition.partition import Partition
from brokers.partition.remote import RemoteReplica
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest
from scenarios.observe.checkers import Checkers
from tests.brokers.bench import TP, Bench, Line, lag_bench, state
from tests.scenarios.runs.building import Table, play, scenario


def broken(bench: Bench, checkers: Checkers) -> list[str]:
    return [violation.invariant for violation in checkers.finish()]


def stranger_fetches(bench: Bench) -> list[str]:
    checkers = Checkers(bench.trace, ["expands_assigned"])
    bench.leader_and_isr(state(0, 0, (0,), replicas=(0, 1)))
    bench.learn(TP, 0)
    bench.follower(3).at(0)
    return broken(bench, checkers)


def test_a_leader_that_accepts_every_broker_that_fetches() -> None:
    assert stranger_fetches(Bench()) == []
    assert stranger_fetches(Bench(BrokerPolicies(checks_assignment=False))) == ["expands_assigned"]


def fetches_under_an_older_epoch(bench: Bench) -> list[str]:
    checkers = Checkers(bench.trace, ["fetch_fence"])
    bench.lead(4, isr=(0,))
    bench.follower(1).at(0, 3)
    return broken(bench, checkers)


def test_a_leader_that_does_not_look_at_the_epoch_of_a_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetches_under_an_older_epoch(Bench()) == []
    monkeypatch.setattr(Partition, "check_current_leader_epoch", lambda *_: Errors.NONE)
    assert fetches_under_an_older_epoch(Bench()) == ["fetch_fence"]


def idles(bench: Bench) -> list[str]:
    checkers = Checkers(bench.trace, ["shrinks_overdue"])
    partition = bench.lead(0, isr=(0, 1, 2))
    bench.follower(1).at(0)
    bench.at(bench.world.now + 1_000_000)
    bench.manager.isr_checks[partition] = None
    bench.expire_isrs()
    return broken(bench, checkers)


def test_before_kafka_7152_an_idle_follower_at_the_end_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    def overdue(self: NotCaughtUp, remote: RemoteReplica, _leader_end: int, now_us: int, lag_time_us: int) -> bool:
        return remote.broker == 1 and self.overdue_us(remote, now_us) > lag_time_us

    assert idles(lag_bench()) == []
    monkeypatch.setattr(NotCaughtUp, "__call__", overdue)
    assert idles(lag_bench()) == ["shrinks_overdue"]


def asks_a_new_leader(bench: Bench) -> list[str]:
    checkers = Checkers(bench.trace, ["applied_high_watermark"])
    bench.lead(0)
    bench.produce(count=5)
    bench.lead(1, version=1)
    line = Line()
    bench.send(ListOffsetsRequest(TP, -1, CONSUMER), line)
    return broken(bench, checkers)


def test_before_kip_207_a_new_leader_answers_with_its_high_watermark_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asks_a_new_leader(Bench()) == []
    assert asks_a_new_leader(Bench(BrokerPolicies(latest_is_committed=False))) == ["applied_high_watermark"]
    monkeypatch.setattr(Partition, "latest_offset", property(lambda partition: partition.high_watermark))
    assert asks_a_new_leader(Bench()) == ["applied_high_watermark"]


def test_a_leader_that_does_not_look_for_members_that_are_out_of_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broker 2 is cut off from its leader, which goes on writing to the others, and it keeps its session."""
    cut: Table = {"at": "3s", "action": "link.cut", "target": 0, "peer": [2], "duration": "45s"}
    wanted = scenario(brokers=4, controller=3, assignment=[(0, 1, 2)], method=[cut], rate=20, acks="1", horizon="1m")
    assert "laggards_leave" not in {violation.invariant for violation in play(wanted).run.violations}
    monkeypatch.setattr(Partition, "get_out_of_sync_replicas", lambda _self, _now_us: ())
    assert "laggards_leave" in {violation.invariant for violation in play(wanted).run.violations}

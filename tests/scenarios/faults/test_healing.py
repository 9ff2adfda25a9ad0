"""``heal`` ends every fault at once, in a core or in the whole cluster."""

from typing import Any

import pytest

from emulator.protocol.events import Fault, NodeStarted
from scenarios.errors import BadInput
from scenarios.faults.performer import PerformedAction
from scenarios.language.actions import all_actions
from scenarios.runs.findings import findings
from scenarios.runs.known_findings import known
from tests.scenarios.runs.building import TP, Played, Table, play, scenario

HEALED: Table = {"at": "30s", "action": "heal"}
FULL: Table = {"within": "1m", "after": "heal", "isr": {"orders-0": [0, 1, 2]}}


def healed(*faults: Table, heal: Table = HEALED, **more: Any) -> Played:
    wanted: dict[str, Any] = {"brokers": 4, "controller": 3, "horizon": "3m", "expect": [FULL], **more}
    return play(scenario(method=[*faults, heal], **wanted))


FAULTS: dict[str, Table] = {
    "a crash": {"action": "broker.crash", "target": 1},
    "a crash of the host": {"action": "broker.crash", "target": 1, "kind": "host"},
    "a stop": {"action": "broker.stop", "target": 1},
    "a controlled shutdown": {"action": "broker.controlled_shutdown", "target": 0},
    "a pause": {"action": "broker.pause", "target": 1},
    "a cut": {"action": "link.cut", "target": 1},
    "a one-way cut from ZooKeeper": {"action": "link.cut", "target": 1, "peer": "zookeeper", "direction": "to"},
    "a slow link": {"action": "link.delay", "target": 1, "delay": {"latency": "20s"}},
    "an isolated host": {"action": "host.isolate", "target": 0},
    "a failed fetcher": {"action": "fetcher.fail_partition", "target": 1, "partition": "orders-0"},
    "a full disk": {"action": "disk.full", "target": 1},
    "a failing disk": {"action": "disk.fail", "target": 1},
    "a slow disk": {"action": "disk.slow", "target": 1, "write": "1kB/s"},
    "an offline directory": {"action": "log_dir.offline", "target": 1},
    "a corrupt batch": {"action": "disk.corrupt", "target": 0, "partition": "orders-0"},
    "a wrong clock": {"action": "broker.clock", "target": 0, "step": "-1h", "drift": 0.1},
    "no CPU time": {"action": "broker.slow", "target": 0, "cpu": 0.02},
    "lost packets": {"action": "link.loss", "target": 1, "loss": 0.9},
    "a narrow link": {"action": "link.limit", "target": 1, "rate": "1kB/s"},
    "a killed client": {"action": "client.crash", "target": "clients"},
    "groups": {"action": "network.partition", "into": 3, "zookeeper": True},
    "a flapping card": {"action": "host.flap", "target": 1, "down": "1s..8s", "up": "100ms..1s"},
    "a slow ZooKeeper": {"action": "zookeeper.slow", "write": "2s", "read": "1s"},
    "no ZooKeeper": {"action": "zookeeper.stop"},
    "held answers": {"when": {"message": "Fetch", "response": True, "to": 1}, "action": "message.hold"},
    "a slow message": {
        "when": {"message": "Fetch", "to": 0}, "action": "message.delay", "delay": {"latency": "30s"},
    },
}  # fmt: skip


UNDER = ("kafka-2.3", "kafka-1.1")
SLOW = [(name, UNDER[number % 2 - 1]) for number, name in enumerate(FAULTS)]
"""By default each fault is under one of the two releases, in turn."""


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        pytest.param(*each, marks=[pytest.mark.slow] * (each in SLOW))
        for each in ((name, profile) for name in FAULTS for profile in UNDER)
    ],
)
def test_every_fault_ends(name: str, profile: str) -> None:
    fault = FAULTS[name]
    timed = {} if "when" in fault else {"at": "3s"}
    run = healed({**timed, **fault}, profile=profile, rate=20).run
    new = [finding for finding in findings(run) if not known(run, finding)]
    assert not new, run.explanation


def test_a_step_that_is_held_is_released() -> None:
    hold = {"at": "1s", "action": "gate.hold", "gate": {"step": "move.start"}}
    move = {"at": "2s", "action": "reassign.execute"}
    moved: Table = {"within": "1m", "after": "heal", "assignment": {"orders-0": [0, 1, 3]}}
    played = healed(hold, move, plan={0: [0, 1, 3]}, expect=[moved])
    assert played.run.passed, played.run.explanation


def test_an_effect_that_is_due_does_not_come_any_more() -> None:
    """The broker does not fail when it becomes a follower after its restart."""
    due = {"at": "3s", "action": "broker.fail_start_replica", "target": 2, "partition": "orders-0", "times": 50}
    crash = {"at": "5s", "action": "broker.crash", "target": 0, "duration": "10s"}
    played = healed(due, crash)
    assert played.run.passed, played.run.explanation


def test_a_broker_that_was_started_while_its_disk_failed_is_started_again() -> None:
    """The directory was offline as the broker started, and would stay so."""
    offline = {
        "at": "3s", "action": "log_dir.offline", "target": 1, "log_dir": "/data/0", "duration": "40s", "restart": False,
    }  # fmt: skip
    crash = {"at": "5s", "action": "broker.crash", "target": 1, "duration": "1s"}
    assert healed(offline, crash, cluster={"log_dirs": 2}).run.passed


@pytest.mark.parametrize("profile", ["kafka-3.9", "kafka-2.3", "kafka-0.8"])
def test_so_is_one_that_is_started_at_the_moment_of_the_healing(profile: str) -> None:
    """Seed 201 of each profile: it has found the directory offline, and has not handled that yet."""
    offline = {"at": "3s", "action": "log_dir.offline", "target": 1, "log_dir": "/data/0"}
    crash = {"at": "5s", "action": "broker.crash", "target": 1, "optional": True}  # 0.8 halts by itself
    start = {"at": HEALED["at"], "action": "broker.start", "target": 1}
    run = healed(offline, crash, start, cluster={"log_dirs": 2}, profile=profile).run
    assert run.passed, run.explanation


def test_a_disk_that_is_healed_takes_its_broker_along_which_has_started_since() -> None:
    offline = {"at": "3s", "action": "log_dir.offline", "target": 1, "log_dir": "/data/0"}
    crash = {"at": "5s", "action": "broker.crash", "target": 1, "duration": "1s"}
    heal = {"at": "30s", "action": "disk.heal", "target": 1, "restart": True}
    full = {**FULL, "after": "disk.heal"}
    assert healed(offline, crash, heal=heal, cluster={"log_dirs": 2}, expect=[full]).run.passed


def test_only_the_core_is_healed() -> None:
    crash = {"at": "3s", "action": "broker.crash", "target": [0, 1]}
    core = {**HEALED, "brokers": [0, 2, 3]}
    played = healed(crash, heal=core, expect=[{**FULL, "isr": {"orders-0": [0, 2]}}])
    assert played.run.passed, played.run.explanation
    (fault,) = played.of(Fault, lambda event: event.action == "heal")
    assert fault.target == "0,2,3"


def test_the_others_are_stopped_where_that_is_asked_for() -> None:
    core = {**HEALED, "brokers": [0, 2, 3], "others": "stopped"}
    played = healed({"at": "3s", "action": "broker.pause", "target": 0}, heal=core, expect=[])
    assert played.state(TP).isr == (2, 0)
    assert not played.stage.cluster.nodes[1].running


def test_one_of_the_others_that_shuts_down_is_not_started_after_that() -> None:
    alone = {"at": "3s", "action": "host.isolate", "target": 1}
    leaves = {"at": "4s", "action": "broker.controlled_shutdown", "target": 1, "duration": "1s"}
    core = {**HEALED, "brokers": [0, 2, 3], "others": "stopped"}
    assert not healed(alone, leaves, heal=core, expect=[]).stage.cluster.nodes[1].running


def test_what_is_well_is_left_alone() -> None:
    played = healed()
    assert [event.node for event in played.of(NodeStarted)] == [0, 1, 2, 3]


def test_nothing_is_undone_after_it() -> None:
    pause = {"at": "3s", "action": "broker.pause", "target": 1, "duration": "1h"}
    expire = {"at": "40s", "action": "zk.expire", "target": 3}
    played = healed(pause, {**HEALED, "at": "10s"}, heal=expire, expect=[])
    assert [event.action for event in played.of(Fault)] == ["broker.pause", "heal", "zk.expire"]
    assert played.run.passed, played.run.explanation
    assert played.run.virtual_s < 60


def test_it_may_be_a_rollback() -> None:
    crash = {"at": "3s", "action": "broker.crash", "target": 1}
    played = play(scenario(brokers=4, method=[crash], rollbacks=[{"action": "heal"}], controller=3, expect=[FULL]))
    assert played.run.passed, played.run.explanation


def test_others_need_a_core() -> None:
    with pytest.raises(BadInput, match=r"name the core"):
        healed(heal={**HEALED, "others": "stopped"})


def test_whatever_can_be_undone_can_be_healed() -> None:
    """An action that lasts declares how ``heal`` ends it: the one that undoes it, if not ``heal`` itself."""
    by_heal_itself = ("broker.start", "broker.resume")
    for kind in all_actions().values():
        undo = kind.undo
        if undo is not None and issubclass(undo, PerformedAction) and undo.name not in by_heal_itself:
            own = any("end_all" in vars(one) for one in undo.__mro__ if one is not PerformedAction)
            assert own, f"{undo.name} has no end_all"

"""TLC and the oracle have the same verdict on 30 runs, of which 15 were made wrong.

Each sound one is a run of the emulator. TLC gets what it wrote to ZooKeeper, and the oracle all of its events. A wrong
one is a sound one of which a write was changed, left out, or put elsewhere.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest

from benchmarks.specification.behaviours import Group, Znodes, accepted, edited, znodes_of
from benchmarks.specification.checker import checker
from benchmarks.specification.configurations import Configuration
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.language import Scenario
from scenarios.observe.history.history import History
from scenarios.observe.history.settings_history import StartSettings
from scenarios.observe.past.cluster_past import Past, PastReplay
from scenarios.observe.specification import Oracle
from scenarios.observe.specification.constants import release_of
from scenarios.profiles import PROFILES
from scenarios.runs.runner import Stage, prepare

TP = TopicPartition.of("orders", 0)
STATE, TOPIC = "/brokers/topics/orders/partitions/0/state", "/brokers/topics/orders"
ADMIN, EPOCH = "/admin/reassign_partitions", "/controller_epoch"
PLAIN = """
schema = "scenario/1"
title = "{protocol} in {profile}"
profile = "{profile}"
seed = 3
horizon = "2m"
[cluster]
brokers = 5
controller = 0
[[topics]]
name = "orders"
assignment = [{before}]
[strategy]
name = "{protocol}"
[plan]
version = 1
partitions = [{{ topic = "orders", partition = 0, replicas = {after} }}]
[[method]]
at = "5s"
action = "reassign.execute"
"""
CUT_OFF = """
[[method]]
at = "4900ms"
action = "link.cut"
target = 3
peer = 1
duration = "5s"
"""
AT_STEP = """
[[method]]
when = {{ step = "{step}", edge = "after", partition = "orders-0" }}
action = "{action}"
{target}
[[rollbacks]]
action = "broker.start"
target = {{ mode = "all", state = "down" }}
"""


class Sound(NamedTuple):
    """A run, by what it is asked for.

    Attributes:
        step, action, target: what happens after a step.
        cut_off: whether the new replica cannot fetch for 5 s, so that the move waits.
    """

    protocol: str
    profile: str
    before: tuple[int, ...] = (1, 2)
    after: tuple[int, ...] = (2, 3)
    step: str = ""
    action: str = "controller.crash"
    target: int = -1
    cut_off: bool = False

    @property
    def scenario(self) -> Scenario:
        text = PLAIN.format(
            protocol=self.protocol, profile=self.profile, before=list(self.before), after=list(self.after)
        )
        if self.cut_off:
            text += CUT_OFF
        if self.step:
            target = f"target = {self.target}" if self.target >= 0 else ""
            text += AT_STEP.format(step=self.step, action=self.action, target=target)
        return Scenario.loads(text, source="verdicts.toml")

    @property
    def configuration(self) -> Configuration:
        bounds = {"Failovers": 1} if self.action == "controller.crash" and self.step else {}
        bounds |= {"Deaths": 1} if self.target >= 0 else {}
        if self.action == "reassign.cancel":  # the list has another head then, which is elected later
            bounds |= {"Cancels": 1, "Elections": 1}
        return Configuration(
            name="verdict", asks="Is the run a behaviour?", release=release_of(PROFILES[self.profile].release),
            protocol=self.protocol, before="".join(map(str, self.before)), after="".join(map(str, self.after)),
            bounds=bounds,
        )  # fmt: skip


WIKI = Sound("wiki", "kafka-2.3")
KIP_455 = Sound("kip-455", "kafka-2.4")
KAFKA_42 = Sound("kafka-42", "kafka-0.8", (1,), (2,))
KAFKA_6794 = Sound("kafka-6794", "kafka-2.3")
CANCELLED = KIP_455._replace(step="kip-455.A2", action="reassign.cancel", cut_off=True)
FAILS_OVER = WIKI._replace(step="wiki.3")
SOUND = (
    WIKI, WIKI._replace(step="wiki.1"), FAILS_OVER, WIKI._replace(step="wiki.7"), WIKI._replace(step="wiki.8"),
    WIKI._replace(step="wiki.10"), WIKI._replace(profile="kafka-1.1"),
    WIKI._replace(step="wiki.7", action="broker.crash", target=1),
    KIP_455, KIP_455._replace(step="kip-455.B3"), CANCELLED, KIP_455._replace(profile="kafka-2.7"),
    KAFKA_42, KAFKA_6794, KAFKA_6794._replace(step="kafka-6794.9"),
)  # fmt: skip
"""15 sound runs."""

Writes = list[Any]
Spoil = Callable[[Writes], None]


def written(events: Writes, path: str, number: int) -> int:
    """The place of a write among all events: the first one of a path has number 0."""
    return [index for index, one in enumerate(events) if type(one) is ZkWritten and one.path == path][number]


def changes(path: str, number: int, **fields: object) -> Spoil:
    def spoil(events: Writes) -> None:
        index = written(events, path, number)
        events[index] = edited(events[index], **fields)

    return spoil


def lacks(path: str, number: int) -> Spoil:
    def spoil(events: Writes) -> None:
        del events[written(events, path, number)]

    return spoil


def comes_before(path: str, number: int, other: str, place: int) -> Spoil:
    def spoil(events: Writes) -> None:
        moved = events.pop(written(events, path, number))
        events.insert(written(events, other, place), moved)

    return spoil


def skips_an_epoch(events: Writes) -> None:
    index = written(events, EPOCH, -1)
    events[index] = events[index]._replace(data=str(int(events[index].data) + 1))


WRONG: tuple[tuple[str, Sound, Spoil], ...] = (
    ("step 1 is not written", WIKI, lacks(TOPIC, 1)),
    ("step 1 forgets a replica of the old list", WIKI, changes(TOPIC, 1, partitions={"0": [2, 3]})),
    ("step 2 adds to the ISR", WIKI, changes(STATE, 1, isr=[1, 2, 3])),
    ("step 7 keeps the epoch", WIKI, changes(STATE, 3, leader_epoch=1)),
    ("step 7 elects the second of the target", WIKI, changes(STATE, 3, leader=3)),
    ("step 8 drops a replica of the target", WIKI, changes(STATE, 4, isr=[1, 2])),
    ("step 8 is not written", WIKI, lacks(STATE, 4)),
    ("step 10 keeps the old list", WIKI, changes(TOPIC, 2, partitions={"0": [2, 3, 1]})),
    ("step 10 comes before step 8", WIKI, comes_before(TOPIC, 2, STATE, 4)),
    ("step 11 comes before step 7", WIKI, comes_before(ADMIN, -1, STATE, 3)),
    ("the next controller has an epoch too many", FAILS_OVER, skips_an_epoch),
    ("U1 does not say who is removed", KIP_455, changes(TOPIC, 1, removing_replicas={})),
    ("B6 goes on to add", KIP_455, changes(TOPIC, 2, adding_replicas={"0": [3]})),
    ("a cancelled move goes to its target", CANCELLED, changes(TOPIC, 2, partitions={"0": [2, 3]})),
    ("a hop drops more than it may", KAFKA_6794, changes(TOPIC, 1, partitions={"0": [2, 3]})),
)


@cache
def recorded(sound: Sound) -> tuple[Any, ...]:
    """All events of a run that the oracle takes, in their order."""
    stage = Stage(prepare(sound.scenario))
    events: list[Any] = []
    for kind in _kinds(sound):
        stage.cluster.trace.fold(kind, events.append)
    stage.play()
    return tuple(events)


def oracle_of(sound: Sound, replay: Any) -> Oracle:
    past = Past(replay)
    return Oracle(replay, History(replay, past, StartSettings()), PROFILES[sound.profile].release)


def _kinds(sound: Sound) -> list[type]:
    replay = PastReplay()
    oracle_of(sound, replay)
    return list(replay.kinds)


def oracle_accepts(sound: Sound, events: Sequence[Any]) -> bool:
    replay = PastReplay()
    oracle = oracle_of(sound, replay)
    replay.play(events)
    return not oracle.rejections


def spoiled(sound: Sound, spoil: Spoil) -> list[Any]:
    events = list(recorded(sound))
    spoil(events)
    return events


def trace_of(events: Sequence[Any]) -> tuple[Znodes, ...]:
    return tuple(znodes_of((one for one in events if type(one) is ZkWritten), TP))


def test_30_traces_of_which_15_are_wrong() -> None:
    assert (len(SOUND), len(WRONG)) == (15, 15)


@pytest.mark.parametrize("sound", SOUND, ids=lambda one: f"{one.protocol}-{one.profile}-{one.step or 'plain'}")
def test_the_oracle_accepts_a_sound_run(sound: Sound) -> None:
    assert oracle_accepts(sound, recorded(sound))


@pytest.mark.parametrize(("what", "sound", "spoil"), WRONG, ids=[what for what, _, _ in WRONG])
def test_the_oracle_refuses_a_wrong_one(what: str, sound: Sound, spoil: Spoil) -> None:
    assert trace_of(spoiled(sound, spoil)) != trace_of(recorded(sound)), what
    assert not oracle_accepts(sound, spoiled(sound, spoil)), what


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize("sound", dict.fromkeys((*SOUND, *(one for _, one, _ in WRONG))), ids=str)
def test_tlc_has_the_same_verdicts(sound: Sound) -> None:
    try:
        class_path = checker()
    except LookupError as missing:
        pytest.skip(f"{missing}; python -m benchmarks.specification --fetch")
    runs = [list(recorded(sound)), *(spoiled(sound, spoil) for _, one, spoil in WRONG if one == sound)]
    group = Group(sound.configuration, tuple(map(trace_of, runs)))
    assert list(accepted(group, class_path, 300)) == [oracle_accepts(sound, run) for run in runs]

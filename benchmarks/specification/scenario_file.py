"""A counterexample of TLC as a scenario file: its faults and requests, each at the step of the move after which it is.

The emulator runs the file and agrees, or does not. Not all can be written so: a file has no action that elects a
replica of one's choice or makes a follower lag just once (``ReplicaElection``, ``ShrinkIsr``), and a broker of the
emulator that loses its session gets another one (``BrokerSessionExpires``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from benchmarks.specification.configurations import Configuration

PROFILES = {"meant": "kafka-2.4", "0.8.0": "kafka-0.8", "0.8.2.2": "kafka-0.8"}
"""The profiles of releases that are not called after them."""
STEPS = {
    "WikiStep1": "wiki.1", "WikiStep2": "wiki.2", "WikiStep3": "wiki.3", "WikiStep4": "wiki.4",
    "WikiSteps5To7": "wiki.7", "WikiStep8": "wiki.8", "WikiStep9": "wiki.9", "WikiStep10": "wiki.10",
    "WikiStep11": "wiki.11", "WikiStep12": "wiki.12",
    "Kafka42Steps1And2": "kafka-42.2", "Kafka42Step3": "kafka-42.3", "Kafka42Step4": "kafka-42.4",
    "Kafka42Step5": "kafka-42.5", "Kafka42Step6": "kafka-42.6", "Kafka42Step7": "kafka-42.7",
    "Kafka6794Steps1To5": "kafka-6794.5", "Kafka6794Step6": "kafka-6794.6", "Kafka6794Steps7And8": "kafka-6794.8",
    "Kafka6794Step9": "kafka-6794.9", "Kafka6794Steps10And11": "kafka-6794.11",
    "Kafka6794Steps12And13": "kafka-6794.13",
    "Kip455StepsU1AndU2": "kip-455.U2", "Kip455StepU3": "kip-455.U3", "Kip455StepA1": "kip-455.A1",
    "Kip455StepA2": "kip-455.A2", "Kip455Waits": "kip-455.check", "Kip455StepsB1ToB3": "kip-455.B3",
    "Kip455StepsB4AndB5": "kip-455.B5", "Kip455StepB6": "kip-455.B6", "Kip455StepsB7AndB8": "kip-455.B8",
    "InitializeControllerContext": "failover.F3", "StateMachinesStartUp": "failover.F7",
    "ResumeReassignment": "failover.F8",
}  # fmt: skip
"""The step of the emulator after which an action of the specification is over."""
FIRST_OF_HOP = "Kafka6794Steps1To5"
HAPPENS = frozenset({
    "Initial", "HandleRequest", "Fetch", "TruncateToEpochEndOffset", "Elect", "Resign", "PartitionReassignment",
    "BrokerFailure", "BrokerStartup", "BrokerComesBack", "AlterIsr",
})  # fmt: skip
"""Actions that come by themselves."""
EXPECTED = {
    "LeaderCompleteness": "no_acked_record_lost",
    "IsrCompleteness": "isr_complete",
    "OarRecoverable": "moves_recoverable",
}
"""The invariant of the emulator that says the same as a property."""
_STATE = re.compile(r"^State \d+: <(\w+).*?(?=^State \d+:|^\d+ states generated|\Z)", re.MULTILINE | re.DOTALL)
_ALIVE = re.compile(r"^/\\ alive = <<(.*?)>>", re.MULTILINE)


class Place(NamedTuple):
    """A step of the emulator after which something happens; no step: when its time comes.

    Attributes:
        hop: of KAFKA-6794, whose steps are repeated in each; 0 elsewhere.
    """

    step: str = ""
    hop: int = 0

    @property
    def in_failover(self) -> bool:
        return self.step.startswith("failover.")

    @property
    def when(self) -> str:
        filters = "" if self.in_failover else ', partition = "orders-0"'
        filters += f", hop = {self.hop}" if self.hop else ""
        return f'when = {{ step = "{self.step}", edge = "after"{filters} }}'


NOW = Place()


class Moment(NamedTuple):
    """One state of a counterexample.

    Attributes:
        action: what led to it. ``alive``: the brokers whose process runs in it.
    """

    action: str
    alive: frozenset[int]


def moments(output: str) -> list[Moment]:
    """The states that TLC printed."""
    found = []
    for state in _STATE.finditer(output):
        alive = _ALIVE.search(state[0])
        running = [] if alive is None else alive[1].split(",")
        found.append(Moment(state[1], frozenset(n for n, runs in enumerate(running, 1) if runs.strip() == "TRUE")))
    return found


def scenario(configuration: Configuration, course: Sequence[Moment]) -> str:
    """The text of the file.

    Raises: LookupError for an action that no entry can bring about.
    """
    release = configuration.release
    profile = PROFILES.get(release, "kafka-" + ".".join(release.split(".")[:2]))
    before, after = ([int(one) for one in digits] for digits in (configuration.before, configuration.after))
    actions = {one.action for one in course}
    head = (
        f'schema = "scenario/1"\ntitle = "TLC: {configuration.name}"\n'
        f'description = """{configuration.asks}\n{" ".join(one.action for one in course[1:])}"""\n'
        f'profile = "{profile}"\nhorizon = "2m"\n\n[cluster]\nbrokers = 5\ncontroller = 0\n\n'
        f'[[topics]]\nname = "orders"\nassignment = [{before}]\n\n[strategy]\nname = "{configuration.protocol}"\n\n'
        f'[plan]\nversion = 1\npartitions = [{{ topic = "orders", partition = 0, replicas = {after} }}]'
    )
    parts = [head]
    if "LeaderAppends" in actions:
        parts += [_load("early", "0s"), _load("late", "5500ms")]
    parts += _entries(course)
    parts.append('[[rollbacks]]\naction = "broker.start"\ntarget = { mode = "all", state = "down" }')
    if configuration.finds in EXPECTED:
        parts.append(f'[[expect]]\ninvariant = "{EXPECTED[configuration.finds]}"')
    return "\n\n".join(parts) + "\n"


def _load(name: str, start: str) -> str:
    """A producer; one that starts late learns of the new leader at once, where an early one waits for its batches."""
    return (
        f'[[workloads]]\nname = "{name}"\ntopic = "orders"\nstart = "{start}"\nproducerRate = 100\n'
        f'messageSize = 1000\nacks = "all"\nstop = "30s"'
    )


def _entries(course: Sequence[Moment]) -> Iterator[str]:
    place, told, cut, hops = NOW, False, False, 0
    for index, (earlier, now) in enumerate(pairwise(course), 1):
        action = now.action
        if action in STEPS:
            hops += action == FIRST_OF_HOP
            place = Place(STEPS[action], hops if STEPS[action].startswith("kafka-6794.") else 0)
            told, cut = False, False
        elif action == "HandleRequest":
            told = True
        elif action == "ToolAsksForMove":
            if place.in_failover:  # what is asked for arrives before the controller goes on
                yield _entry("gate.hold", place, 'gate = { step = "failover.F8", edge = "before" }\nduration = "1s"')
            yield _entry("reassign.execute", NOW, after="100ms" if place.in_failover else "")
        elif action == "Cancel":
            yield _entry("reassign.cancel", place)
        elif action == "ControllerSessionExpires":
            yield _entry("zk.expire", place, 'target = "controller"')
        elif action == "BrokerDies":
            [broker] = earlier.alive - now.alive
            if not cut and _stands_still(course[index + 1 :]):
                yield _cut(place)
                cut = True
            yield _entry("broker.crash", NOW if cut else place, f"target = {broker}", after="1s" if cut else "")
            yield _entry("zk.expire", NOW, f"target = {broker}", after="10ms")
        elif action == "ControllerDies":
            if told and not cut:
                yield _cut(place)
                cut = True
            yield _entry("controller.crash", NOW if cut else place, after="100ms" if cut else "")
        elif action not in HAPPENS | {"LeaderAppends"}:
            raise LookupError(f"{action} has no action in a scenario file")


def _stands_still(rest: Sequence[Moment]) -> bool:
    """Whether the controller takes no step of its own any more until it dies."""
    for one in rest:
        if one.action in STEPS or one.action == "ControllerDies":
            return one.action == "ControllerDies"
    return False


def _cut(place: Place) -> str:
    """An entry after which what was sent arrives, and nothing is written: the controller cannot reach ZooKeeper."""
    return _entry("link.cut", place, 'target = 0\npeer = "zookeeper"\nduration = "30s"')


def _entry(action: str, place: Place, rest: str = "", *, after: str = "") -> str:
    when = f'after = "{after}"' if after else 'at = "5s"'
    if place.step and not after:
        when = place.when
    return f'[[method]]\n{when}\naction = "{action}"' + (f"\n{rest}" if rest else "")

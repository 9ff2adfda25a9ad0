"""The actions of a method, done to a cluster: whom an entry hits, and the fault's place in the trace.

What each action does stands in ``scenarios.faults.perform``, one file for each kind of thing that is acted upon.
"""

from collections.abc import Callable, Mapping

from attrs import define, field

from emulator.kernel import Signal
from emulator.network import InterceptedMessage
from emulator.protocol.events import Fault
from emulator.protocol.types import TopicPartition
from scenarios.cluster import Cluster, TopicSetup
from scenarios.cluster.clients.tools.executor import Executor
from scenarios.faults.apis import told
from scenarios.faults.perform import PERFORM
from scenarios.faults.perform.messages import Effect
from scenarios.faults.roles import Roles
from scenarios.language import MethodEntry, Scenario, Target, When

Brokers = tuple[int, ...]
Planted = tuple[str, Mapping[TopicPartition, int], TopicPartition, int]


@define(eq=False)
class Actions:
    """Performs entries of a method and undoes them.

    Attributes:
        refused: what could not be done, in words, for the verdict.
        holds: the gates held shut, each with what opens it.
        effects: what is being done to messages.
        executors: the plans that the operator carries out bit by bit.
        passing: the message that the entry in hand was triggered by, where it is to act on it.
        planted: faults that brokers carry: the action, what is still due on that broker, the partition, how often.
    """

    cluster: Cluster
    scenario: Scenario
    roles: Roles
    make_topic: Callable[..., TopicSetup]
    refused: list[str] = field(factory=list)
    holds: list[tuple[When, Signal]] = field(factory=list)
    effects: list[Effect] = field(factory=list)
    executors: list[Executor] = field(factory=list)
    passing: InterceptedMessage | None = None
    planted: list[Planted] = field(factory=list)

    def not_exercised(self) -> list[str]:
        """What was not done, in words: what could not be, and faults that were planted and never struck."""
        waiting = [f"{action}: {tp} never asked for it" for action, due, tp, times in self.planted if due[tp] == times]
        return [*self.refused, *waiting]

    def perform(self, entry: MethodEntry, passing: InterceptedMessage | None = None) -> Brokers:
        """Do it now, to ``passing`` where the action is one on messages; return the brokers it hit, so that it can be
        undone on them."""
        self.passing = passing if entry.spec.acts_on_message else None
        brokers = () if entry.target is None else self.roles.find(entry.target)
        if entry.action == "controller.crash":
            brokers = self.roles.controller()
        if not brokers and (entry.target is not None or entry.action == "controller.crash"):
            if entry.trigger is not None:
                self.refuse_nobody(entry, entry.target)
            return ()
        self.apply(entry.action, entry, brokers)
        self.passing = None
        return brokers

    def apply(self, action: str, entry: MethodEntry, brokers: Brokers) -> None:
        """Do ``action`` with the parameters of ``entry`` to ``brokers``."""
        trace = self.cluster.trace
        cause = trace.cause
        detail = _detail(entry) if self.passing is None else told(self.passing)
        trace.anchor(Fault, action, ",".join(map(str, brokers)), detail)
        PERFORM[action](self, entry, brokers)
        trace.cause = cause

    def refuse_nobody(self, entry: MethodEntry, target: Target | None) -> None:
        """There is no such broker."""
        wanted = "controller" if target is None else target.words or "there"
        self.refused.append(f"{entry.action}: no broker is {wanted}")

    def in_state(self, action: str, states: tuple[str, ...], entry: MethodEntry, brokers: Brokers) -> list[int]:
        """Those of ``brokers`` that ``action`` can do something to. A method that finds none exercises nothing; a
        rollback, or the end of a duration, may find its work done."""
        found = [broker for broker in brokers if self.roles.state_of(broker) in states]
        if not found and entry.action == action and entry.trigger is not None:
            self.refused.append(f"{action}: broker {','.join(map(str, brokers))} is not {' or '.join(states)}")
        return found


def _detail(entry: MethodEntry) -> str:
    if entry.action == "fetcher.fail_partition":
        return f"{entry.param('partition')} {entry.param('cause')}"
    if entry.action in ("broker.fail_start_replica", "broker.ignore_become_leader"):
        return str(entry.param("partition"))
    if entry.action in ("broker.crash", "controller.crash"):
        return str(entry.param("kind"))
    if entry.spec.acts_on_message:
        return str(getattr(entry.trigger, "name", ""))
    if entry.action == "topic.create":
        return str(entry.param("topic").name)
    if entry.action == "topic.delete":
        return str(entry.param("topic"))
    if entry.action == "topic.expand":
        return f"{entry.param('topic')} to {entry.param('partitions')} partitions"
    if entry.action == "election.preferred":
        return ", ".join(entry.param("partitions") or ("all partitions",))
    if entry.action == "config.set":
        settings = [f"{name}={str(value).lower()}" for name, value in (entry.param("config") or {}).items()]
        removed = [f"no {name}" for name in entry.param("remove") or ()]
        brokers = entry.param("brokers")
        whose = entry.param("topic") or ("all brokers" if brokers is None else f"brokers {brokers.words or 'each'}")
        return f"{whose}: {', '.join((*settings, *removed))}"
    return ""

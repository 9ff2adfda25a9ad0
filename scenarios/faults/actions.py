"""The actions of a method, done to a cluster. Each is one method named after its action."""

from collections.abc import Callable

from attrs import define, evolve, field

from emulator.gates import Visit
from emulator.kernel import Signal
from emulator.protocol.events import Fault
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZOOKEEPER
from scenarios.cluster import Cluster, TopicSetup
from scenarios.faults.gates import GateFilter
from scenarios.faults.roles import Roles
from scenarios.model import MethodEntry, Scenario, Target, When

Brokers = tuple[int, ...]
INJECTED = "injected by the scenario"


@define(eq=False)
class Actions:
    """Performs entries of a method and undoes them.

    Attributes:
        refused: what could not be done, in words, for the verdict.
    """

    cluster: Cluster
    scenario: Scenario
    roles: Roles
    make_topic: Callable[..., TopicSetup]
    refused: list[str] = field(factory=list)
    _holds: list[tuple[When, Signal]] = field(factory=list)

    def perform(self, entry: MethodEntry) -> Brokers:
        """Do it now; return the brokers it hit, so that it can be undone on them."""
        brokers = () if entry.target is None else self.roles.find(entry.target)
        if entry.action == "controller.crash":
            brokers = self.roles.controller()
        if not brokers and (entry.target is not None or entry.action == "controller.crash"):
            if entry.trigger is not None:
                self.refused.append(f"{entry.action}: no broker is {_said(entry.target)}")
            return ()
        self.apply(entry.action, entry, brokers)
        return brokers

    def apply(self, action: str, entry: MethodEntry, brokers: Brokers) -> None:
        """Do ``action`` with the parameters of ``entry`` to ``brokers``."""
        trace = self.cluster.trace
        cause = trace.cause
        trace.anchor(Fault, action, ",".join(map(str, brokers)), _detail(entry))
        getattr(self, "_" + action.replace(".", "_"))(entry, brokers)
        trace.cause = cause

    # -- brokers ----------------------------------------------------------------------------------------------------

    def _broker_crash(self, entry: MethodEntry, brokers: Brokers) -> None:
        for broker in self._in_state(entry.action, ("up", "paused"), entry, brokers):
            self.cluster.crash_broker(broker, entry.param("kind"))

    _controller_crash = _broker_crash

    def _broker_stop(self, entry: MethodEntry, brokers: Brokers) -> None:
        for broker in self._in_state("broker.stop", ("up",), entry, brokers):
            self.cluster.stop_broker(broker)

    def _broker_start(self, entry: MethodEntry, brokers: Brokers) -> None:
        for broker in self._in_state("broker.start", ("down",), entry, brokers):
            self.cluster.start_broker(broker)

    def _broker_pause(self, entry: MethodEntry, brokers: Brokers) -> None:
        for broker in self._in_state("broker.pause", ("up",), entry, brokers):
            process = self.cluster.nodes[broker].process
            assert process is not None
            process.pause()

    def _broker_resume(self, entry: MethodEntry, brokers: Brokers) -> None:
        for broker in self._in_state("broker.resume", ("paused",), entry, brokers):
            process = self.cluster.nodes[broker].process
            assert process is not None
            process.resume()

    def _in_state(self, action: str, states: tuple[str, ...], entry: MethodEntry, brokers: Brokers) -> list[int]:
        """Those of ``brokers`` that ``action`` can do something to. A method that finds none exercises nothing; a
        rollback, or the end of a duration, may find its work done."""
        found = [broker for broker in brokers if self.roles.state_of(broker) in states]
        if not found and entry.action == action and entry.trigger is not None:
            self.refused.append(f"{action}: broker {','.join(map(str, brokers))} is not {' or '.join(states)}")
        return found

    def _zk_expire(self, _entry: MethodEntry, brokers: Brokers) -> None:
        for broker in brokers:
            self.cluster.zookeeper.expire(broker)

    def _fetcher_fail_partition(self, entry: MethodEntry, brokers: Brokers) -> None:
        tp = TopicPartition.parse(entry.param("partition"))
        for broker in brokers:
            running = self.cluster.nodes[broker].running
            partition = self.cluster.brokers[broker].replicas.partitions.get(tp) if running else None
            if partition is None or partition.log is None:
                self.refused.append(f"fetcher.fail_partition: broker {broker} has no replica of {tp}")
            else:
                partition.log.fail_disk(INJECTED, entry.param("cause"), times=1)

    # -- links ------------------------------------------------------------------------------------------------------

    def _link_cut(self, entry: MethodEntry, brokers: Brokers) -> None:
        for source, target in self._routes(entry, brokers):
            self.cluster.network.cut(source, target)

    def _link_heal(self, entry: MethodEntry, brokers: Brokers) -> None:
        for source, target in self._routes(entry, brokers):
            self.cluster.network.heal(source, target)

    def _link_delay(self, entry: MethodEntry, brokers: Brokers) -> None:
        delay = entry.param("delay")
        for source, target in self._routes(entry, brokers):
            self.cluster.network.delay(source, target, delay.latency_us, delay.jitter_us)

    def _routes(self, entry: MethodEntry, brokers: Brokers) -> list[tuple[int, int]]:
        peer, direction = entry.param("peer"), entry.param("direction")
        routes: dict[tuple[int, int], None] = {}
        for broker in brokers:
            for other in self._peers(peer):
                if other != broker:
                    if direction in ("both", "from"):
                        routes[broker, other] = None
                    if direction in ("both", "to"):
                        routes[other, broker] = None
        if not routes and entry.trigger is not None:
            self.refused.append(f"{entry.action}: broker {','.join(map(str, brokers))} has no link to itself")
        return list(routes)

    def _peers(self, peer: Target | str | None) -> Brokers:
        if peer is None:
            return tuple(self.cluster.nodes)
        return (ZOOKEEPER,) if isinstance(peer, str) else self.roles.find(peer)

    # -- the operator -----------------------------------------------------------------------------------------------

    def _reassign_execute(self, _entry: MethodEntry, _brokers: Brokers) -> None:
        assert self.scenario.plan is not None
        moves = {TopicPartition.parse(name): replicas for name, replicas in self.scenario.plan.targets().items()}
        operator = self.cluster.operator

        async def execute() -> None:
            if not await operator.reassign(moves):
                self.refused.append("reassign.execute: another reassignment is in progress")

        operator.process.spawn(execute, name="reassign")

    def _topic_create(self, entry: MethodEntry, _brokers: Brokers) -> None:
        topic: TopicSetup = self.make_topic(self.scenario, entry.param("topic"))
        operator = self.cluster.operator
        operator.process.spawn(operator.create_topic, topic.name, topic.assignment, topic.config, name="create")

    # -- gates ------------------------------------------------------------------------------------------------------

    def _gate_hold(self, entry: MethodEntry, _brokers: Brokers) -> None:
        when: When = entry.param("gate")
        release = Signal(self.cluster.world, f"release of {'/'.join(when.steps)}")
        filter = GateFilter.of(when, self.scenario.strategy.parsed.protocol)

        def hold(visit: Visit) -> Signal | None:
            return release if filter.lets(visit) else None

        self.cluster.gates.arm(filter.step, filter.edge, hold)
        self._holds.append((when, release))

    def _gate_release(self, entry: MethodEntry, _brokers: Brokers) -> None:
        when: When = entry.param("gate")
        released = [release for held, release in self._holds if evolve(held, occurrence=when.occurrence) == when]
        for release in released:
            release.set()
        if not released:
            self.refused.append(f"gate.release: no gate.hold names {'/'.join(when.steps)} with the same filters")


def _said(target: Target | None) -> str:
    if target is None:
        return "controller"
    words = [target.role or ",".join(map(str, target.brokers)), target.state or ""]
    return " and ".join(word for word in words if word) or "there"


def _detail(entry: MethodEntry) -> str:
    if entry.action == "fetcher.fail_partition":
        return f"{entry.param('partition')} {entry.param('cause')}"
    if entry.action in ("broker.crash", "controller.crash"):
        return str(entry.param("kind"))
    return ""

"""A Hypothesis state machine that drives a cluster, with rules for clients, faults and moves. After each rule the
invariants are checked; only the release's known behaviour may break them. After the last one the cluster is healed and
has to settle.

Needs Hypothesis, which ``pip install understudy[test]`` brings.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scenarios.cluster.clients.admin import KafkaError
from scenarios.faults.actions.healing import Heal
from scenarios.language import Scenario
from scenarios.testing.drawing import clusters
from scenarios.testing.instance import ClusterInstance
from scenarios.testing.virtual_time import in_virtual_time

T = TypeVar("T")
Work = Callable[[ClusterInstance], Awaitable[Any] | Any]


class SteppedCluster:
    """A cluster whose time passes only inside ``wait_for``.

    Its world runs in a thread of its own. Either that thread or the caller's runs while the other waits; so the same
    work gives the same events.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._thread = Thread(target=self._play, name="cluster", daemon=True)
        self._thread.start()
        self._result()

    def do(self, work: Callable[[ClusterInstance], T]) -> T:
        """Call ``work`` with the cluster, and return its result. No virtual time passes. Raises: its exceptions."""
        self._work.put(work)
        found: T = self._result()
        return found

    def wait_for(self, work: Callable[[ClusterInstance], Awaitable[T]]) -> T:
        """Await ``work`` with the cluster, and return its result. Virtual time passes meanwhile."""
        self._work.put(work)
        found: T = self._result()
        return found

    def close(self) -> None:
        """End the cluster. Raises: AssertionError where an invariant was violated and the release's known behaviour
        does not explain it."""
        self._work.put(None)
        self._result()
        self._thread.join()

    def _result(self) -> Any:
        __tracebackhide__ = True
        value, error = self._results.get()
        if error is not None:
            raise error
        return value

    def _play(self) -> None:
        run = in_virtual_time(seed=self._scenario.seed)(self._until_closed)
        try:
            run()
        except BaseException as error:
            self._results.put((None, error))
        else:
            self._results.put((None, None))

    async def _until_closed(self) -> None:
        async with ClusterInstance(self._scenario) as cluster:
            self._results.put((None, None))
            while (work := self._work.get()) is not None:
                try:
                    value = work(cluster)
                    self._results.put((await value if inspect.isawaitable(value) else value, None))
                except Exception as error:
                    self._results.put((None, error))


class ClusterMachine(RuleBasedStateMachine):
    """Drives a cluster of up to five brokers with one topic, ``orders``. Make a subclass of it, with rules of its own
    or without, and run it: ``TestMine = Mine.TestCase``.

    Attributes:
        drawn: the strategy that draws the cluster; replace it in a subclass.
    """

    drawn: st.SearchStrategy[Scenario] = clusters(brokers=(3, 5))
    cluster: SteppedCluster | None = None
    scenario: Scenario

    @initialize(data=st.data())
    def start_cluster(self, data: st.DataObject) -> None:
        self.scenario = data.draw(self.drawn, label="the cluster")
        self.cluster = SteppedCluster(self.scenario)

    @property
    def running(self) -> SteppedCluster:
        """The cluster, for rules."""
        assert self.cluster is not None, "the cluster starts before the first rule"
        return self.cluster

    # -- rules --------------------------------------------------------------------------------------------------------

    @rule(data=st.data(), records=st.integers(1, 5), acks=st.sampled_from(["all", "1"]))
    def produce(self, data: st.DataObject, records: int, acks: Any) -> None:
        partition = self._partition(data)

        async def send(c: ClusterInstance) -> None:
            with suppress(KafkaError):  # refused, or not in time: what was not acknowledged may be lost
                await c.produce(partition, records, acks=acks, within="5s")

        self.running.wait_for(send)

    @rule(data=st.data(), kind=st.sampled_from(["process", "host"]))
    def crash(self, data: st.DataObject, kind: Any) -> None:
        broker = self._broker(data)
        if broker in self.running.do(lambda c: c.up()):
            self.running.do(lambda c: c.crash(broker, kind))

    @rule(data=st.data())
    def start(self, data: st.DataObject) -> None:
        broker = self._broker(data)
        if broker not in self.running.do(lambda c: c.up()):
            self.running.do(lambda c: c.start(broker))

    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        broker = self._broker(data)
        if broker in self.running.do(lambda c: c.up()):
            self.running.do(lambda c: c.expire(broker))

    @rule(data=st.data())
    def cut(self, data: st.DataObject) -> None:
        broker, other = self._broker(data), self._broker(data)
        if broker != other:
            self.running.do(lambda c: c.cut(broker, other))

    @rule(data=st.data())
    def reassign(self, data: st.DataObject) -> None:
        partition = self._partition(data)
        order = data.draw(st.permutations(self.scenario.cluster.ids), label="replicas")
        factor = len(self.scenario.assignments()[partition])

        async def move(c: ClusterInstance) -> None:
            with suppress(KafkaError):  # another one is under way
                await c.reassign({partition: order[:factor]})

        self.running.wait_for(move)

    @rule(seconds=st.integers(1, 30))
    def wait(self, seconds: int) -> None:
        self.running.wait_for(lambda c: c.sleep(f"{seconds}s"))

    # -- what has to hold ---------------------------------------------------------------------------------------------

    @invariant()
    @precondition(lambda self: self.cluster is not None)
    def no_invariant_is_violated(self) -> None:
        self.running.do(_assert_unviolated)

    def teardown(self) -> None:
        """Heal everything, wait until the cluster is settled, and check once more."""
        cluster, self.cluster = self.cluster, None
        if cluster is not None:
            try:
                cluster.wait_for(_healed)
            finally:
                cluster.close()

    def _broker(self, data: st.DataObject) -> int:
        return int(data.draw(st.sampled_from(self.scenario.cluster.ids), label="broker"))

    def _partition(self, data: st.DataObject) -> str:
        return str(data.draw(st.sampled_from(list(self.scenario.assignments())), label="partition"))


def _assert_unviolated(c: ClusterInstance) -> None:
    new = c.new_violations
    assert not new, str(new[0])


async def _healed(c: ClusterInstance) -> None:
    c.perform(Heal())
    await c.settled()

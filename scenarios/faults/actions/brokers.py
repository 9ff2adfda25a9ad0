"""Broker processes: crashes, stops, starts and pauses; ZooKeeper sessions; and changes of role that fail."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from emulator.disks import DiskFault, UnexpectedError
from emulator.nodes import CrashKind
from emulator.protocol.types import TopicPartition
from fetchers.failures import StorageError
from scenarios.faults.damaged import Damaged
from scenarios.faults.performer import ActionContext, Memory, PerformedAction
from scenarios.language import Target
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import Choice, Integer
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME

if TYPE_CHECKING:
    from brokers.replica_manager.replica_manager import InjectedFailures

INJECTED = "injected by the scenario"
FAILURES: dict[str, tuple[str, type[Exception]]] = {
    "append": ("append", StorageError),
    "truncate": ("truncate", StorageError),
    "unexpected": ("append", UnexpectedError),
}
"""The causes of ``fetcher.fail_partition``: the operation on the log that fails, and its exception."""


@frozen(kw_only=True)
class OnBrokers(PerformedAction):
    takes_target = True


@action("broker.start", "start a broker that is down, or one that is shutting down as soon as it is down")
@frozen(kw_only=True)
class BrokerStart(OnBrokers):
    def perform(self, context: ActionContext) -> None:
        cluster = context.cluster
        stopping = [broker for broker in context.brokers if cluster.is_stopping(broker)]
        others = [broker for broker in context.brokers if broker not in stopping]
        down = context.in_state("down", among=others) if others else []
        for broker in (*stopping, *down):
            cluster.start_broker(broker)


@frozen(kw_only=True)
class Crash(PerformedAction):
    """A broker dies, by itself or with its machine."""

    kind: CrashKind = field(
        default="process",
        metadata=key(
            Choice(("process", "host"), "kind of crash"),
            "process keeps what was appended, host loses what was not flushed",
        ),
    )

    def detail(self) -> str:
        return self.kind

    def perform(self, context: ActionContext) -> None:
        for broker in context.in_state("up", "paused"):
            context.cluster.crash_broker(broker, self.kind)


@action("broker.crash", "kill the broker", undo=BrokerStart)
@frozen(kw_only=True)
class BrokerCrash(Crash):
    takes_target = True


@action("controller.crash", "kill the broker that is controller", undo=BrokerStart)
@frozen(kw_only=True)
class ControllerCrash(Crash):
    default_target = Target(role="controller")


@action("broker.stop", "end the broker's process in order, without a controlled shutdown", undo=BrokerStart)
@frozen(kw_only=True)
class BrokerStop(OnBrokers):
    def perform(self, context: ActionContext) -> None:
        for broker in context.in_state("up"):
            context.cluster.stop_broker(broker)


@action(
    "broker.controlled_shutdown",
    "shut the broker down (SIGTERM): the controller first moves its leaderships away",
    undo=BrokerStart,
)
@frozen(kw_only=True)
class BrokerControlledShutdown(OnBrokers):
    def perform(self, context: ActionContext) -> None:
        for broker in context.in_state("up"):
            context.cluster.shut_down_broker(broker)

    def sends(self, known: KnownNames) -> tuple[str, ...]:
        return ("ControlledShutdown",) if known.scenario.settings()["controlled.shutdown.enable"] else ()


@action("broker.resume", "let a paused broker continue")
@frozen(kw_only=True)
class BrokerResume(OnBrokers):
    def perform(self, context: ActionContext) -> None:
        for broker in context.in_state("paused"):
            process = context.cluster.nodes[broker].process
            assert process is not None
            process.resume()


@action("broker.pause", "stop the broker's tasks but not its session's timer, like a long GC pause", undo=BrokerResume)
@frozen(kw_only=True)
class BrokerPause(OnBrokers):
    def perform(self, context: ActionContext) -> None:
        for broker in context.in_state("up"):
            process = context.cluster.nodes[broker].process
            assert process is not None
            process.pause()


@action("zk.expire", "expire the broker's ZooKeeper session")
@frozen(kw_only=True)
class ZkExpire(OnBrokers):
    def perform(self, context: ActionContext) -> None:
        if context.cluster.zookeeper.stopped:
            context.refuse("ZooKeeper is stopped, and no session expires until it is back")
            return
        for broker in context.brokers:
            context.cluster.zookeeper.expire(broker)


@action("fetcher.fail_partition", "make the target's fetcher fail on one partition (KIP-461)")
@frozen(kw_only=True)
class FetcherFailPartition(OnBrokers):
    partition: str = field(metadata=key(PARTITION_NAME, "the partition that fails"))
    cause: str = field(
        default="append",
        metadata=key(
            Choice(tuple(FAILURES), "cause"),
            "a storage error in the append or in a truncation, or an unexpected error in the append",
        ),
    )

    def detail(self) -> str:
        return f"{self.partition} {self.cause}"

    def perform(self, context: ActionContext) -> None:
        tp = TopicPartition.parse(self.partition)
        operation, error = FAILURES[self.cause]
        for broker in context.brokers:
            replicas = context.replicas_of(broker)
            partition = None if replicas is None else replicas.partitions.get(tp)
            if partition is None or partition.log is None:
                context.refuse(f"broker {broker} has no replica of {tp}")
            elif partition.is_leader and operation == "append":
                context.refuse(f"broker {broker} leads {tp}, no fetcher appends to it")
            else:
                partition.log.fail_disk(DiskFault(INJECTED, (operation,), 1, error, of_process=True))
                context.performer.memory(Damaged).note(context, broker)


@define(eq=False)
class FailuresDue(Memory):
    """The injected failures of role changes that are still to come, each with its number now and at first."""

    given: list[tuple[str, dict[TopicPartition, int], TopicPartition, int]] = field(factory=list)

    def not_exercised(self) -> list[str]:
        return [f"{action}: {tp} never asked for it" for action, due, tp, times in self.given if due[tp] == times]

    def end(self) -> None:
        """End these failures. Those that have not happened remain not exercised."""
        for number, (name, due, tp, times) in enumerate(self.given):
            self.given[number] = name, dict(due), tp, times
            due.pop(tp, None)


@frozen(kw_only=True)
class FailBecoming(OnBrokers):
    """The broker fails at the next changes of its role in a partition."""

    partition: str = field(metadata=key(PARTITION_NAME, "the partition"))
    times: int = field(
        default=1, metadata=key(Integer(1), "how many times to fail; every new leader epoch is a new attempt")
    )

    def detail(self) -> str:
        return self.partition

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        context.performer.memory(FailuresDue).end()

    @abstractmethod
    def due(self, injected: InjectedFailures) -> dict[TopicPartition, int]:
        """The number of failures to come, by partition."""

    def perform(self, context: ActionContext) -> None:
        for broker in context.in_state("up", "paused"):
            replicas = context.replicas_of(broker)
            if replicas is None:
                context.refuse(f"broker {broker} was started at this very instant")
            else:
                self._fail(context, self.due(replicas.injected))

    def _fail(self, context: ActionContext, due: dict[TopicPartition, int]) -> None:
        tp = TopicPartition.parse(self.partition)
        due[tp] = self.times
        if not context.entry.optional:
            context.performer.memory(FailuresDue).given.append((self.name, due, tp, self.times))
        for broker in context.brokers:
            context.performer.memory(Damaged).note(context, broker)


@action(
    "broker.fail_start_replica",
    "make the broker fail when it next becomes a follower of a partition: no log, no fetcher (KAFKA-42, 2b)",
)
@frozen(kw_only=True)
class BrokerFailStartReplica(FailBecoming):
    def due(self, injected: InjectedFailures) -> dict[TopicPartition, int]:
        return injected.start


@action(
    "broker.ignore_become_leader",
    "make the broker fail when it next becomes the leader of a partition: no broker serves it (KAFKA-42, 4b)",
)
@frozen(kw_only=True)
class BrokerIgnoreBecomeLeader(FailBecoming):
    def due(self, injected: InjectedFailures) -> dict[TopicPartition, int]:
        return injected.lead

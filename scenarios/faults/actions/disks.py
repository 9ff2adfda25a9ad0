"""The disks under log directories: errors, slowness, lack of space, spoilt batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from emulator.disks import Disk, DiskFault, DiskSpeed
from emulator.protocol.types import Batch, TopicPartition
from scenarios.errors import BadInput
from scenarios.faults.damaged import Damaged, run_again
from scenarios.faults.performer import ActionContext, Memory, PerformedAction
from scenarios.language import MethodEntry, Scenario
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.plan import ANY_LOG_DIR, LOG_DIR
from scenarios.language.schema.kinds import DURATION, RATE, Boolean, Choice, Integer
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME

if TYPE_CHECKING:
    from brokers.log.log import Log

INJECTED = "injected by the scenario"
FULL = "no space left on device"


@frozen(kw_only=True)
class OnLogDirs(PerformedAction):
    """Acts on one log directory of each broker, or on all of them."""

    takes_target = True

    log_dir: str | None = field(
        default=None, metadata=key(LOG_DIR, 'which log directory; absent or "any" = all of them')
    )

    def note(self, context: ActionContext) -> None:
        """Let ``heal`` restart the brokers whose disks have failed: an offline directory stays so until then."""
        for broker in context.brokers:
            context.performer.memory(Damaged).note(context, broker)

    def disks(self, context: ActionContext, broker: int) -> list[Disk]:
        """The disks of the broker that are meant. If there is none, the action is refused."""
        disks = context.cluster.nodes[broker].disks
        found = [disk for disk in disks if self.log_dir in (None, ANY_LOG_DIR, disk.name)]
        if not found:
            context.refuse(f"broker {broker} has no log directory {self.log_dir}")
        return found


def _stay_offline(entry: MethodEntry) -> Iterator[str]:
    if entry.duration_us is not None:
        yield (
            "its end repairs the disk; a log directory that is offline by then stays so until its broker restarts "
            "(KIP-112): leave duration out, and add disk.heal with restart = true"
        )


def _log(context: ActionContext, broker: int, name: str) -> Log | None:
    """The broker's log of a partition. If there is none, the action is refused."""
    tp = TopicPartition.parse(name)
    replicas = context.replicas_of(broker)
    partition = None if replicas is None else replicas.partitions.get(tp)
    if partition is None or partition.log is None:
        context.refuse(f"broker {broker} has no replica of {tp}")
        return None
    return partition.log


def _mend(context: ActionContext, disk: Disk) -> None:
    """End the faults of a disk, and give it its own pace."""
    disk.mend()
    disk.take_time(context.cluster.setup.disk_speed, context.cluster.world.now)


def _stated(restart: bool | None) -> bool:
    """A converter: the fault that is undone may leave it open."""
    return False if restart is None else restart


@action("disk.heal", "end every fault of the disks; a directory that is offline needs a restart of its broker")
@frozen(kw_only=True)
class DiskHeal(OnLogDirs):
    restart: bool = field(
        default=False,
        converter=_stated,
        metadata=key(Boolean(), "true: restart a broker whose disk had failed, so that its log directories return"),
    )

    def perform(self, context: ActionContext) -> None:
        for broker in context.brokers:
            for disk in self.disks(context, broker):
                _mend(context, disk)
            if self.restart and context.performer.memory(Damaged).is_damaged(context, broker):
                run_again(context, broker)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        for broker, node in context.cluster.nodes.items():
            for disk in node.disks if context.heals(broker) else ():
                _mend(context, disk)


@action(
    "disk.fail",
    "make operations on a partition's log, or on a whole log directory, fail with an I/O error",
    undo=DiskHeal,
)
@frozen(kw_only=True)
class DiskFail(OnLogDirs):
    partition: str | None = field(
        default=None, metadata=key(PARTITION_NAME, "whose log; absent = all logs of the log directory")
    )
    operation: str = field(
        default="any",
        metadata=key(
            Choice(("any", "append", "read", "truncate", "delete", "flush"), "operation"),
            "which operations; delete is that of old segments, by retention",
        ),
    )
    times: int | None = field(
        default=None, metadata=key(Integer(1), "how many of them fail; absent = all, until disk.heal")
    )

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        return _stay_offline(entry)

    def check(self, known: KnownNames) -> None:
        if self.log_dir is not None and self.partition is not None:
            raise BadInput("a partition's log is where it is; leave log_dir out, or partition", where="log_dir")

    def perform(self, context: ActionContext) -> None:
        self.note(context)
        operations = () if self.operation == "any" else (self.operation,)
        for broker in context.brokers:
            if self.partition is None:
                for disk in self.disks(context, broker):
                    disk.fail(DiskFault(INJECTED, operations, self.times, report=disk.report))
            elif (log := _log(context, broker, self.partition)) is not None:
                log.fail_disk(DiskFault(INJECTED, operations, self.times, report=log.directory.disk.report))


@action("disk.slow", "limit the speed of log directories' disks, until disk.heal restores it", undo=DiskHeal)
@frozen(kw_only=True)
class DiskSlow(OnLogDirs):
    read: int | None = field(default=None, metadata=key(RATE, "bytes read per second; absent = reads take no time"))
    write: int | None = field(
        default=None, metadata=key(RATE, "bytes appended per second; absent = appends take no time")
    )
    latency_us: int = field(
        default=0, metadata=key(DURATION, "additional time of each append and read", name="latency")
    )

    def check(self, known: KnownNames) -> None:
        if not any((self.read, self.write, self.latency_us)):
            raise BadInput('nothing makes these disks slow; write read, write or latency, such as write = "1MB/s"')

    def perform(self, context: ActionContext) -> None:
        speed = DiskSpeed(self.read, self.write, self.latency_us)
        for broker in context.brokers:
            for disk in self.disks(context, broker):
                disk.take_time(speed, context.cluster.world.now)


@action("disk.full", "leave no space on the disk of a log directory: every write fails", undo=DiskHeal)
@frozen(kw_only=True)
class DiskFull(OnLogDirs):
    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        return _stay_offline(entry)

    def perform(self, context: ActionContext) -> None:
        self.note(context)
        for broker in context.brokers:
            for disk in self.disks(context, broker):
                disk.fail(DiskFault(FULL, ("append", "replace"), report=disk.report))


@action("log_dir.offline", "take a log directory offline at once (KIP-112)", undo=DiskHeal)
@frozen(kw_only=True)
class LogDirOffline(OnLogDirs):
    restart: bool | None = field(
        default=None,
        metadata=key(
            Boolean(),
            "with a duration, what its end does: true = the disk is repaired and the broker restarted, so that the log "
            "directory returns; false = the disk is repaired, and the directory stays offline until another restart",
        ),
    )

    def detail(self) -> str:
        told = self if self.restart else evolve(self, restart=None)
        return super(LogDirOffline, told).detail()

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        return () if self.restart else _stay_offline(entry)

    def check_duration(self) -> None:
        if self.restart is None:
            raise BadInput(
                "a log directory that is offline returns only when its broker restarts (KIP-112); add restart = true, "
                "restart = false if it is to stay offline, or leave duration out",
                where="duration",
            )

    def perform(self, context: ActionContext) -> None:
        self.note(context)
        for broker in context.brokers:
            for disk in self.disks(context, broker):
                disk.fail(DiskFault(INJECTED, report=disk.report))
                disk.report(INJECTED)


@define(eq=False)
class Corrupted(Memory):
    """The batches that were corrupted: the broker, and each batch on its disk, now and before."""

    batches: list[tuple[int, Batch, Batch]] = field(factory=list)


@action("disk.corrupt", "corrupt a batch in a partition's log: every fetch of it finds a wrong checksum")
@frozen(kw_only=True)
class DiskCorrupt(PerformedAction):
    takes_target = True

    partition: str = field(metadata=key(PARTITION_NAME, "the partition"))
    batch: str = field(default="last", metadata=key(Choice(("first", "last"), "batch"), "which batch"))

    def perform(self, context: ActionContext) -> None:
        for broker in context.brokers:
            log = _log(context, broker, self.partition)
            if log is not None and log.batches:
                place = -1 if self.batch == "last" else 0
                batch = log.batches[place]
                context.performer.memory(Corrupted).batches.append((broker, log.corrupt(place), batch))
                context.performer.memory(Damaged).note(context, broker)
            elif log is not None:
                context.refuse(f"broker {broker} has no batch of {log.tp}")

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        """Restore the batches, where they are still on the disk."""
        for broker, damaged, batch in context.performer.memory(Corrupted).batches:
            files = (file for disk in context.cluster.nodes[broker].disks for file in disk.files.values())
            for file in files if context.heals(broker) else ():
                for place, entry in enumerate(file.entries):
                    if entry is damaged:
                        file.damage(place, batch)

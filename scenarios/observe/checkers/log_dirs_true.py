"""T7: what a broker says of its log directories is so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from emulator.protocol.errors import Errors
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    CopyAbandoned,
    CopyFailed,
    CopyStarted,
    LogCompacted,
    LogDirFailed,
    LogReplaced,
    NodeStarted,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.protocol.log_dirs import AlterReplicaLogDirsRequest, DescribeLogDirsRequest, ReplicaInfo
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.administrator_answers import AdministratorAnswers
from scenarios.observe.checkers.broker_memory import is_settled
from scenarios.observe.checkers.checker import forget
from scenarios.observe.findings.administrator_facts import LogElsewhere
from scenarios.observe.findings.log_facts import DescribedUnasked, LogBehind, TwoLogs

Replica = tuple[int, TopicPartition]
NO_REPLICA = Errors.REPLICA_NOT_AVAILABLE, Errors.UNKNOWN_TOPIC_OR_PARTITION
ORPHANED = -1
"""The lag of a copy whose current log is in a directory that has failed."""


class LogDirsTrue(AdministratorAnswers):
    """A description of log directories has the logs that it was asked for, where they are, and how far each is behind;
    and a replica that a broker moves to another directory gets there.

    Verified: each answer to DescribeLogDirs (KIP-113, 1.1; ReplicaManager.describeLogDirs, 2.3): it names all
        directories of the broker, each once, and of these only failed ones with an error. It names only partitions that
        were asked for, and each current log once: every one of which the broker has a replica, and every copy that it
        has begun, in its directory. A current log is where it was, unless it was replaced or deleted meanwhile. A log
        that will replace another is no further behind that than the other is long; a current log is not behind its own
        high watermark. A log with records has a size, an empty one has none; one that is as it was at the last
        description has the same size.

        Each answer to AlterReplicaLogDirs (ReplicaManager.alterReplicaLogDirs, 1.1): it has each partition once. NONE:
        the log is there, or is being copied there. There is an error only without a replica, without such a directory,
        and with a failed one. When the cluster is at rest, a log is in the directory for which NONE was answered last,
        unless it is still being copied, its copy was given up or failed, or the replica has got a role or was stopped
        since (KAFKA-9654).

    Not verified: sizes in bytes; NONE without a replica, as a follower of a leader that does not live has one and no
        role (ReplicaManager.makeFollowers); how far exactly a copy has got, which no event shows; where a log is before
        that was said once.
    """

    ids = ("T7",)
    statement = (
        "described = asked ∩ hosted, lag(future) ≤ leo, answered(d) ⇒ ◇ log ∈ d: "
        "a broker describes the logs that it is asked for where they are, and moves a log to where it says that it does"
    )
    catches = ("KAFKA-16807",)
    fails_when = "a broker says that a copy lacks more than there is to copy"

    def begin(self) -> None:
        self.history.answers.of(self._answered, DescribeLogDirsRequest, AlterReplicaLogDirsRequest)
        self._logs, self._settings = self.history.logs, self.history.settings
        self._names: dict[int, tuple[str, ...]] = {}
        """The directories of each broker, as it has described them first."""
        self._places: dict[Replica, str] = {}
        """Where current logs are, as far as it was said."""
        self._copies: dict[Replica, str] = {}
        """The copies that are begun, and where they are."""
        self._sizes: dict[Replica, tuple[object, int]] = {}
        """By log what it had when it was last described, and its size."""
        self._promised: dict[Replica, str] = {}
        """The directories that brokers have answered with NONE."""

    # -- where logs are -----------------------------------------------------------------------------------------------

    def on_begun(self, event: CopyStarted) -> None:
        replica = event.node, TopicPartition.of(event.topic, event.partition)
        self._copies[replica], self._places[replica] = event.target, event.source

    def on_replaced(self, event: LogReplaced) -> None:
        replica = event.node, TopicPartition.of(event.topic, event.partition)
        self._copies.pop(replica, None)
        self._sizes.pop(replica, None)
        self._places[replica] = event.target

    def on_given_up(self, event: CopyAbandoned | CopyFailed) -> None:
        replica = event.node, TopicPartition.of(event.topic, event.partition)
        self._promised.pop(replica, None)
        if isinstance(event, CopyAbandoned):
            self._copies.pop(replica, None)

    def on_role(self, event: BecameLeader | BecameFollower) -> None:
        if self._promised:
            self._promised.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    def on_stopped(self, event: ReplicaStopped | ReplicaOffline) -> None:
        if self._places:
            replica = event.node, TopicPartition.of(event.topic, event.partition)
            self._promised.pop(replica, None)
            if isinstance(event, ReplicaOffline) or event.deleted:
                self._places.pop(replica, None)
                self._sizes.pop(replica, None)

    def on_compacted(self, event: LogCompacted) -> None:
        if self._sizes:
            self._sizes.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    def on_begins_again(self, event: NodeStarted | LogDirFailed) -> None:
        forget(event.node, self._places, self._copies, self._sizes, self._promised)

    # -- what is answered ---------------------------------------------------------------------------------------------

    def _answered(self, event: RequestAnswered) -> None:
        if isinstance(event.request, DescribeLogDirsRequest):
            self._described(event, event.request)
        elif isinstance(event.request, AlterReplicaLogDirsRequest):
            self._altered(event, event.request)

    def _described(self, event: RequestAnswered, request: DescribeLogDirsRequest) -> None:
        broker, directories = event.node, event.response.directories
        names = tuple(each.name for each in directories)
        if names != self._names.setdefault(broker, names) or len(dict.fromkeys(names)) < len(names):
            self.wrong(event, "", f"the directories {list(names)}", list(self._names[broker]))
        current: dict[TopicPartition, str] = {}
        futures: dict[TopicPartition, str] = {}
        for each in directories:
            failed = each.error is Errors.KAFKA_STORAGE_ERROR and self.cluster.lacks_dirs(broker)
            if each.error is not Errors.NONE and (not failed or each.replicas):
                self.wrong(event, "", f"{each.name}: {each.error.name}", "it works")
            for info in each.replicas:
                if not info.future and info.tp in current:
                    self.violated(event, TwoLogs(broker), info.tp)
                (futures if info.future else current)[info.tp] = each.name
                self._log(event, info, each.name)
        asked = None if request.partitions is None else dict.fromkeys(request.partitions)
        for tp in (*current, *futures):
            if asked is not None and tp not in asked:
                self.violated(event, DescribedUnasked(broker), tp)
        for tp in self._hosted(broker) if asked is None else asked:
            if tp not in current and self._hosts(broker, tp):
                self.wrong(event, "", "no log", "the replica's", tp)
            copied = self._copies.get((broker, tp))
            if tp in current and copied is not None and futures.get(tp) != copied:
                said = f"a copy in {futures[tp]}" if tp in futures else "no copy"
                self.wrong(event, "", said, f"one in {copied}", tp)

    def _log(self, event: RequestAnswered, info: ReplicaInfo, directory: str) -> None:
        replica, log = (event.node, info.tp), self._logs.get(event.node, info.tp)
        most = 0 if not info.future else log.end_offset if log is not None else info.lag
        if info.lag > most or (info.lag < 0 and not info.future):
            self.violated(event, LogBehind(event.node, bool(info.future), info.lag, most), info.tp)
        if info.future:
            orphaned = info.lag == ORPHANED and self.cluster.lacks_dirs(event.node)
            if replica not in self._copies and not orphaned:
                self.wrong(event, "", f"a copy in {directory}", "none", info.tp)
            return
        place = self._places.setdefault(replica, directory)
        if place != directory:
            self.wrong(event, "", f"the log in {directory}", place, info.tp)
        if log is not None and log.known and not self._is_compacted(info.tp.topic, event.t_us):
            content, end = (log.last, log.size, log.disk_start), log.end_offset
            before, size = self._sizes.get(replica, (None, 0))
            fits = (end > 0 or not info.size) and (info.size > 0 or log.start_offset >= end)
            if not fits or (before == content and info.size != size):
                self.wrong(event, "", f"{info.size} bytes", f"{size} as before, or as its records have", info.tp)
            self._sizes[replica] = content, info.size

    def _is_compacted(self, topic: str, now_us: int) -> bool:
        return any("compact" in one for one in self._settings.values(
            topic, "cleanup.policy", "delete", now_us, of_brokers="log.cleanup.policy"
        ))  # fmt: skip

    def _hosted(self, broker: int) -> Iterator[TopicPartition]:
        """The partitions of which a broker may have replicas."""
        return iter(list(self.cluster.roles.get(broker, ())))

    def _hosts(self, broker: int, tp: TopicPartition) -> bool:
        """Whether a broker has a replica, in a directory that works."""
        role = self.cluster.last_role(broker, tp)
        return role is not None and role.stopped != "deleted" and not role.offline

    def _altered(self, event: RequestAnswered, request: AlterReplicaLogDirsRequest) -> None:
        broker, answered = event.node, event.response.partitions
        asked = [tp for tp, _ in request.partitions]
        if [tp for tp, _ in answered] != asked:
            self.wrong(event, "", [str(tp) for tp, _ in answered], [str(tp) for tp in asked])
            return
        sound = not self.cluster.lacks_dirs(broker) and broker not in self.now.impaired
        for (tp, name), (_, error) in zip(request.partitions, answered, strict=True):
            hosted = self._hosts(broker, tp)
            if error is Errors.NONE:
                place = self._copies.get((broker, tp)) or self._places.setdefault((broker, tp), name)
                if place != name:
                    self.wrong(event, "", f"it moves to {name}", place, tp)
                self._promised[broker, tp] = name
            elif error is Errors.LOG_DIR_NOT_FOUND:
                if name in self._names.get(broker, ()):
                    self.wrong(event, "", error.name, f"there is {name}", tp)
            elif error is Errors.KAFKA_STORAGE_ERROR:
                if sound:
                    self.wrong(event, "", error.name, "all directories work", tp)
            elif error not in NO_REPLICA or hosted:
                self.wrong(event, "", error.name, "it has the replica", tp)

    def on_remembered(self, event: Remembered) -> None:
        if event.role != "broker" or not self._promised or not is_settled(self, event):
            return
        memories: Any = event.memories
        replicas, copies = memories["replicas"], memories["copies"]
        for (broker, tp), name in list(self._promised.items()):
            replica: Any = replicas.get(tp) if broker == event.node and tp not in copies else None
            if replica is not None and replica.directory != name:
                del self._promised[broker, tp]
                self.violated(event, LogElsewhere(broker, name, replica.directory), tp, (broker,))

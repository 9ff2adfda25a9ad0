"""What binds a broker's replication: KIP-73's quotas, KIP-542's, and the settings that change them while it runs.

KIP-542 was discussed and never merged (KAFKA-8330): no release has its settings. Its rule is here to be compared: the
two rates bind only replicas that a reassignment adds, until they are in sync, so that whoever was restarted catches up
unhindered. Brokers know who is being added where LeaderAndIsr says so (KIP-455, or KIP-352's draft); elsewhere the
rates bind nobody. A replica that KIP-73 lists is that quota's alone, as the KIP has it.
"""

from collections.abc import Mapping

from attrs import Factory, define

from emulator.nodes import Process
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import broker_entity
from fetchers.metrics import ThrottleRate
from fetchers.quota import UNLIMITED, Quota, ReplicationQuota, listed_here


@define(eq=False)
class Throttle:
    """One direction of one broker: as a leader, or as a follower.

    Attributes:
        listed: KIP-73's quota.
        reassigned: KIP-542's.
        active: whether any replica can be bound; else nobody has to look further.
        version: grows with each change of who is bound.
        rate: what shows how much of ``listed`` passes, where anybody wants to see it.
    """

    listed: ReplicationQuota = Factory(ReplicationQuota)
    reassigned: Quota = Factory(Quota)
    active: bool = False
    version: int = 0
    rate: ThrottleRate | None = None

    def quota(self, tp: TopicPartition, adding: bool) -> Quota | None:
        """What binds the replica of ``tp`` while it is out of sync. ``adding``: a reassignment adds it."""
        if self.listed.throttles(tp):
            return self.listed
        return self.reassigned if adding and self.reassigned.limited else None

    def record(self, tp: TopicPartition, adding: bool, size: int, now_us: int) -> None:
        """Bytes of ``tp`` have passed. ``adding``: to a replica that a reassignment adds, and that is out of sync."""
        quota = self.quota(tp, adding)
        if quota is not None:
            quota.record(size, now_us)
            if quota is self.listed and self.rate is not None:
                self.rate.counted()

    def changed(self) -> None:
        self.active = self.listed.lists_any or self.reassigned.limited
        self.version += 1


@define(eq=False)
class CopyThrottle(Throttle):
    """Copies between the log directories of one broker: all share ``listed``, which names none (KIP-113)."""

    def quota(self, tp: TopicPartition, adding: bool) -> Quota | None:
        return self.listed

    def changed(self) -> None:
        self.active = self.listed.limited
        self.version += 1


@define(eq=False)
class BrokerQuotas:
    """The replication quotas of one broker (QuotaFactory.QuotaManagers, 2.3)."""

    broker: int
    leader: Throttle = Factory(Throttle)
    follower: Throttle = Factory(Throttle)
    alter_log_dirs: CopyThrottle = Factory(CopyThrottle)

    @classmethod
    def windowed(cls, broker: int, windows: int, window_us: int) -> "BrokerQuotas":
        """Unlimited as yet; the window is that of replication.quota.window.num and .size.seconds."""

        def quotas() -> tuple[ReplicationQuota, Quota]:
            return ReplicationQuota(UNLIMITED, windows, window_us), Quota(UNLIMITED, windows, window_us)

        return cls(broker, Throttle(*quotas()), Throttle(*quotas()), CopyThrottle(*quotas()))

    def show(self, process: Process) -> None:
        """Let ``process`` show the rates, under the names of Kafka's QuotaType."""
        for type, throttle in (
            ("LeaderReplication", self.leader),
            ("FollowerReplication", self.follower),
            ("AlterLogDirsReplication", self.alter_log_dirs),
        ):
            throttle.rate = ThrottleRate(process, type, throttle.listed)

    def configured(self, entity: str, settings: Mapping[str, str]) -> None:
        """The settings of ``entity`` are these now. What they leave out is no longer set: an unlimited rate, an empty
        list. The default of all brokers is not heeded, as in 2.3."""
        if entity == broker_entity(self.broker):
            self._limit(settings)
        elif entity.startswith("topics/"):
            topic = entity.removeprefix("topics/")
            for side, throttle in (("leader", self.leader), ("follower", self.follower)):
                name = f"{side}.replication.throttled.replicas"
                if throttle.listed.list_replicas(topic, listed_here(settings, name, self.broker)):
                    throttle.changed()

    def _limit(self, settings: Mapping[str, str]) -> None:
        def rate(name: str) -> int:
            return int(settings.get(name, UNLIMITED))

        for side, throttle in (("leader", self.leader), ("follower", self.follower)):
            throttle.listed.rate = rate(f"{side}.replication.throttled.rate")
            throttle.reassigned.rate = rate(f"{side}.reassignment.throttled.rate")
            throttle.changed()
        self.alter_log_dirs.listed.rate = rate("replica.alter.log.dirs.io.max.bytes.per.second")
        self.alter_log_dirs.changed()

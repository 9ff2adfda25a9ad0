"""Facts about metrics: what they show, and what is true."""

from typing import NamedTuple

from emulator.protocol.types import TopicPartition


class LagTooLarge(NamedTuple):
    """A follower's lag that is more than what it lacks of the leader's high watermark, ``committed``."""

    broker: int
    lag: int
    offset: int
    leader: int
    committed: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} shows a lag of {self.lag} at {self.offset}, where its leader {self.leader} "
            f"has the high watermark {self.committed}"
        )


class OfflineCounted(NamedTuple):
    """Offline partitions that a controller shows; ``leaderless`` have no live leader, and of ``unsure`` it cannot be
    said."""

    controller: int
    shown: int
    leaderless: int
    unsure: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"controller {self.controller} shows {self.shown} offline partitions; {self.leaderless} have no live leader"
            + (f", and for {self.unsure} it cannot be said" if self.unsure else "")
        )


class OfflineShown(NamedTuple):
    """Offline partitions that a broker shows which is not the controller."""

    broker: int
    shown: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker}, which is not the controller, shows {self.shown} offline partitions"


class CountWrong(NamedTuple):
    """A gauge that does not show what it counts, ``true``."""

    broker: int
    gauge: str
    shown: int
    true: int

    def in_words(self, tp: TopicPartition | None) -> str:
        of = "" if tp is None else f" of {tp}"
        return f"broker {self.broker} shows {self.gauge}{of} = {self.shown}; by what it knows it is {self.true}"


class TimeImpossible(NamedTuple):
    """A time that is negative, or longer than the broker has run."""

    broker: int
    metric: str
    duration_us: int
    lived_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} shows {self.duration_us / 1000:g} ms in {self.metric}, and has run for "
            f"{self.lived_us / 1000:g} ms"
        )


class TimeUnpaired(NamedTuple):
    """A time of a request that is recorded without the other one that belongs to it."""

    broker: int
    metric: str
    missing: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} records {self.metric}, and did not record {self.missing}"


class GaugeNegative(NamedTuple):
    """A gauge below zero."""

    broker: int
    metric: str
    value: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"{self.metric} is {self.value} on broker {self.broker}"


class MeterBehind(NamedTuple):
    """A meter that has not counted at least ``least``. ``of``: its topic, or the error that it counts."""

    broker: int
    meter: str
    of: str
    shown: int
    least: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        of = self.of and f" of {self.of}"
        return f"broker {self.broker} shows {self.meter}{of} = {self.shown}, and has had {self.least} to count for 10 s"


class MeterBeyond(NamedTuple):
    """A meter that has counted more than there was, ``most``. ``of``: its topic."""

    broker: int
    meter: str
    of: str
    shown: int
    most: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        of = self.of and f" of {self.of}"
        return f"broker {self.broker} shows {self.meter}{of} = {self.shown}, and has had {self.most} to count"


class MeterNoSum(NamedTuple):
    """A meter of all topics that is not the sum of theirs."""

    broker: int
    meter: str
    shown: int
    summed: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} shows {self.meter} = {self.shown}; its topics have {self.summed} together"


class MetricLeft(NamedTuple):
    """A metric of a fetcher thread, or of the queue of a controller, that is not there any more."""

    broker: int
    metric: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} shows {self.metric}, and what it measured is gone"

"""S17: a producer does not wait for what is replicated."""

from __future__ import annotations

from emulator.protocol.shown import ProduceExpired, ProducersLeft, ProduceTimedOut
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Gravity
from scenarios.observe.findings.client_facts import AckAbandoned, AckWaits, ProducersForgotten, TimedOutEarly


class AcksInTime(Checker):
    """A produce request runs into its timeout only where replicas that it asks for lack what it brings, and not before.

    Verified: each batch for which a request of a producer waits until its time is over: its leader's high watermark
        does not cover it, so that a member of the ISR lacks it, or the ISR has fewer members than the request asks for
        (acks=2 and more, up to 0.8). What waits is answered in the step that satisfies it (DelayedProduce.tryComplete).
        Where the release answers what waits as a leader becomes a follower, nothing waits at a follower; where it does
        so as a StopReplica ends the replica (KAFKA-9198, 2.4), nothing that waited before goes on waiting. A producer
        that gets REQUEST_TIMED_OUT has waited for as long as its request allows (DelayedOperation.run).

    Not verified: that a request is answered soon where the leader does not know yet that its followers have the batch;
        requests that wait at a broker which leads again meanwhile, or has lost the log directory; a batch that is
        appended as a StopReplica answers the ones before it (seed 145 of kafka-2.7 waits for its timeout).
    """

    ids = ("S17",)
    gravity = Gravity.LIVENESS
    statement = (
        "expired(batch, acks) ⇒ hw < end(batch) or |isr| < acks: a producer does not wait for what is replicated"
    )
    catches = ("KAFKA-8334",)
    fails_when = "a high watermark that moves answers no producer"

    def begin(self) -> None:
        self._logs = self.history.commits.logs  # with their high watermarks

    def on_expired(self, event: ProduceExpired) -> None:
        for tp, required in event.late:
            log, led = self._logs.get(event.node, tp), self.cluster.as_led(event.node, tp)
            if led is None:
                self._check_role(event, tp, required)
            if log is None or led is None or log.high_watermark is None:
                continue
            if required <= log.high_watermark and len(led.isr) >= event.acks:
                self.violated(event, AckWaits(required, event.acks, event.node, log.high_watermark, tuple(led.isr)), tp)

    def on_timed_out(self, event: ProduceTimedOut) -> None:
        if event.waited_us < event.timeout_us:
            facts = TimedOutEarly(event.leader, event.node, event.waited_us, event.timeout_us)
            self.violated(event, facts, None, (event.leader,))

    def on_left(self, event: ProducersLeft) -> None:
        if self.start.stop_answers:
            facts = ProducersForgotten(event.node, event.waiting)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition), (event.node,))

    def _check_role(self, event: ProduceExpired, tp: TopicPartition, required: int) -> None:
        """A leader that became a follower has answered what waited, as its release does."""
        if self.start.demotion_answers and self.cluster.follows(event.node, tp) is not None:
            self.violated(event, AckAbandoned(required, event.acks, event.node), tp, (event.node,))

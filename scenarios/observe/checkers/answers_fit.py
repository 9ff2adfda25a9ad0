"""F8: a broker answers what it is asked, and closes no connection without a reason."""

from __future__ import annotations

from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import NodeStarted
from emulator.protocol.shown import (
    ControllerLeft,
    EpochEndsAsked,
    FetchMisanswered,
    FetchSessionChanged,
    FetchSessionRefused,
    ProducerDropped,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.client_facts import ProducerHungUp
from scenarios.observe.findings.control_facts import ControllerLeftInVain
from scenarios.observe.findings.fetch_facts import EpochsAsked, FetchMistaken, SessionRefused


class AnswersFit(Checker):
    """A leader and its followers agree about their fetch sessions, and connections are closed for a reason.

    Verified: each answer to a follower's fetch: it names only partitions that the session has, and the session itself
        is known, under the epoch of the request (KIP-227; FetchSessionHandler.handleResponse, 1.1). Each fetch that a
        broker refuses for its session, of followers and consumers: FETCH_SESSION_ID_NOT_FOUND where there is none of
        that number, else INVALID_FETCH_SESSION_EPOCH (FetchManager.newContext, 1.1). Each time a broker
        closes the connection of a producer with acks=0: one of the batches in its request has failed
        (KafkaApis.handleProduceRequest, 0.8 to 2.7). Each time a broker leaves the controller that it sends requests
        to: it has another one (BrokerToControllerChannelManager, 2.7). No follower asks for the ends of epochs where
        answers to fetches have them (AbstractFetcherThread.addPartitions, 2.7).

    Not verified: that what is new in the session is answered at all; what is answered in the sessions of consumers.
    """

    ids = ("F8",)
    statement = (
        "answered(s) ⊆ session(s), closed(c) ⇒ failed(c): "
        "an answer names only what was asked for, and a connection is closed only for a reason"
    )
    catches = ("KAFKA-8052",)
    fails_when = "a leader's sessions keep the partitions that were taken out of them"

    def begin(self) -> None:
        self._sessions: dict[int, dict[int, None]] = {}
        """The sessions of each broker."""
        self._truncates_on_fetch = self.start.truncates_on_fetch

    def on_asked(self, event: EpochEndsAsked) -> None:
        if self._truncates_on_fetch and event.leader != event.node:
            self.violated(event, EpochsAsked(event.node, event.leader, tuple(event.partitions)))

    def on_misanswered(self, event: FetchMisanswered) -> None:
        error = None if event.error == NO_ERROR.name else event.error
        facts = FetchMistaken(event.node, event.leader, error)
        self.violated(event, facts, None if error else TopicPartition.of(event.topic, event.partition))

    def on_session(self, event: FetchSessionChanged) -> None:
        sessions = self._sessions.setdefault(event.node, {})
        if event.open:
            sessions[event.session] = None
        else:
            sessions.pop(event.session, None)

    def on_started(self, event: NodeStarted) -> None:
        self._sessions.pop(event.node, None)

    def on_refused(self, event: FetchSessionRefused) -> None:
        known = event.session in self._sessions.get(event.node, {})
        fits = Errors.INVALID_FETCH_SESSION_EPOCH if known else Errors.FETCH_SESSION_ID_NOT_FOUND
        if event.error != fits.name:
            self.violated(event, SessionRefused(event.node, event.session, known, event.error))

    def on_dropped(self, event: ProducerDropped) -> None:
        if all(error == NO_ERROR.name for error in event.errors):
            self.violated(event, ProducerHungUp(event.node))

    def on_left(self, event: ControllerLeft) -> None:
        if event.before == event.after:
            self.violated(event, ControllerLeftInVain(event.node, event.before))

"""E4: a broker refuses control requests that were sent to an earlier incarnation of it."""

from __future__ import annotations

from emulator.protocol.errors import Errors
from emulator.protocol.events import ControlRequest, ControlResponse
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.epoch_facts import BrokerEpochMistaken

NONE, REFUSED = Errors.NONE.name, Errors.UNKNOWN_SERVER_ERROR.name
UNKNOWN = -1
"""A request without a broker epoch, from before KIP-380: it is not fenced."""


class BrokerEpochFence(Checker):
    """A control request that carries an older broker epoch than the broker's own is refused.

    Verified: each control request that a broker accepts; what the request carried is found by the cause of its
        response. One that carries a newer epoch, which the broker does not know yet, is accepted since KAFKA-9839
        (2.5.1), and refused before.

    Not verified: requests that carry no broker epoch, before KIP-380.
    """

    ids = ("E4",)
    statement = (
        "a control request with be < be_b is rejected: a request for an earlier incarnation of a broker has no effect"
    )
    catches = ("KAFKA-7235",)
    fails_when = "brokers do not look at the broker epoch"

    def begin(self) -> None:
        self._sent: dict[int, int] = {}
        self._unwanted = NONE if not self.start.accepts_newer_broker_epochs else REFUSED
        """The answer that no request with a newer epoch gets."""

    def on_request(self, event: ControlRequest) -> None:
        self._sent[event.seq] = event.broker_epoch

    def on_response(self, event: ControlResponse) -> None:
        broker_epoch = self._sent.pop(event.cause, UNKNOWN)
        own = self.cluster.broker_epoch(event.node)
        wrong = NONE if broker_epoch < own else self._unwanted if broker_epoch > own else ""
        if broker_epoch != UNKNOWN and event.error == wrong:
            self.violated(
                event, BrokerEpochMistaken(event.node, own, wrong == NONE, event.api, event.controller, broker_epoch)
            )

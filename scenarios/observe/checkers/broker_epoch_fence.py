"""E4: a broker refuses control requests that were sent to an earlier incarnation of it."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import BrokerRegistered, ControlRequest, ControlResponse
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.history.history import History

UNKNOWN = -1
"""A request without a broker epoch, from before KIP-380: it is not fenced."""


class BrokerEpochFence(Checker):
    """A control request that carries an older broker epoch than the broker's own is refused.

    Verified: each control request that a broker accepts; what the request carried is found by the cause of its
        response.

    Not verified: that a request with a newer epoch is accepted (until KAFKA-9839, 2.5.1, it is not); requests that
        carry no broker epoch, before KIP-380.
    """

    name: ClassVar[str] = "broker_epoch_fence"
    ids: ClassVar[tuple[str, ...]] = ("E4",)
    statement: ClassVar[str] = (
        "a control request with be < be_b is rejected: a request for an earlier incarnation of a broker has no effect"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-7235",)
    fails_when: ClassVar[str | None] = "brokers do not look at the broker epoch"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._registered: dict[int, int] = {}
        self._sent: dict[int, int] = {}

    def on_registered(self, event: BrokerRegistered) -> None:
        self._registered[event.node] = event.broker_epoch

    def on_request(self, event: ControlRequest) -> None:
        self._sent[event.seq] = event.broker_epoch

    def on_response(self, event: ControlResponse) -> None:
        broker_epoch = self._sent.pop(event.cause, UNKNOWN)
        own = self._registered.get(event.node, UNKNOWN)
        if broker_epoch != UNKNOWN and event.error == "NONE" and broker_epoch < own:
            self.violated(
                event,
                f"broker {event.node}, registered with broker epoch {own}, accepts a {event.api} of controller "
                f"{event.controller} for broker epoch {broker_epoch}",
            )

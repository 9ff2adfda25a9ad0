"""M10: a broker that is not the controller keeps nothing of its term."""

from __future__ import annotations

from emulator.protocol.shown import Remembered
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.memory_facts import ResignedKeeps


class ResignedForgets(Checker):
    """A controller that resigns forgets everything in the same step: its memory, the requests of a batch that was not
    sent, the channels to brokers, the handlers of znodes, the timer of the next look at preferred leaders
    (KafkaController.onControllerResignation, 1.1 to 2.7). A broker that is not the controller has none of that.

    Verified: all that ``controller/memories.py`` declares, as a controller resigns, and when the cluster is at rest on
        each broker that works and is not the controller.

    A controller up to 0.10.1 keeps its memory when it resigns (KAFKA-4447), up to 0.10.2 its moves (KAFKA-5310), and up
    to 0.8.1 its handlers (KAFKA-1578): what a release keeps is not looked at.

    Not verified: events that wait in the queue (``controller_fence``); requests in flight, which a resignation does not
        take back.
    """

    ids = ("M10",)
    statement = "resigned ⇒ context = ∅: a broker that is not the controller keeps nothing of its term"
    fails_when = "a controller that resigns keeps the batch that it has begun"

    def begin(self) -> None:
        self._kept_by_release = self.start.resigned_keep
        self._reported: dict[tuple[int, str], None] = {}

    def on_remembered(self, event: Remembered) -> None:
        if event.role != "controller" or event.occasion in ("failover", "looked"):
            return
        if event.occasion == "resigned" or self._is_settled(event):
            for memory, value in event.memories.items():
                if value and memory not in self._kept_by_release and (event.node, memory) not in self._reported:
                    self._reported[event.node, memory] = None
                    left = int(value) if isinstance(value, int) else len(value)  # type: ignore[arg-type]
                    facts = ResignedKeeps(event.node, memory, left, event.occasion == "resigned")
                    self.violated(event, facts, brokers=(event.node,))

    def _is_settled(self, event: Remembered) -> bool:
        """Whether a broker is not the controller, and has had the time to learn of that."""
        controller = self.cluster.controller
        if controller in (-1, event.node) or not self.now.works(event.node):
            return False
        since_us = max(self.cluster.registrations[event.node].t_us, self.cluster.controller_since_us)
        since_us = max(since_us, self.now.calm_since_us)
        return event.t_us - since_us >= SETTLING_US

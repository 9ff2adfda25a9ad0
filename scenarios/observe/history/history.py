"""The facts about a run's past that several checkers need, kept once.

Each part is a fold of events. It is subscribed to the trace when a checker first asks for it. Checkers ask in their
constructors and are subscribed afterwards, so a part of the history has seen an event before the checkers see it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from emulator.trace import Trace
from scenarios.observe.history.acknowledged import Acknowledged
from scenarios.observe.history.broker_answers import Answers
from scenarios.observe.history.circumstances import Circumstances
from scenarios.observe.history.commits import Commits
from scenarios.observe.history.control_queues import ControlQueues
from scenarios.observe.history.coordinated_past import Coordinators
from scenarios.observe.history.left_replicas import LeftReplicas
from scenarios.observe.history.logs_at_end import LogsAtEnd
from scenarios.observe.history.metrics_of_parts import MetricsOfParts
from scenarios.observe.history.missed_deletions import MissedDeletions
from scenarios.observe.history.open_transactions import OpenTransactions
from scenarios.observe.history.replica_logs import ReplicaLogs
from scenarios.observe.history.settings_history import Settings, StartSettings
from scenarios.observe.history.shown_values import ShownValues
from scenarios.observe.history.subscriptions import arm
from scenarios.observe.past.cluster_past import Past
from scenarios.observe.past.cluster_state import FoldedState

P = TypeVar("P")


class History:
    """The shared folds of one run.

    Attributes:
        past: announces the changes of the cluster. ``cluster``: how it is now.
        start: the settings that the brokers are started with.
    """

    def __init__(self, trace: Trace, past: Past, start: StartSettings) -> None:
        self._trace = trace
        self.start = start
        self.past = past

    @property
    def cluster(self) -> FoldedState:
        return self.past.now

    def _armed(self, part: P) -> P:
        arm(part, self._trace, self.past)
        return part

    @cached_property
    def logs(self) -> ReplicaLogs:
        """The content of every replica's log."""
        return self._armed(ReplicaLogs())

    @cached_property
    def acknowledged(self) -> Acknowledged:
        """The acknowledged batches, and which of them are lost."""
        return self._armed(Acknowledged(self._trace, self.logs, self.cluster, self.commits))

    @cached_property
    def answers(self) -> Answers:
        return self._armed(Answers())

    @cached_property
    def commits(self) -> Commits:
        """The committed prefix of each partition's log."""
        return self._armed(Commits(self.logs, self.cluster))

    @cached_property
    def circumstances(self) -> Circumstances:
        """The machines that run and reach each other, and the faults that excuse a delay."""
        return self._armed(Circumstances(self.cluster, self.start.undone_by))

    @cached_property
    def control_queues(self) -> ControlQueues:
        """The requests that the controller has queued for brokers."""
        return self._armed(ControlQueues(self.cluster))

    @cached_property
    def coordinators(self) -> Coordinators:
        """The groups and transactional ids at their coordinators."""
        return self._armed(Coordinators(self.cluster))

    @cached_property
    def left_replicas(self) -> LeftReplicas:
        """The replicas that may stay where they are not assigned."""
        return self._armed(LeftReplicas(self.cluster))

    @cached_property
    def logs_at_end(self) -> LogsAtEnd:
        """The logs that brokers had as they ended."""
        self.commits  # noqa: B018 (it keeps the high watermarks of the logs)
        return self._armed(LogsAtEnd(self.logs, self.circumstances, self.start))

    @cached_property
    def metrics_of_parts(self) -> MetricsOfParts:
        """The metrics of fetcher threads, topics and queues."""
        return self._armed(MetricsOfParts())

    @cached_property
    def missed_deletions(self) -> MissedDeletions:
        """The brokers that nothing has told that a topic is deleted."""
        return self._armed(MissedDeletions(self.cluster))

    @cached_property
    def open_transactions(self) -> OpenTransactions:
        """The transactions that are open in a log."""
        return self._armed(OpenTransactions())

    @cached_property
    def settings(self) -> Settings:
        return self._armed(Settings(self.start))

    @cached_property
    def shown(self) -> ShownValues:
        """The values of gauges, and how far consumers have read."""
        return self._armed(ShownValues())

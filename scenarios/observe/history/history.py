"""The facts about a run's past that several checkers need, kept once.

Each part is a fold of events. It is subscribed to the trace when a checker first asks for it. Checkers ask in their
constructors and are subscribed afterwards, so a part of the history has seen an event before the checkers see it.
"""

from __future__ import annotations

from functools import cached_property

from emulator.trace import Trace
from scenarios.observe.history.acknowledged import Acknowledged
from scenarios.observe.history.circumstances import Circumstances
from scenarios.observe.history.commits import Commits
from scenarios.observe.history.control_queues import ControlQueues
from scenarios.observe.history.left_replicas import LeftReplicas
from scenarios.observe.history.replica_logs import ReplicaLogs
from scenarios.observe.history.settings_history import Settings, StartSettings
from scenarios.observe.history.shown_values import ShownValues
from scenarios.observe.history.subscriptions import arm
from scenarios.observe.past.cluster_past import Past
from scenarios.observe.past.cluster_state import FoldedState


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

    @cached_property
    def logs(self) -> ReplicaLogs:
        """The content of every replica's log."""
        logs = ReplicaLogs()
        arm(logs, self._trace, self.past)
        return logs

    @cached_property
    def acknowledged(self) -> Acknowledged:
        """The acknowledged batches, and which of them are lost."""
        acknowledged = Acknowledged(self._trace, self.logs, self.cluster, self.commits)
        arm(acknowledged, self._trace, self.past)
        return acknowledged

    @cached_property
    def commits(self) -> Commits:
        """The committed prefix of each partition's log."""
        commits = Commits(self.logs, self.cluster)
        arm(commits, self._trace, self.past)
        return commits

    @cached_property
    def circumstances(self) -> Circumstances:
        """The machines that run and reach each other, and the faults that excuse a delay."""
        circumstances = Circumstances(self.cluster, self.start.undone_by)
        arm(circumstances, self._trace, self.past)
        return circumstances

    @cached_property
    def control_queues(self) -> ControlQueues:
        """The requests that the controller has queued for brokers."""
        queues = ControlQueues(self.cluster)
        arm(queues, self._trace, self.past)
        return queues

    @cached_property
    def left_replicas(self) -> LeftReplicas:
        """The replicas that may stay where they are not assigned."""
        left = LeftReplicas(self.cluster)
        arm(left, self._trace, self.past)
        return left

    @cached_property
    def settings(self) -> Settings:
        """The settings of brokers and topics."""
        settings = Settings(self.start)
        arm(settings, self._trace, self.past)
        return settings

    @cached_property
    def shown(self) -> ShownValues:
        """The values of gauges, and how far consumers have read."""
        shown = ShownValues()
        arm(shown, self._trace, self.past)
        return shown

"""What several checkers remember, kept once: each ghost is a fold that is armed when a checker first asks
for it.

A ghost is older than the checkers that ask for it in their constructors, so it has seen an event before
they see it.
"""

from __future__ import annotations

from functools import cached_property

from emulator.trace import Trace
from scenarios.observe.checkers.commits import Commits
from scenarios.observe.checkers.replica_logs import ReplicaLogs
from scenarios.observe.checkers.subscriptions import arm
from scenarios.observe.checkers.told import Told
from scenarios.observe.measures.topology import Topology


class Ghosts:
    """The ghosts of one run."""

    def __init__(self, trace: Trace, topology: Topology) -> None:
        self._trace = trace
        self.topology = topology

    @cached_property
    def logs(self) -> ReplicaLogs:
        """What every replica's log holds."""
        logs = ReplicaLogs()
        arm(logs, self._trace, self.topology)
        return logs

    @cached_property
    def commits(self) -> Commits:
        """What of each partition is committed."""
        commits = Commits(self.logs, self.topology)
        arm(commits, self._trace, self.topology)
        return commits

    @cached_property
    def told(self) -> Told:
        """What each broker was told of what it leads."""
        told = Told()
        arm(told, self._trace, self.topology)
        return told

"""E3: a controller that has been replaced changes nothing in ZooKeeper."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.epoch_facts import StateOfOtherEpoch, WrittenByFormerController
from scenarios.observe.past.changes import AssignmentWritten, StateWritten

CONTROLLERS = (f"{znodes.TOPICS}/", "/admin/")
CLIENTS_CREATE = (znodes.TOPICS, znodes.DELETE_TOPICS)
"""Where brokers create znodes because a client asks for it (each broker does, with auto.create.topics.enable)."""


class ControllerFence(Checker):
    """A controller's write to ZooKeeper takes effect in its own controller epoch only.

    Verified: a write that gives a partition a new leader epoch carries the controller epoch of that moment. Whatever
        else a broker writes below /brokers/topics and /admin comes from the broker that wrote the controller epoch
        last, except the ISR of a partition that it leads.

    What clients ask for is no work of a controller: the broker that has their request looks whether it is the
    controller, and then writes a new topic, partitions that are added to one, or the mark of one to delete, in no
    controller epoch (AdminManager with AdminZkClient, 2.3; ZkAdminManager, 3.9).

    A release without the fence (before KAFKA-6082, 2.1) breaks this whenever a replaced controller writes.

    Not verified: that a write in the right controller epoch succeeds; writes without an epoch in them by a broker that
        has been elected again in the meantime.
    """

    ids = ("E3",)
    statement = (
        "a controller's write takes effect ⇔ its epoch = C: a controller that was replaced changes nothing in ZooKeeper"
    )
    fails_when = "the controller's writes are not fenced"

    def begin(self) -> None:
        self._extended_seq = -1
        """The last write that gave a topic a partition: the past announces that before the write."""

    def on_assigned(self, event: AssignmentWritten) -> None:
        if not event.before:
            self._extended_seq = event.seq

    def on_written(self, event: ZkWritten) -> None:
        if event.client < 0 or not _controllers_own(event) or event.seq == self._extended_seq:
            return
        controller = self.cluster.epoch_owner
        if event.client != controller:
            epoch = self.cluster.controller_epoch
            self.violated(event, WrittenByFormerController(event.client, event.path, event.op, epoch, controller))

    def on_state(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if state is None:
            return
        by_controller = before is None or state.leader_epoch != before.leader_epoch
        epoch = self.cluster.controller_epoch
        if by_controller and state.controller_epoch != epoch:
            facts = StateOfOtherEpoch(state.leader_epoch, state.leader, state.controller_epoch, epoch)
            self.violated(event, facts, event.tp)


def _controllers_own(event: ZkWritten) -> bool:
    """Whether a broker writes this as controller. A change of a state znode may be a leader's ISR write, and no
    controller creates topics or marks them for deletion."""
    path = event.path
    if event.op == "create" and path.rpartition("/")[0] in CLIENTS_CREATE:
        return False
    return (
        path.startswith(CONTROLLERS)
        and path not in znodes.PERSISTENT_PATHS
        and (event.op != "setData" or znodes.state_path_partition(path) is None)
    )

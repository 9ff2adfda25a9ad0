"""S4: a leader from outside the ISR, only where the settings allow it."""

from __future__ import annotations

from emulator.metrics.metric_events import TimerUpdated
from emulator.protocol.elect_leaders import ElectionsRequested, ElectionType
from emulator.protocol.events import Fault
from emulator.protocol.znodes import decode_config
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.isr_facts import ElectsAsIfUnclean, LeadsUnclean
from scenarios.observe.past.changes import StateWritten

SETTING = "unclean.leader.election.enable"
ASKED = "election.unclean"
LOOKED = tuple(
    f"kafka.controller:type=ControllerStats,name={of}UncleanLeaderElectionEnableRateAndTimeMs" for of in ("", "Topic")
)
"""The timers of the events by which a controller elects leaders where unclean elections have just been allowed."""


class UncleanWhereAllowed(Checker):
    """A new leader was in the ISR that ZooKeeper had before, unless unclean elections are allowed; and no controller
    looks for such leaders before they are.

    Verified: each change of a partition's leader in ZooKeeper, against unclean.leader.election.enable of the topic, of
        all brokers, or of the start; what the controller says of the election does not count. For a minute after a
        change of the setting either value will do, and once an operator or a client has asked for an unclean
        election (KIP-460) nothing is checked any more. The controllers' timers of the events that follow a change of
        the setting: some topic, or the default of all brokers, has been changed to true before, or brokers are started
        with true, to which the end of another default is a change.

    Not verified: that an unclean election happens where it is allowed; which replica is elected.
    """

    ids = ("S4",)
    statement = (
        "Z.leader' ∉ Z.isr ⇒ unclean.leader.election.enable: "
        "a leader from outside the ISR is elected only where the settings allow it"
    )
    fails_when = "an election goes outside the ISR, whatever the settings say"

    def begin(self) -> None:
        self._settings = self.history.settings
        self._asked = False
        self._ever_allowed = str(self.start.brokers.get(SETTING, False)).lower() == "true"

    def on_written(self, event: ZkWritten) -> None:
        if SETTING in event.data and event.path.startswith("/config/"):
            self._ever_allowed |= decode_config(event.data).get(SETTING) == "true"

    def on_timed(self, event: TimerUpdated) -> None:
        if event.metric in LOOKED and not self._ever_allowed:
            self.violated(event, ElectsAsIfUnclean(event.node, SETTING))

    def on_fault(self, event: Fault) -> None:
        if event.action == ASKED:
            self._asked = True

    def on_requested(self, event: ElectionsRequested) -> None:
        if event.request.type is ElectionType.UNCLEAN:
            self._asked = True

    def on_state(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if before is None or state is None or state.leader < 0 or state.leader == before.leader:
            return
        if state.leader in before.isr or self._asked:
            return
        if "true" not in self._settings.values(event.tp.topic, SETTING, False, event.t_us):
            self.violated(event, LeadsUnclean(state.leader, state.leader_epoch, before.isr, SETTING), event.tp)

"""StateMachines.tla and the elections of Controller.tla: what controllers write to the partitions' state znodes."""

from __future__ import annotations

from emulator.protocol.elect_leaders import ElectionsRequested, ElectionType
from emulator.protocol.events import ControllerElected, Fault
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import BROKER_IDS, CONTROLLER_EPOCH, LeaderAndIsr
from emulator.trace.events import ZkWritten
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.past.cluster_past import SHUTDOWN
from scenarios.observe.specification.isr_rules import Isr
from scenarios.observe.specification.rejection import Sentence
from scenarios.observe.specification.variables import Variables

LAST_STEPS = ("wiki.12", "kafka-42.7", "kafka-6794.13", "kip-455.B8", "kip-455.U3")
SETTING = "unclean.leader.election.enable"
ELECTED_NEXT = Sentence(
    "Fencing", "Elect", "!.cepoch = @ + 1", "a controller is elected with the next controller epoch"
)
RAISES = Sentence("StateMachines", "Decide", "!.epoch = @ + 1", "a controller's decision has the next leader epoch")
DECIDES = Sentence(
    "StateMachines", "MayDecide", "w.zk.by <= w.me.epoch", "what a later controller has decided is left alone"
)
SIGNS = Sentence(
    "StateMachines", "Decide", "!.by = w.me.epoch", "a decision has the epoch of the controller that makes it"
)
MAY_WRITE = Sentence(
    "Fencing",
    "MayWrite",
    "WritesUnfenced \\/ ctl[c].version = zk.cversion",
    "a controller writes only while /controller_epoch is as it was elected with",
)
ELECTS_IN_SYNC = Sentence(
    "StateMachines",
    "ElectForOffline",
    "IF clean # None THEN clean ELSE IF ElectsUnclean THEN any ELSE None",
    "a leader is elected out of the ISR, unless elections may be unclean",
)
UNCLEAN_ALONE = Sentence(
    "StateMachines", "ElectForOffline", "ELSE {leader}", "after an unclean election the ISR is the leader"
)
ELECTS_LIVING = Sentence(
    "StateMachines", "ElectForOffline", "First(assigned, w.me.live \\cap w.zk.isr)", "who is elected is alive"
)
DROPS_DEAD = Sentence(
    "StateMachines",
    "ElectForOffline",
    "w.zk.isr \\cap w.me.live",
    "an election drops from the ISR only the dead",
)
DROPS_OFFLINE = Sentence(
    "StateMachines",
    "ToOffline",
    "IF w.zk.isr = {r} /\\ ~ElectsUnclean THEN w.zk.isr ELSE w.zk.isr \\ {r}",
    "who is dropped from the ISR has failed, or leaves in a move; the last member stays",
)
NO_LEADER_OFFLINE = Sentence(
    "StateMachines",
    "ToOffline",
    "IF w.zk.leader = r THEN None ELSE w.zk.leader",
    "a partition is left without a leader only where the leader goes offline",
)
ADDS_NONE = Sentence("StateMachines", "Decide", "!.isr = isr", "a controller's decision adds nobody to the ISR")


class StateMachines:
    """The fold of the controller's writes to state znodes."""

    def __init__(self, variables: Variables, isr: Isr) -> None:
        self._variables = variables
        self._isr = isr
        self._unfenced = "WritesUnfenced" in variables.constants
        self._unclean = "ElectsUnclean" in variables.constants
        self._asked_unclean = False
        self._controller_epoch = 0
        self._elected: dict[tuple[int, int], None] = {}
        """The nodes that were elected, each with its controller epoch: a write may be on its way when it resigns."""
        self._registrations: dict[int, int] = {}
        """How often a broker has registered; once more is too often since the last controller was elected."""
        self._leaving: dict[int, None] = {}
        """Brokers that may have asked to shut down. Their controller counts them so until it sees that they are gone,
        also where they crash meanwhile."""

    def on_elected(self, event: ControllerElected) -> None:
        self._elected[event.node, event.controller_epoch] = None
        self._registrations = dict.fromkeys(self._registrations, 1)

    def on_written(self, event: ZkWritten) -> None:
        if event.path == CONTROLLER_EPOCH:
            epoch = int(event.data)
            if event.op != "create" and epoch != self._controller_epoch + 1:
                found = f"{event.client} writes {epoch} over {self._controller_epoch}"
                self._variables.reject(event, None, ELECTED_NEXT, found, f"controller epoch {self._controller_epoch}")
            self._controller_epoch = epoch
        elif event.op == "create" and event.path.startswith(f"{BROKER_IDS}/"):
            broker = int(event.path.rpartition("/")[2])
            self._registrations[broker] = self._registrations.get(broker, 0) + 1
            self._leaving.pop(broker, None)

    def on_fault(self, event: Fault) -> None:
        self._asked_unclean |= event.action == "election.unclean"
        if event.action == SHUTDOWN:
            self._leaving.update(dict.fromkeys(event.brokers))

    def on_requested(self, event: ElectionsRequested) -> None:
        self._asked_unclean |= event.request.type is ElectionType.UNCLEAN

    def on_state(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if before is None or state is None or event.tp.topic in self._variables.zk.deleting:
            return
        if state.leader_epoch == before.leader_epoch and state.leader == before.leader:
            self._isr.written(event)
        else:
            self._check_decision(event, before, state)

    def _check_decision(self, event: StateWritten, before: LeaderAndIsr, state: LeaderAndIsr) -> None:
        reject, tp, zk = self._variables.reject, event.tp, self._variables.zk
        words = f"{event.client} writes {_words(state)}"
        was = _words(before)
        if state.leader_epoch != before.leader_epoch + 1:
            reject(event, tp, RAISES, words, was)
        if before.controller_epoch > state.controller_epoch:
            reject(event, tp, DECIDES, words, was)
        if (event.client, state.controller_epoch) not in self._elected:
            reject(event, tp, SIGNS, words, was, zk.acting.get(event.client))
        if not self._unfenced and state.controller_epoch != self._controller_epoch:
            reject(event, tp, MAY_WRITE, words, was, f"controller epoch {self._controller_epoch}")
        if state.leader == NO_LEADER or state.leader == before.leader:
            self._check_offline(event, before, state)
        else:
            self._check_election(event, before, state)

    def _check_election(self, event: StateWritten, before: LeaderAndIsr, state: LeaderAndIsr) -> None:
        reject, tp, zk = self._variables.reject, event.tp, self._variables.zk
        words, was = f"{event.client} writes {_words(state)}", _words(before)
        if state.leader not in before.isr:
            if not self._may_be_unclean(event):
                reject(event, tp, ELECTS_IN_SYNC, words, was)
            elif state.isr != (state.leader,):
                reject(event, tp, UNCLEAN_ALONE, words, was)
            return
        if zk.knows_dead(event.client, state.leader):
            reject(event, tp, ELECTS_LIVING, words, was)
        for member in state.isr:
            if member not in before.isr:
                reject(event, tp, ADDS_NONE, words, was)
        for member in before.isr:
            if member not in state.isr and self.lives(member):
                reject(event, tp, DROPS_DEAD, words, was)

    def _check_offline(self, event: StateWritten, before: LeaderAndIsr, state: LeaderAndIsr) -> None:
        reject, tp = self._variables.reject, event.tp
        words, was = f"{event.client} writes {_words(state)}", _words(before)
        for member in state.isr:
            if member not in before.isr:
                reject(event, tp, ADDS_NONE, words, was)
        moves = self._in_move(tp)
        gone = [member for member in before.isr if member not in state.isr]
        empty = not state.isr and not self._may_be_unclean(event)
        if empty or any(self.lives(member) and not moves for member in gone):
            reject(event, tp, DROPS_OFFLINE, words, was)
        if state.leader == NO_LEADER and before.leader != NO_LEADER and self.lives(before.leader) and not moves:
            reject(event, tp, NO_LEADER_OFFLINE, words, was)

    def _in_move(self, tp: TopicPartition) -> bool:
        """Whether a move of the partition has been asked for, or goes on."""
        zk, step = self._variables.zk, self._variables.zk.step(tp)
        if tp in zk.moves or tp in zk.requested_moves() or tp.partition in zk.reassigning.get(tp.topic, {}):
            return True
        return step is not None and step.step not in LAST_STEPS

    def lives(self, broker: int) -> bool:
        """Whether no controller has a reason to count a broker as gone: it is registered, has lost no disk, and has not
        come back in the reign of the present one, which may not have seen yet that it was gone."""
        zk = self._variables.zk
        return (
            broker in zk.registrations
            and broker not in zk.known_dead
            and broker not in zk.shutting_down
            and broker not in self._leaving
            and broker not in zk.failed_dirs
            and self._registrations.get(broker, 0) < 2
        )

    def _may_be_unclean(self, event: StateWritten) -> bool:
        settings = self._variables.history.settings
        allowed = settings.values(event.tp.topic, SETTING, self._unclean, event.t_us)
        return self._unclean or self._asked_unclean or "true" in allowed


def _words(state: LeaderAndIsr) -> str:
    return (
        f"leader {state.leader}, epoch {state.leader_epoch}, ISR {list(state.isr)}, "
        f"controller epoch {state.controller_epoch}"
    )

"""Facts about the controller's work: what it sends, writes, answers and leaves undone."""

from typing import Literal, NamedTuple

from emulator.protocol.types import TopicPartition


class StepNotBegun(NamedTuple):
    """A step that ends and has not begun. ``topic``: "": it is about no partition."""

    step: str
    controller: int
    topic: str
    number: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        name = f"{self.topic}-{self.number}: " if self.topic else ""
        return f"{name}{self.step} ends on controller {self.controller}, which has not begun it"


class StateChanged(NamedTuple):
    """A change of state that a state machine does not have, of a partition or, with ``broker``, of a replica."""

    broker: int | None
    before: str
    after: str
    controller: int

    def in_words(self, tp: TopicPartition | None) -> str:
        whose = "" if self.broker is None else f", broker {self.broker}"
        return f"{tp}{whose}: from {self.before} to {self.after} on controller {self.controller}"


class DeletedInOtherState(NamedTuple):
    """A replica that a controller has deleted and that is not in DeletionStarted."""

    broker: int
    controller: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}, broker {self.broker}: controller {self.controller} has it deleted, and it is not in DeletionStarted"
        )


class DeletedGetsLeader(NamedTuple):
    """An election in a topic whose deletion has begun."""

    controller: int
    leader: int
    leader_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} elects broker {self.leader} in epoch {self.leader_epoch}, and has "
            "begun to delete the topic"
        )


class ReplicasLeft(NamedTuple):
    """Replicas that are not deleted as the znodes of their topic are about to be."""

    controller: int
    left: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} is about to delete the znodes of the topic, and broker "
            f"{', '.join(map(str, self.left))} has not deleted its replica"
        )


class LeadershipState(NamedTuple):
    """Leader, leader epoch and ISR."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]

    def __str__(self) -> str:
        return f"leader {self.leader} of leader epoch {self.leader_epoch}, ISR {list(self.isr)}"


class ChangedWhileIdle(NamedTuple):
    """A state that changes though nothing happens."""

    before: LeadershipState
    after: LeadershipState

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: {self.before} becomes {self.after}"


class SentWhileIdle(NamedTuple):
    """A LeaderAndIsr that is sent though nothing happens."""

    controller: int
    broker: int
    leader: int
    leader_epoch: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"controller {self.controller} sends broker {self.broker} a LeaderAndIsr of {tp}, leader {self.leader} of "
            f"leader epoch {self.leader_epoch}"
        )


class AsksOnceMore(NamedTuple):
    """A broker that asks to shut down again, though nothing is left to move."""

    broker: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} asks the controller again, which has answered that it may leave"


class LeftToMove(NamedTuple):
    """A partition that a controller has not moved away from a broker that shuts down.

    Attributes:
        able: the other members of its ISR, which work.
    """

    broker: int
    able: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker}, which shuts down, is answered that it still leads it, though "
            f"{list(self.able)} are in the ISR and work"
        )


class SessionLeftOpen(NamedTuple):
    """A broker whose process has ended by itself, and whose session was left to expire."""

    broker: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} has ended by itself, and did not close its session, which has expired"


class LeavesEarly(NamedTuple):
    """A broker that leaves before its controlled shutdown is over. ``error``: None: it has no answer; ``left``: how
    many partitions the answer names."""

    broker: int
    lasted_us: int
    error: str | None
    left: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        said = "no answer" if self.error is None else f"{self.error}, {self.left} left"
        return f"broker {self.broker} leaves {self.lasted_us / 1e6:.1f} s after it began to: {said}"


class ControllerLeftInVain(NamedTuple):
    """A broker that leaves a controller to connect to the same one."""

    broker: int
    controller: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} leaves controller {self.controller}, and connects to it again"


class ResignedShows(NamedTuple):
    """A broker that has resigned and shows that it is the controller."""

    broker: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} has resigned, and shows that it is the controller"


class SeveralControllers(NamedTuple):
    """Brokers that show at one time that they are the controller."""

    controllers: tuple[int, ...]

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"brokers {', '.join(map(str, self.controllers))} show that they are the controller"


class PreferredNotElected(NamedTuple):
    """A preferred election that a controller takes for done though the leader stays."""

    controller: int
    preferred: int
    leader: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} takes the election of preferred replica {self.preferred} for done, "
            f"and leader {self.leader} stays"
        )


class MoveAnsweredWrong(NamedTuple):
    """A request for a move with an answer that does not fit; ``alive``: it is refused though all that it adds live."""

    target: tuple[int, ...]
    error: str
    alive: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        why = ", and what it adds lives" if self.alive else ""
        return f"the move of {tp} to {list(self.target)} is answered {self.error}{why}"


class ShutdownRefused(NamedTuple):
    """A controlled shutdown that is refused as if the broker were not known."""

    broker: int
    controller: int
    error: str
    registered_for_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} asks controller {self.controller} to shut down and is answered {self.error}, "
            f"{self.registered_for_us / 1e6:.1f} s after it has registered"
        )


class RefusedAndDone(NamedTuple):
    """A request that is refused after a broker had begun to do what it asks for in a partition."""

    broker: int
    api: str
    controller: int
    controller_epoch: int
    error: str
    done: Literal["lead", "follow", "stop", "end the fetches of"]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} refuses the {self.api} of controller {self.controller} (epoch "
            f"{self.controller_epoch}) with {self.error}, after it had begun to {self.done} {tp}"
        )


class StoppedByEarlier(NamedTuple):
    """A replica that is stopped, or ``deleted``, by a StopReplica from before the LeaderAndIsr that started it; both
    by the ``seq`` of their events."""

    broker: int
    deleted: bool
    stop: int
    start: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} {'deletes' if self.deleted else 'stops'} its replica of {tp} because of a "
            f"StopReplica (event {self.stop}) that was sent before the LeaderAndIsr that started it (event "
            f"{self.start})"
        )


class StopToStranger(NamedTuple):
    """A StopReplica for a broker that never had a replica."""

    broker: int
    replicas: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker}, never one of its replicas {list(self.replicas)}, is sent StopReplica"


class StopToLeader(NamedTuple):
    """A StopReplica to a broker that shuts down and still leads."""

    broker: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return f"{tp}: broker {self.broker}, which shuts down and still leads, is sent StopReplica"


class NotStopped(NamedTuple):
    """A replica that has left the assignment and has been sent no StopReplica."""

    broker: int
    replicas: tuple[int, ...]
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: broker {self.broker} is not in the replicas {list(self.replicas)} any more, and has been sent no "
            f"StopReplica for {self.held_us / 1e6:.1f} s"
        )


class LeaderNotNamed(NamedTuple):
    """A leader that lives, and that a LeaderAndIsr does not name among the live ones."""

    controller: int
    broker: int
    leader: int
    named: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} sends broker {self.broker} that {self.leader} leads, and names only "
            f"{list(self.named)} as live leaders"
        )


class SentNothing(NamedTuple):
    """A broker that has registered and been sent nothing."""

    broker: int
    held_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} has registered, and been sent nothing for {self.held_us / 1e6:.1f} s"


class NotNotified(NamedTuple):
    """A replica that has been sent no LeaderAndIsr; ``leader``: None: the partition has no state."""

    leader: int | None
    leader_epoch: int
    broker: int
    replicas: tuple[int, ...]
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        leads = "" if self.leader is None else f"broker {self.leader} leads in epoch {self.leader_epoch}, and "
        return (
            f"{tp}: {leads}broker {self.broker}, of the replicas {list(self.replicas)}, has been sent no LeaderAndIsr "
            f"for {self.held_us / 1e6:.1f} s"
        )


class NotAnnouncedAsNew(NamedTuple):
    """A new replica that is announced as the leader, or (``held_us``) is not announced as new in time."""

    broker: int
    held_us: int | None

    def in_words(self, tp: TopicPartition | None) -> str:
        if self.held_us is None:
            return f"{tp}: broker {self.broker}, whose replica is new, is announced as the leader"
        return f"{tp}: the added replica on broker {self.broker} is not announced as new for {self.held_us / 1e6:.1f} s"


class ChannelClosed(NamedTuple):
    """A channel that a controller closes though both ends are as they were when it was opened."""

    controller: int
    broker: int
    opened_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"controller {self.controller} closes its channel to broker {self.broker}, opened at "
            f"{self.opened_us / 1e6:.3f} s; both are there as they were then"
        )


class RequestDropped(NamedTuple):
    """A queued request that a controller drops though both ends are as they were."""

    controller: int
    controller_epoch: int
    api: str
    broker: int
    queued_us: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"controller {self.controller} of epoch {self.controller_epoch} has dropped a {self.api} for broker "
            f"{self.broker}, queued at {self.queued_us / 1e6:.3f} s; both are there as they were then"
        )


class RequestWaits(NamedTuple):
    """A request that waits for its answer for too long; ``more``: how many wait after it."""

    controller: int
    api: str
    broker: int
    held_us: int
    more: int

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"a {self.api} of controller {self.controller} has waited for {self.held_us / 1e6:.1f} s for broker "
            f"{self.broker} to answer; {self.more} more wait after it"
        )


class RoleNotAdopted(NamedTuple):
    """A replica whose role is not that of ZooKeeper's leader and epoch; ``follows``: None: it has no role; its own
    broker: it leads."""

    leader: int
    leader_epoch: int
    broker: int
    follows: int | None
    held_us: int

    def in_words(self, tp: TopicPartition | None) -> str:
        knows = f"follows broker {self.follows}"
        if self.follows is None or self.follows == self.broker:
            knows = "has no role" if self.follows is None else "leads"
        return (
            f"{tp}: leader {self.leader} of epoch {self.leader_epoch} in ZooKeeper, and broker {self.broker} {knows}, "
            f"for {self.held_us / 1e6:.1f} s"
        )


class FormatChanged(NamedTuple):
    """A topic's znode that is written in another format; each by what it begins with."""

    broker: int
    path: str
    now: str
    before: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"broker {self.broker} writes {self.path} as {self.now}}}, which was {self.before}}}"


class ReplicasChangedUnasked(NamedTuple):
    """Replicas that change though no move, or one to ``asked``, is asked for."""

    broker: int
    before: tuple[int, ...]
    now: tuple[int, ...]
    asked: tuple[int, ...] | None

    def in_words(self, tp: TopicPartition | None) -> str:
        asked = "asks for no move of it" if self.asked is None else f"asks for {list(self.asked)}"
        return (
            f"{tp}: broker {self.broker} changes its replicas from {list(self.before)} to {list(self.now)}, and "
            f"ZooKeeper {asked}"
        )


class RequestTakenOut(NamedTuple):
    """A request for a move that is taken out of its znode, ``read`` or not, before the move is over; ``before``: the
    replicas when it was asked for."""

    broker: int
    target: tuple[int, ...]
    read: bool
    path: str
    now: tuple[int, ...]
    before: tuple[int, ...]
    unchanged: bool

    def in_words(self, tp: TopicPartition | None) -> str:
        were = "as before" if self.unchanged else f"and were {list(self.before)}"
        return (
            f"{tp}: broker {self.broker} takes the request for {list(self.target)} {'' if self.read else 'unread '}out "
            f"of {self.path}; its replicas are {list(self.now)}, {were}"
        )


class DroppedUnstopped(NamedTuple):
    """A replica that a controller has dropped from the assignment, and that it has not asked its broker to delete."""

    controller: int
    broker: int
    before: tuple[int, ...]
    replicas: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} writes the assignment {list(self.replicas)} after "
            f"{list(self.before)}, and has not asked broker {self.broker} to delete its replica"
        )


class EndsOutOfSync(NamedTuple):
    """A move that ends though its replicas, ``target``, were never all in the ISR."""

    controller: int
    target: tuple[int, ...]
    isr: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} ends the move to {list(self.target)}, which were never all in the "
            f"ISR; it is {list(self.isr)}"
        )


class LeaderDropped(NamedTuple):
    """A leader that a move has dropped, where other replicas can lead: those of ``may_lead``."""

    controller: int
    leader: int
    may_lead: tuple[int, ...]

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"{tp}: controller {self.controller} drops leader {self.leader} from the assignment, and could have had "
            f"{list(self.may_lead)} lead"
        )

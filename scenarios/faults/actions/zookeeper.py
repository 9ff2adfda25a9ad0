"""ZooKeeper as a whole: stopped, slow, and started again; and znodes that an operator deletes by hand."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, field, frozen

from emulator.protocol.znodes import CONTROLLER
from scenarios.cluster.clients.tools import znodes
from scenarios.errors import BadInput
from scenarios.faults.cut_in_words import without_end
from scenarios.faults.operated import OperatorAction
from scenarios.faults.performer import ActionContext, PerformedAction
from scenarios.language import MethodEntry, Scenario
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.messages import ZNODE_PATH
from scenarios.language.schema.kinds import DURATION, Choice
from scenarios.language.schema.table_reader import key

SURVIVE, EXPIRE = "survive", "expire"


@frozen(kw_only=True)
class OnZooKeeper(PerformedAction):
    sessions: str = field(
        default=SURVIVE,
        metadata=key(
            Choice((SURVIVE, EXPIRE), "fate"),
            "when it is back, a broker's session can be resumed for its whole timeout (survive), or is gone (expire)",
        ),
    )

    def detail(self) -> str:
        return f"sessions {self.sessions}"


@action("zookeeper.start", "bring ZooKeeper back")
@frozen(kw_only=True)
class ZooKeeperStart(OnZooKeeper):
    def perform(self, context: ActionContext) -> None:
        zookeeper = context.cluster.zookeeper
        if zookeeper.stopped:
            zookeeper.start_again(context.cluster.nodes if self.sessions == EXPIRE else ())
        elif not (context.undoes or context.in_rollbacks):
            context.refuse("ZooKeeper is not stopped")

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        """Start ZooKeeper again. Brokers resume the sessions that they had."""
        if context.cluster.zookeeper.stopped:
            context.cluster.zookeeper.start_again()


@action(
    "zookeeper.stop",
    "make ZooKeeper unavailable as a whole: it closes and refuses connections, and no session expires",
    undo=ZooKeeperStart,
)
@frozen(kw_only=True)
class ZooKeeperStop(OnZooKeeper):
    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        yield "brokers and clients reach each other; changes of ISRs, elections and moves wait until ZooKeeper is back"
        if self.sessions == EXPIRE:
            yield "then every broker registers again, and a controller is elected"
        else:
            yield "no session expires meanwhile; that of a dead broker expires a session timeout after the return"
        yield from without_end(scenario, entry)

    def perform(self, context: ActionContext) -> None:
        zookeeper = context.cluster.zookeeper
        if zookeeper.stopped:
            context.refuse("ZooKeeper is stopped already")
        else:
            zookeeper.stop()


@action("zookeeper.fast", "undo zookeeper.slow")
@frozen(kw_only=True)
class ZooKeeperFast(PerformedAction):
    def perform(self, context: ActionContext) -> None:
        _set_times(context, None, None)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        _set_times(context, None, None)


@action(
    "zookeeper.slow",
    "make ZooKeeper slow: it does one request after the other; its sessions live, since pings are answered",
    undo=ZooKeeperFast,
)
@frozen(kw_only=True)
class ZooKeeperSlow(PerformedAction):
    write_us: int | None = field(
        default=None, metadata=key(DURATION, "time of each write, as where its log's disk is slow", name="write")
    )
    read_us: int | None = field(default=None, metadata=key(DURATION, "time of each read", name="read"))

    def check(self, known: KnownNames) -> None:
        if self.write_us is None and self.read_us is None:
            raise BadInput('nothing makes it slow; state a write or a read time, such as write = "200ms"')

    def perform(self, context: ActionContext) -> None:
        _set_times(context, self.write_us, self.read_us)


def _set_times(context: ActionContext, write_us: int | None, read_us: int | None) -> None:
    """Set the time that ZooKeeper takes from now on; None: as at the start of the run."""
    server, normal = context.cluster.zookeeper.server, context.cluster.setup.zk
    server.spec = evolve(
        server.spec,
        write_us=normal.write_us if write_us is None else write_us,
        read_us=normal.read_us if read_us is None else read_us,
    )


@action("zk.delete", "delete a znode, as an operator does in ZooKeeper's shell")
@frozen(kw_only=True)
class ZkDelete(OperatorAction):
    path: str = field(metadata=key(ZNODE_PATH, "the znode"))

    def check(self, known: KnownNames) -> None:
        if "*" in self.path:
            raise BadInput("one znode is deleted; write its whole path", where="path")

    def perform(self, context: ActionContext) -> None:
        self.begin(context, znodes.delete, self.path)


@action("controller.resign", "delete /controller, as an operator does by hand: the brokers elect another controller")
@frozen(kw_only=True)
class ControllerResign(OperatorAction):
    def perform(self, context: ActionContext) -> None:
        self.begin(context, znodes.delete, CONTROLLER)

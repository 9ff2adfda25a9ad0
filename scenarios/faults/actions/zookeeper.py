"""ZooKeeper as a whole: gone, and back."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from scenarios.faults.performer import ActionContext, PerformedAction
from scenarios.faults.reach import without_end
from scenarios.language import MethodEntry, Scenario
from scenarios.language.actions import action
from scenarios.language.schema.kinds import Choice
from scenarios.language.schema.reader import key

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

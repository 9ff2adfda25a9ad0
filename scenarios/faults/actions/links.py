"""The links between machines: cut and slowed."""

from __future__ import annotations

from attrs import field, frozen

from emulator.zookeeper import ZOOKEEPER
from scenarios.faults.performer import ActionContext, PerformedAction
from scenarios.language import DelaySpec, Target
from scenarios.language.actions import action
from scenarios.language.schema.kinds import Choice
from scenarios.language.schema.reader import Block, key
from scenarios.language.targets import PEER


@frozen(kw_only=True)
class OnLinks(PerformedAction):
    """Acts on the links between the target's brokers and their peers."""

    takes_target = True

    peer: Target | str | None = field(
        default=None, metadata=key(PEER, 'the other end: brokers or "zookeeper"; absent = every other broker')
    )
    direction: str = field(
        default="both",
        metadata=key(Choice(("both", "to", "from"), "direction"), "of the messages, seen from the target"),
    )

    def routes(self, context: ActionContext) -> list[tuple[int, int]]:
        """Each way that messages take on these links: (source, target)."""
        routes: dict[tuple[int, int], None] = {}
        for broker in context.brokers:
            for other in self._peers(context):
                if other != broker:
                    if self.direction in ("both", "from"):
                        routes[broker, other] = None
                    if self.direction in ("both", "to"):
                        routes[other, broker] = None
        if not routes and not (context.undoes or context.in_rollbacks):
            context.refuse(f"broker {','.join(map(str, context.brokers))} has no link to itself")
        return list(routes)

    def _peers(self, context: ActionContext) -> tuple[int, ...]:
        if self.peer is None:
            return tuple(context.cluster.nodes)
        return (ZOOKEEPER,) if isinstance(self.peer, str) else context.roles.find(self.peer)


@action("link.heal", "undo link.cut and link.delay")
@frozen(kw_only=True)
class LinkHeal(OnLinks):
    def perform(self, context: ActionContext) -> None:
        for source, target in self.routes(context):
            context.cluster.network.heal(source, target)


@action("link.cut", "stop all messages between the target and its peer", undo=LinkHeal)
@frozen(kw_only=True)
class LinkCut(OnLinks):
    def perform(self, context: ActionContext) -> None:
        for source, target in self.routes(context):
            context.cluster.network.cut(source, target)


@action("link.delay", "make messages between the target and its peer slower", undo=LinkHeal)
@frozen(kw_only=True)
class LinkDelay(OnLinks):
    delay: DelaySpec = field(metadata=key(Block(DelaySpec), "how much slower"))

    def perform(self, context: ActionContext) -> None:
        for source, target in self.routes(context):
            context.cluster.network.delay(source, target, self.delay.delay)

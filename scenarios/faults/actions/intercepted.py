"""The very message that an entry waits for: cut, held, delayed, and released."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field, frozen

from emulator.network import Delay, InterceptedMessage
from scenarios.faults.performer import ActionContext, Memory, PerformedAction
from scenarios.language import DelaySpec, MethodEntry
from scenarios.language.actions import action
from scenarios.language.messages import check_held
from scenarios.language.schema.kinds import Text
from scenarios.language.schema.table_reader import Block, key


@define(eq=False)
class SlowedRoute:
    """A route that is slower, and the extra delay that it had before."""

    source: int
    target: int
    before: Delay


@define(eq=False)
class MessageEffect:
    """The effect of an entry on a message, or on its route, until ``undo``."""

    entry: MethodEntry
    undo: Callable[[], object]
    slowed: SlowedRoute | None = None

    @property
    def message(self) -> str:
        """The API, or the write, that the entry waited for."""
        return str(getattr(self.entry.trigger, "name", ""))


@define(eq=False)
class MessageEffects(Memory):
    """The present effects, in the order in which they began."""

    lasting: list[MessageEffect] = field(factory=list)


@frozen(kw_only=True)
class OnMessage(PerformedAction):
    acts_on_message = True

    def passing(self, context: ActionContext) -> InterceptedMessage:
        assert context.passing is not None, "only a message, or a write, triggers these (scenarios.language.checks)"
        return context.passing


@action("message.release", "release what message.hold holds, and undo message.delay")
@frozen(kw_only=True)
class MessageRelease(PerformedAction):
    message: str | None = field(
        default=None, metadata=key(Text(check_held, "a message or a write"), "only this one; absent = every one")
    )

    def perform(self, context: ActionContext) -> None:
        """End the effects of the entry whose duration is over, or all that the entry names."""
        effects, name = context.performer.memory(MessageEffects).lasting, self.message
        if context.undoes:
            ended = [effect for effect in effects if effect.entry is context.entry]
        else:
            ended = [effect for effect in effects if name in (None, effect.message)]
            if not ended and not context.in_rollbacks:
                context.refuse(f"nothing is held or delayed{f' at {name}' if name else ''}")
        for effect in ended:
            effect.undo()
            effects.remove(effect)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        effects = context.performer.memory(MessageEffects).lasting
        while effects:
            effects[0].undo()
            del effects[0]


@action(
    "message.cut",
    "lose the very message that the entry waits for: its connection is reset, and both ends learn of that",
)
@frozen(kw_only=True)
class MessageCut(OnMessage):
    def perform(self, context: ActionContext) -> None:
        self.passing(context).reset()


@action(
    "message.hold",
    "hold the very message that the entry waits for, and everything after it on its connection",
    undo=MessageRelease,
)
@frozen(kw_only=True)
class MessageHold(OnMessage):
    def perform(self, context: ActionContext) -> None:
        release = self.passing(context).hold().release
        context.performer.memory(MessageEffects).lasting.append(MessageEffect(context.entry, release))


@action(
    "message.delay",
    "make the link slower, beginning with the very message that the entry waits for",
    undo=MessageRelease,
)
@frozen(kw_only=True)
class MessageDelay(OnMessage):
    delay: DelaySpec = field(metadata=key(Block(DelaySpec), "how much slower"))

    def perform(self, context: ActionContext) -> None:
        passing, network = self.passing(context), context.cluster.network
        source, target = passing.source, passing.target
        slowed = SlowedRoute(source, target, network.route(source, target).extra)
        network.delay(source, target, self.delay.delay)
        effect = MessageEffect(context.entry, lambda: self._restore(context, slowed), slowed)
        context.performer.memory(MessageEffects).lasting.append(effect)

    def _restore(self, context: ActionContext, slowed: SlowedRoute) -> None:
        """Restore the route's delay. If a later effect is in force, it stays, and will restore the delay from before
        this one."""
        way = slowed.source, slowed.target
        effects = context.performer.memory(MessageEffects).lasting
        here = [one for one in (effect.slowed for effect in effects) if one and (one.source, one.target) == way]
        later = here[here.index(slowed) + 1 :]
        if later:
            later[0].before = slowed.before
        else:
            context.cluster.network.delay(*way, slowed.before)

"""What is done to the very message that an entry waits for, and how it is undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define

from scenarios.language import MethodEntry

if TYPE_CHECKING:
    from emulator.network import Delay, InterceptedMessage
    from scenarios.faults.actions import Actions, Brokers


@define(eq=False)
class Effect:
    """What an entry does to a message, or to its link, until ``undo``."""

    entry: MethodEntry
    undo: Callable[[], object]
    slowed: Slowed | None = None

    @property
    def message(self) -> str:
        """The API, or the write, that the entry waited for."""
        return str(getattr(self.entry.trigger, "name", ""))


@define(eq=False)
class Slowed:
    """A route that is slower, and the extra delay that it had before."""

    source: int
    target: int
    before: Delay


def cut(actions: Actions, _entry: MethodEntry, _brokers: Brokers) -> None:
    _passing(actions).reset()


def hold(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    actions.effects.append(Effect(entry, _passing(actions).hold().release))


def delay(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    passing, network = _passing(actions), actions.cluster.network
    source, target = passing.source, passing.target
    slowed = Slowed(source, target, network.route(source, target).extra)
    network.delay(source, target, entry.param("delay").delay)
    actions.effects.append(Effect(entry, lambda: _restore(actions, slowed), slowed))


def _restore(actions: Actions, slowed: Slowed) -> None:
    """A delay that began later stays, and has what was before this one to restore."""
    way = slowed.source, slowed.target
    all_slowed = (effect.slowed for effect in actions.effects if effect.slowed is not None)
    here = [other for other in all_slowed if (other.source, other.target) == way]
    later = here[here.index(slowed) + 1 :]
    if later:
        later[0].before = slowed.before
    else:
        actions.cluster.network.delay(*way, slowed.before)


def release(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    """What a duration ended, or all that the entry names."""
    if entry.action != "message.release":
        ended = [effect for effect in actions.effects if effect.entry is entry]
    else:
        name = entry.param("message")
        ended = [effect for effect in actions.effects if name in (None, effect.message)]
        if not ended and entry.trigger is not None:
            actions.refused.append(f"message.release: nothing is held or delayed{f' at {name}' if name else ''}")
    for effect in ended:
        effect.undo()
        actions.effects.remove(effect)


def _passing(actions: Actions) -> InterceptedMessage:
    assert actions.passing is not None, "only a message, or a write, triggers these (scenarios.language.checks)"
    return actions.passing

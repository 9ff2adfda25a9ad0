"""What is done to the very message that an entry waits for, and how it is undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define

from scenarios.model import MethodEntry

if TYPE_CHECKING:
    from emulator.network import Passing
    from scenarios.faults.actions import Actions, Brokers


@define(eq=False)
class Effect:
    """What an entry does to a message until ``undo``."""

    entry: MethodEntry
    undo: Callable[[], object]

    @property
    def message(self) -> str:
        """The API, or the write, that the entry waited for."""
        return str(getattr(self.entry.trigger, "name", ""))


def cut(actions: Actions, _entry: MethodEntry, _brokers: Brokers) -> None:
    _passing(actions).reset()


def hold(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    actions.effects.append(Effect(entry, _passing(actions).hold().release))


def delay(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    passing, spec, network = _passing(actions), entry.param("delay"), actions.cluster.network
    source, target = passing.source, passing.target
    route = network.route(source, target)
    before = route.extra_latency_us, route.extra_jitter_us
    network.delay(source, target, spec.latency_us, spec.jitter_us)
    actions.effects.append(Effect(entry, lambda: network.delay(source, target, *before)))


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
        actions.effects.remove(effect)
        effect.undo()


def _passing(actions: Actions) -> Passing:
    assert actions.passing is not None, "only a message, or a write, triggers these (scenarios.model.checks)"
    return actions.passing

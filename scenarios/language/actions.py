"""The action of an entry of the method or of the rollbacks: the declaration of an action, and the register of all of
them.

An action is one class: its keys in the file are attrs fields with a ``key``, ``@action`` gives it a name and one line
of help, and the rest of the class checks and performs it. ``scenarios.faults.actions`` holds the classes, one file for
each theme. This module is what reading, checking and describing a scenario file needs of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from attrs import field, fields, frozen

from emulator.network import Burst, Delay
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.plan import Plan
from scenarios.language.schema.kinds import DURATION, SIGMA, SOME_TIME, Number
from scenarios.language.schema.spans import Drawable, SpanOf, ends
from scenarios.language.schema.table_reader import Checked, key, keys_of, stated
from scenarios.language.targets import Target
from scenarios.language.topic_spec import TopicSpec
from scenarios.plugins import check_name, check_rule

if TYPE_CHECKING:
    from scenarios.language.entries import MethodEntry
    from scenarios.language.generated import Placements
    from scenarios.language.known_names import KnownNames
    from scenarios.language.scenario import Scenario

HOME = f"{__package__.rpartition('.')[0]}.faults.actions"
"""The package of the project's own actions, which need the whole cluster."""


@frozen(kw_only=True)
class DelaySpec(Checked):
    """How much longer a message takes on a link."""

    latency_us: int = field(metadata=key(DURATION, "one-way delay added", name="latency"))
    jitter_us: int = field(
        default=0, metadata=key(DURATION, "the most by which chance lengthens or shortens it", name="jitter")
    )
    sigma: float = field(default=0.0, metadata=key(SIGMA, "spread of a lognormal delay whose median is the latency"))

    @property
    def delay(self) -> Delay:
        """The delay for ``emulator.network``."""
        return Delay(self.latency_us, self.jitter_us, self.sigma)


@frozen(kw_only=True)
class BurstSpec(Checked):
    """Times in which a link loses more."""

    loss: float = field(metadata=key(Number(0, 1), "the share of the packets that is lost in a burst"))
    every: Drawable = field(metadata=key(SpanOf(SOME_TIME), "time between two bursts, drawn if a range"))
    lasts: Drawable = field(metadata=key(SpanOf(SOME_TIME), "how long a burst lasts"))

    @property
    def burst(self) -> Burst:
        """The bursts for ``emulator.network``."""
        return Burst(self.loss, ends(self.every), ends(self.lasts))


@frozen(kw_only=True)
class Action(Checked):
    """One action with the values of its keys.

    Attributes:
        name: its name in the file, such as ``broker.crash``.
        help: its effect, in one line.
        undo: the action that ends its effect. An action with an ``undo`` takes a ``duration``.
        takes_target: whether the entry names the brokers that it acts on.
        takes_clients: whether these may be clients.
        takes_brokers: whether these may be brokers.
        default_target: the brokers that it acts on, where the entry does not name them.
        acts_on_message: whether it acts on the very message, or write to ZooKeeper, that its entry waits for.
    """

    name: ClassVar[str]
    help: ClassVar[str]
    undo: ClassVar[type[Action] | None] = None
    takes_target: ClassVar[bool] = False
    takes_clients: ClassVar[bool] = False
    takes_brokers: ClassVar[bool] = True
    default_target: ClassVar[Target | None] = None
    acts_on_message: ClassVar[bool] = False

    @property
    def acts_on(self) -> Target | None:
        """The brokers that it acts on, where the entry has no target."""
        return self.default_target

    def undoing(self) -> Action | None:
        """The action that ends this one's effect, with the values of the keys that both have."""
        if self.undo is None:
            return None
        names = (one.name for one in fields(self.undo))
        return self.undo(**{name: getattr(self, name) for name in names if hasattr(self, name)})

    def detail(self) -> str:
        """The text in the trace and in the timeline, besides the action's name and its brokers: the keys that are
        stated."""
        return ", ".join(f"{key.name} {in_words(key.kind.dump(value))}" for key, value in stated(self))

    def own_plan(self) -> Plan | None:
        """The reassignment plan that the entry brings with it."""
        return None

    def with_plan(self, plan: Plan) -> Action:
        """A copy of the action with this plan instead of its own."""
        return self

    def place(self, placements: Placements, plan: Plan | None) -> None:
        """Note where replicas are once the action is done; ``plan``: the scenario's ``[plan]``."""

    def new_topic(self) -> TopicSpec | None:
        """The topic that the action creates."""
        return None

    @property
    def named_fault(self) -> str | None:
        """The name of the fault on requests that the action begins."""
        return None

    def follow(self, known: KnownNames) -> None:
        """Note what exists once the action is done: called entry by entry, before anything is checked.

        Raises: BadInput for what cannot be done with what exists by then.
        """

    def check(self, known: KnownNames) -> None:
        """Refuse what does not fit the rest of the scenario.

        Names of partitions, topics, brokers and log directories are checked by the kinds of the keys.

        Raises: BadInput, relative to the entry.
        """

    def check_duration(self) -> None:
        """Refuse an entry with a ``duration`` where undoing the action does not say what comes back.

        Raises: BadInput, relative to the entry.
        """

    def check_operation(self, known: KnownNames) -> None:
        """Refuse what is refused, of the refusals of ``check``, to an operator of a running cluster, too. Raises:
        BadInput."""

    def hints(self, scenario: Scenario, entry: MethodEntry) -> Iterable[str]:
        """Consequences of the action that its words do not say, for ``validate``. ``entry``: an entry that has this
        action."""
        return ()

    def sends(self, known: KnownNames) -> Collection[str]:
        """The messages that are sent because of it, among those that are not sent in every run."""
        return ()


def in_words(value: object) -> str:
    """A value of a key as a line of the timeline shows it, without brackets and quotes."""
    if isinstance(value, Mapping):
        return " ".join(f"{name} {in_words(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(in_words, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


A = TypeVar("A", bound=Action)
ACTIONS: dict[str, type[Action]] = {}
"""The classes of the actions that have been imported so far, by name. ``all_actions`` has all."""


def action(name: str, help: str, *, undo: type[Action] | None = None) -> Callable[[type[A]], type[A]]:
    """Register an action's class under its name in the file; usable from any module that is imported before the file is
    read.

    Raises: ValueError where an action has the name already; TypeError where what it does is asynchronous.
    """

    def register(cls: type[A]) -> type[A]:
        check_name("action", name)
        check_rule(f"{cls.__name__}.perform", getattr(cls, "perform", None))
        if not cls.__module__.startswith(HOME):
            _own().find(name)
        if name in ACTIONS:
            raise ValueError(f"there is an action {name!r} already: {ACTIONS[name].__module__}")
        cls.name, cls.help, cls.undo = name, help, undo
        ACTIONS[name] = cls
        return cls

    return register


def _own() -> Any:
    """The package of the project's own actions. By name: it stands above, and each of its files is imported when a
    scenario names one of its actions."""
    return import_module(HOME)


def all_actions() -> Mapping[str, type[Action]]:
    """Every action by its name: the project's own in the order of their files, and those of other modules that have
    been imported."""
    files = _own().find_all()
    last = len(files)
    order = {file: place for place, file in enumerate(files)}
    return dict(sorted(ACTIONS.items(), key=lambda item: order.get(item[1].__module__, last)))


def find_action(name: str) -> type[Action]:
    """The action of that name; ``BadInput`` when there is none."""
    if name not in ACTIONS:
        _own().find(name)
    if name not in ACTIONS:
        raise BadInput(f"unknown action {name!r}; {did_you_mean(name, all_actions())}")
    return ACTIONS[name]


def undone_by(name: str) -> str | None:
    """The action that ends the effect of an imported action; None where nothing does, or it is unknown."""
    known = ACTIONS.get(name)
    return known.undo.name if known is not None and known.undo is not None else None


def as_action(stated: Action | str) -> Action:
    """An action, or the name of one whose keys all keep their defaults. Raises: BadInput where one has no default."""
    if not isinstance(stated, str):
        return stated
    cls = find_action(stated)
    for one in keys_of(cls):
        if one.required:
            raise BadInput(f"{stated} needs {one.argument!r} ({one.help}); write {cls.__name__}({one.argument}=...)")
    return cls()

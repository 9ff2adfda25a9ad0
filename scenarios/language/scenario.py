"""A scenario: a cluster, its load, a plan to move partitions, the faults meanwhile, and what must be true in the end.

The class is the file and the file is the class: ``Scenario.load`` reads one, ``to_toml`` writes one, and the
same classes build one in Python. Times are virtual, in microseconds. What does not fit raises ``BadInput``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import Factory, evolve, field, frozen

from emulator.protocol.configs import ConfigValue
from scenarios.errors import BadInput, UnknownKey
from scenarios.language.chaos import CHAOS, Chaos
from scenarios.language.checks import check_scenario
from scenarios.language.clients import CLIENT_BLOCK, Behaviour
from scenarios.language.cluster_spec import ClusterSpec
from scenarios.language.draws import DRAWS, Draw, drawn_values
from scenarios.language.entries import BRANCHES, METHOD_ENTRY, ROLLBACK_ENTRY, Branch, MethodEntry, check_branches
from scenarios.language.expect import Expect, SteadyState
from scenarios.language.fidelity import EXACT, FIDELITIES
from scenarios.language.generated import Placements
from scenarios.language.kafka_settings import BROKER_SETTINGS
from scenarios.language.plan import PLAN, GeneratedPlan, Plan, in_plan_file, plan_file, with_plan_file
from scenarios.language.recorded_frames import FRAMES, Frames, with_frames_file
from scenarios.language.schedules import FIFO, SCHEDULE
from scenarios.language.schema.kinds import SOME_TIME, Choice, Integer, ListOf, Named, Text, as_tuple, at
from scenarios.language.schema.overrides import overridden
from scenarios.language.schema.places import placed
from scenarios.language.schema.table_reader import Block, Checked, key, keys_of
from scenarios.language.schema.toml_text import is_json, parse_document, write_toml
from scenarios.language.strategies import SHAPES, parse_strategy
from scenarios.language.strategies.strategy import StrategySpec
from scenarios.language.study_spec import StudySpec
from scenarios.language.targets import CLIENT_NAME, TARGET
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.triggers import (
    FAULT_WHEN,
    MESSAGE_WHEN,
    METRIC_WHEN,
    STEP_NAMES,
    STEP_WHEN,
    WHEN,
    ZK_WHEN,
    WhenMetric,
)
from scenarios.language.workloads import ConsumerSpec, WorkloadSpec
from scenarios.profiles import DEFAULT_PROFILE, PROFILES, check_profile
from scenarios.profiles.profile import Policies
from scenarios.reading import read_text

_NAMED: tuple[Named[Any], ...] = (
    STEP_NAMES, TARGET, WHEN, STEP_WHEN, MESSAGE_WHEN, ZK_WHEN, METRIC_WHEN, FAULT_WHEN
)  # fmt: skip


def _with_files(document: Mapping[str, object], folder: Path) -> dict[str, object]:
    """The document with what is in files of their own, in place."""
    return with_frames_file(with_plan_file(document, folder), folder)


def scenario_json_schema() -> dict[str, Any]:
    """A JSON Schema (draft 2020-12) of the whole file, a new object each time."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Understudy scenario",
        **SCENARIO.schema(),
        "$defs": named_schemas(),
    }


def named_schemas() -> dict[str, Any]:
    """The JSON Schema of each kind that others refer to, by its name under ``$defs``."""
    return {named.name: named.kind.schema() for named in _NAMED}


SCHEMA = "scenario/1"
TEN_MS_US = 10_000
TEN_MINUTES_US = 600_000_000
MOST_EVENTS = 500_000_000
"""The most events of a run: more than any run of a sensible length has, and half an hour's work."""


def _check_bug(ticket: str) -> None:
    from scenarios.profiles.tickets import check_bug

    check_bug(ticket)


@frozen(kw_only=True)
class Scenario(Checked):
    """A failure scenario for an emulated Kafka cluster."""

    schema: str = field(default=SCHEMA, metadata=key(Choice((SCHEMA,), "schema"), "the version of this format"))
    title: str = field(metadata=key(Text(), "what the scenario shows, in one line"))
    description: str = field(default="", metadata=key(Text(), "what happens and why, in as many words as it needs"))
    tags: tuple[str, ...] = field(default=(), converter=as_tuple, metadata=key(ListOf(Text()), "words to find it by"))
    profile: str = field(
        default=DEFAULT_PROFILE,
        metadata=key(Text(check_profile, "a profile"), "whose behaviour the cluster shows: kafka-2.3, wiki-text, ..."),
    )
    bugs: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(
            ListOf(Text(_check_bug, "a bug"), unique=True), "bugs that Kafka had, to be switched on (list bugs)"
        ),
    )
    seed: int = field(default=0, metadata=key(Integer(0), "seed of all random draws"))
    schedule: str = field(
        default=FIFO,
        metadata=key(SCHEDULE, "in which order things happen that are under way at once: fifo, random, pct-D or pos"),
    )
    schedule_jitter_us: int = field(
        default=TEN_MS_US,
        metadata=key(
            SOME_TIME, "the longest time for which a schedule other than fifo keeps a delivery back",
            name="schedule_jitter",
        ),
    )  # fmt: skip
    horizon_us: int = field(
        default=TEN_MINUTES_US,
        metadata=key(SOME_TIME, "virtual time after which an unfinished run ends", name="horizon"),
    )
    fidelity: str = field(
        default=EXACT,
        metadata=key(
            Choice(FIDELITIES, "fidelity"),
            "whether every message is simulated (exact), or long moves in stretches with leaps between them (sampled)",
        ),
    )
    draws: dict[str, Draw] = field(
        factory=dict,
        metadata=key(
            DRAWS, 'values that each seed draws, by their paths: { "topics[0].size" = "1GiB..4GiB" }; a list: one of it'
        ),
    )
    max_events: int = field(
        default=MOST_EVENTS,
        metadata=key(Integer(1), "simulated events after which a run is cut off, and has failed (livelock)"),
    )
    cluster: ClusterSpec = field(metadata=key(Block(ClusterSpec), "brokers, disks, network, ZooKeeper"))
    topics: tuple[TopicSpec, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Block(TopicSpec)), "topics that exist at the start"),
    )
    workloads: tuple[WorkloadSpec, ...] = field(
        default=(), converter=as_tuple, metadata=key(ListOf(Block(WorkloadSpec)), "what producers write")
    )
    consumers: tuple[ConsumerSpec, ...] = field(
        default=(), converter=as_tuple, metadata=key(ListOf(Block(ConsumerSpec)), "what consumers read")
    )
    clients: tuple[Behaviour, ...] = field(
        default=(), converter=as_tuple, metadata=key(ListOf(CLIENT_BLOCK), "clients with a behaviour of their own")
    )
    attached: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(
            ListOf(CLIENT_NAME, unique=True), "the client.id of real clients that attach to it (serve), for targets"
        ),
    )
    frames: Frames | None = field(
        default=None, metadata=key(FRAMES, "what real clients sent in a recorded live run (replay --to-scenario)")
    )
    strategy: StrategySpec = field(
        default=Factory(StrategySpec),
        metadata=key(Block(StrategySpec), "how partitions are moved"),
    )
    plan: Plan | None = field(default=None, metadata=key(PLAN, "Kafka's reassignment JSON, version 1"))
    steady_state: tuple[SteadyState, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Block(SteadyState)), "limits that metrics stay within"),
    )
    method: tuple[MethodEntry, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(METHOD_ENTRY), "what is done to the cluster, and when"),
    )
    branches: tuple[Branch, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(BRANCHES, "instants from which on the run goes another way: other entries, all draws drawn again"),
    )
    chaos: tuple[Chaos, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(CHAOS), "what each seed draws: kinds of trouble, of load, of cluster"),
    )
    rollbacks: tuple[MethodEntry, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(ROLLBACK_ENTRY), "what repairs the cluster when the method is over"),
    )
    expect: tuple[Expect, ...] = field(
        default=(), converter=as_tuple, metadata=key(ListOf(Block(Expect)), "what must be true of the run")
    )
    study: StudySpec | None = field(
        default=None, metadata=key(Block(StudySpec), "what `understudy sweep` runs, and what is compared")
    )
    source: str = field(default="", eq=False)
    """The file it was read from, for messages; not part of the scenario's equality or digest."""
    drawn: tuple[tuple[str, str], ...] = field(default=(), eq=False)
    """The values that its seed has drawn for ``draws``, by path; for messages, as ``source``."""

    def __attrs_post_init__(self) -> None:
        """Set the strategy's protocol to the one that the profile's release runs (``check`` refuses an unknown
        profile), and generate the plans that are stated in words."""
        super().__attrs_post_init__()
        profile = PROFILES.get(self.profile)
        if profile is not None:
            object.__setattr__(self, "strategy", evolve(self.strategy, native=profile.strategy))
        if any(isinstance(plan, GeneratedPlan) for plan in self.plans):
            self._generate_plans()

    def _generate_plans(self) -> None:
        """Give the plans in words their moves, from the places of replicas when the method comes to each. Raises:
        BadInput."""
        placements = Placements(self.cluster.ids, self.cluster.rack_of)
        for topic in self.topics:
            placements.add(topic)
        if self.plan is not None:
            object.__setattr__(self, "plan", at("plan", placements.resolved, self.plan))
        object.__setattr__(self, "method", self._placed(placements, self.method, "method"))
        branches = [
            evolve(branch, method=self._placed(placements, branch.method, f"branches[{number}].method"))
            for number, branch in enumerate(self.branches)
        ]
        object.__setattr__(self, "branches", tuple(branches))

    def _placed(self, placements: Placements, entries: tuple[MethodEntry, ...], where: str) -> tuple[MethodEntry, ...]:
        """The entries with the moves of their plans, which are carried out in turn."""
        placed = []
        for index, entry in enumerate(entries):
            own = entry.action.own_plan()
            if own is not None:
                action = entry.action.with_plan(at(f"{where}[{index}].plan", placements.resolved, own))
                entry = evolve(entry, action=action)
            entry.action.place(placements, self.plan)
            placed.append(entry)
        return tuple(placed)

    @property
    def names_metrics(self) -> bool:
        """Whether a trigger, an expectation, a steady state or the strategy's throttle uses a metric."""
        triggers = (entry.trigger for entry in (*self.entries, *self.rollbacks))
        named = any(expect.metric is not None for expect in self.expect)
        limit = self.strategy.limit
        named = named or (limit is not None and limit.rule is not None)
        return named or bool(self.steady_state) or any(isinstance(trigger, WhenMetric) for trigger in triggers)

    @classmethod
    def load(cls, path: str | Path, *, profile: str | None = None) -> Scenario:
        """Read and check a scenario file (TOML, or JSON by its suffix). ``profile``: where the file names none."""
        path = Path(path)
        text = read_text(path, "a scenario file")
        return cls.loads(text, source=str(path), folder=path.parent, profile=profile)

    @classmethod
    def loads(cls, text: str, *, source: str = "", folder: Path | None = None, profile: str | None = None) -> Scenario:
        """Read and check a scenario's text; ``folder`` is where a ``plan.file`` is looked for, ``profile`` that of
        a text that names none."""
        document = parse_document(text, source)
        added = {} if profile is None or "profile" in document else {"profile": profile}
        document = {**added, **document}
        try:
            table = _with_files(document, folder or Path())
            with in_plan_file(plan_file(document, folder or Path())):
                return cls.from_table(table, source=source)
        except BadInput as error:
            found = error if is_json(source) else placed(error, text)
            for name in added.values():
                found = found.saying(repr(name), f"{name!r} (the file names none)")
            raise found.in_file(source) from None

    @classmethod
    def from_table(cls, document: Mapping[str, object], *, source: str = "") -> Scenario:
        """Read and check a parsed document, without a ``plan.file``."""
        with _saying_where_keys_belong():
            scenario: Scenario = evolve(SCENARIO.read(document), source=source)
        scenario.check()
        scenario._check_draws()
        return scenario

    def to_table(self) -> dict[str, Any]:
        """The scenario as plain tables and lists, without values that equal their default; new objects each time."""
        return {"schema": self.schema, **SCENARIO.dump(self)}

    def to_toml(self) -> str:
        """A file that reads back as this scenario."""
        return write_toml(self.to_table())

    def digest(self) -> str:
        """SHA-256 (hex) of everything in the scenario that concerns a run, so without ``study``, and whatever its key
        order, layout and place on disk."""
        said = {name: value for name, value in self.to_table().items() if name != "study"}
        canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()

    def check(self) -> None:
        """Refuse references to what does not exist, and triggers that the strategy cannot reach."""
        check_scenario(self)
        check_branches(self, check_scenario)

    def _check_draws(self) -> None:
        """Refuse a path that leads nowhere, and a value that does not fit there. All paths are tried together, which is
        one check for each value of the longest draw, and by themselves where that fails."""
        without = evolve(self, draws={}) if self.draws else self
        for turn in range(max((len(draw.ends) for draw in self.draws.values()), default=0)):
            values = {path: draw.ends[min(turn, len(draw.ends) - 1)] for path, draw in self.draws.items()}
            try:
                without._changed(values)
            except BadInput:
                for path, value in values.items():
                    at(f"draws.{path}", without._check_drawn, (path, value))

    def _check_drawn(self, drawn: tuple[str, object]) -> None:
        path, value = drawn
        try:
            self._changed({path: value})
        except BadInput as error:
            raise BadInput(f"{value!r} cannot be drawn: {error.what}") from None

    def with_overrides(self, changes: Mapping[str, object]) -> Scenario:
        """A checked copy with keys changed by path: ``{"topics[0].size": "2MiB", "horizon": "5m"}``.

        Texts are read as TOML where they are TOML, as the command line's ``--set key=value`` needs.
        """
        try:
            return self._changed(changes)
        except BadInput as error:
            raise error.each(lambda one: self._of_the_changes(one, changes)) from None

    def _of_the_changes(self, error: BadInput, changes: Mapping[str, object]) -> BadInput:
        """The error after the changes, with the key that one of them names, or another key of the file."""
        if not error.where or any(error.where.startswith(path) or path.startswith(error.where) for path in changes):
            return error.in_file("--set")
        said = " ".join(f"--set {path}={value}" for path, value in changes.items())
        return BadInput(f"{error.what} (after {said})", where=error.where, source=self.source)

    def _changed(self, changes: Mapping[str, object]) -> Scenario:
        table = self.to_table()
        for path in changes:
            table.get("draws", {}).pop(path, None)  # a value that is stated is not drawn
        with _saying_where_keys_belong():
            table = overridden(table, SCENARIO, changes)
        return self.from_table(table, source=self.source)

    def settled(self) -> Scenario:
        """A copy with the values that its seed draws, and without ``draws``. Raises: BadInput where they do not fit
        together."""
        if not self.draws:
            return self
        values = drawn_values(self.draws, self.seed)
        drawn = tuple((path, str(value)) for path, value in values.items())
        try:
            return evolve(evolve(self, draws={})._changed(values), drawn=drawn)
        except BadInput as error:
            said = ", ".join(f"{path} = {value}" for path, value in drawn)
            what = f"seed {self.seed} draws {said}, which cannot be: {error}"
            raise BadInput(what, where="draws", source=self.source) from None

    def assignments(self) -> dict[str, tuple[int, ...]]:
        """The replicas of every partition at the start, by partition name."""
        return {
            name: replicas
            for topic in self.topics
            for name, replicas in zip(topic.partition_names, topic.replica_lists(self.cluster.ids), strict=True)
        }

    def sizes(self) -> dict[str, int]:
        """The bytes in every partition at the start, by partition name."""
        return {
            name: size
            for topic in self.topics
            for name, size in zip(topic.partition_names, topic.partition_sizes, strict=True)
        }

    def settings(self) -> dict[str, ConfigValue]:
        """The value of every broker setting: the file's, else the default of the profile's release."""
        stated, defaults = self.cluster.config, PROFILES[self.profile].defaults
        return {
            name: stated.get(name, defaults.get(name, setting.default)) for name, setting in BROKER_SETTINGS.items()
        }

    @property
    def policies(self) -> Policies:
        """The behaviour that the cluster shows: the profile's, with the bugs that are switched on."""
        released = PROFILES[self.profile].policies
        if self.cluster.scala is not None:
            released = evolve(released, scala=self.cluster.scala)
        if not self.bugs:
            return released
        from scenarios.profiles.tickets import BUGS  # a file for each area, which most runs do without

        return reduce(lambda policies, ticket: policies.changed(BUGS[ticket].policies), self.bugs, released)

    def topic_hints(self) -> Iterator[str]:
        """The hints of each topic (``TopicSpec.hints``), with its place in the file."""
        rules = self.policies.brokers
        for index, topic in enumerate(self.topics):
            for line in topic.hints(self.cluster.config, rules):
                yield f"topics[{index}] {topic.name}: {line}"

    @property
    def session_timeout_us(self) -> int:
        """ZooKeeper's session timeout: the one stated, else the profile's."""
        return self.cluster.zk.session_timeout_us or PROFILES[self.profile].session_timeout_us

    def with_branches(self, branches: Iterable[Branch]) -> Scenario:
        """A copy with these branches, which are not checked."""
        return evolve(self, branches=tuple(branches))

    @property
    def entries(self) -> tuple[MethodEntry, ...]:
        """The entries of the method, then those of branches."""
        return (*self.method, *(entry for branch in self.branches for entry in branch.method))

    @property
    def plans(self) -> tuple[Plan, ...]:
        """``[plan]``, then those of entries of the method."""
        brought = (self.plan, *(entry.action.own_plan() for entry in self.entries))
        return tuple(plan for plan in brought if plan is not None)

    def targets(self) -> dict[str, tuple[int, ...]]:
        """Partition name to its target in the first plan that moves it."""
        return {name: target for plan in reversed(self.plans) for name, target in plan.targets().items()}

    @property
    def reassigns_by(self) -> str:
        """The way in which its reassignment tool requests moves, unless an action says otherwise: zk or api."""
        has_api = SHAPES[self.strategy.parsed.shape].api
        return PROFILES[self.profile].tool if has_api else "zk"

    def for_run(
        self,
        *,
        seed: int | None = None,
        strategy: str | None = None,
        profile: str | None = None,
        changes: Mapping[str, object] | None = None,
    ) -> Scenario:
        """A checked copy with the seed, the strategy's name or the profile that a run requests, and with ``changes`` as
        in ``with_overrides``. The check is made after all of them."""
        asked: dict[str, Any] = {}
        if seed is not None:
            asked["seed"] = at("seed", Integer(0).read, seed)
        if strategy is not None:
            asked["strategy"] = self.strategy.named(at("strategy", parse_strategy, strategy).name)
        if profile is not None:
            asked["profile"] = at("profile", check_profile, profile)
        changed = evolve(self, **asked)
        try:
            if changes:
                return changed._changed(changes)
            changed.check()
        except BadInput as error:
            raise error.in_file(self.source) from None
        return changed

    def run(
        self,
        *,
        seed: int | None = None,
        strategy: str | None = None,
        profile: str | None = None,
        **options: Any,
    ) -> Any:
        """Run it on an emulated cluster; see ``scenarios.runs.run_scenario``. Works in a notebook too."""
        runs = import_module("..runs", __package__)  # by name: reading scenarios does not depend on what runs them
        work = partial(runs.run_scenario, self, seed=seed, strategy=strategy, profile=profile, **options)
        return runs.beside_loops(work)


SCENARIO = Block(Scenario)


@contextmanager
def _saying_where_keys_belong() -> Iterator[None]:
    """Add a note to the refusal of a key below a table that is a key of the whole file: where it belongs."""
    top = [entry.name for entry in keys_of(Scenario)]

    def in_place(error: BadInput) -> BadInput:
        if not isinstance(error, UnknownKey) or error.key == error.where or error.key not in top:
            return error
        return error.noting(f"{error.key!r} belongs to the top of the file, above all tables")

    try:
        yield
    except BadInput as error:
        raise error.each(in_place) from None

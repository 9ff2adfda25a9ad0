"""Cross references of a scenario: every broker, topic, partition and step that is named exists and can be
reached.

The kinds have checked each value by itself; here each is checked against the rest of the file. What does not fit is
refused, each with its key path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from emulator.protocol.errors import Errors
from scenarios.errors import BadInput, Together, answered, did_you_mean
from scenarios.language.entries import MethodEntry
from scenarios.language.expect import Expect
from scenarios.language.fidelity import EXACT
from scenarios.language.known_names import KnownNames, check_moved, check_protocol, check_reach, check_sent, check_steps
from scenarios.language.messages import topic_of
from scenarios.language.plan import ANY_LOG_DIR, LOG_DIR, Move, Plan
from scenarios.language.schema.kinds import ListOf, at
from scenarios.language.schema.spans import Span, at_most
from scenarios.language.schema.table_reader import Key, stated
from scenarios.language.step_names import is_any
from scenarios.language.strategies import SHAPES, Strategy
from scenarios.language.strategies.execution import THROTTLE
from scenarios.language.targets import TARGET, Target
from scenarios.language.topic_spec import PARTITION_NAME, TOPIC_NAME, TopicSpec, join_partition
from scenarios.language.triggers import MOVES_DONE, At, Until, When, WhenFault, WhenMessage, WhenZk
from scenarios.language.workloads import ConsumerSpec, WorkloadSpec
from scenarios.profiles import PROFILES, Profile, check_profile
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.scenario import Scenario

NOT_EVERYWHERE = {"replica.lag.max.messages": "it went with 0.9 (KAFKA-1546)"}
"""The settings that only some profiles know (``Profile.also_knows``), and why."""


def check_profile_knows(scenario: Scenario) -> None:
    """Refuse a setting, a number of acks or a throttle that the scenario's profile does not have. Raises: BadInput."""
    profile = PROFILES[scenario.profile]
    for name in scenario.cluster.config:
        if name in NOT_EVERYWHERE and name not in profile.also_knows:
            having = ", ".join(other.name for other in PROFILES.values() if name in other.also_knows)
            why = NOT_EVERYWHERE[name]
            raise BadInput(
                f"profile {profile.name!r} has no such setting, {why}; profiles that have it: {having}",
                where=f"cluster.config.{name}",
            )
    build = scenario.cluster.scala
    if build is not None and build not in profile.scala_builds:
        raise BadInput(
            f"profile {profile.name!r} is older than the builds for Scala {build}; write "
            f'"{profile.scala_builds[-1]}", or leave it out',
            where="cluster.scala",
        )
    for index, load in enumerate(scenario.workloads):
        at(f"workloads[{index}].acks", lambda load: _check_acks(profile, load), load)
    _check_throttle(scenario)


def _check_throttle(scenario: Scenario) -> None:
    throttle, strategy = scenario.strategy.limit, scenario.strategy.parsed
    if throttle is not None and throttle.rule is not None and strategy.execution.at_once:
        _check_looks(strategy)
    named = SHAPES[strategy.shape].api or scenario.policies.names_moves
    if throttle is not None and throttle.only_reassigned and not named:
        naming = ", ".join(shape.name for shape in SHAPES.values() if shape.api)
        raise BadInput(
            f"{throttle.name} has no effect under {strategy.shape!r}: its brokers do not learn which replicas a move "
            f"adds; write {THROTTLE}RATE, or use a shape that says so: {naming}",
            where="strategy.name",
        )


def _check_looks(strategy: Strategy) -> None:
    if SHAPES[strategy.shape].tool_waits:
        raise BadInput(
            f"the tool of {strategy.shape!r} waits for the end of the plan, and changes no rate meanwhile; add an "
            f"admission such as serial, for a tool that looks again, or write {THROTTLE}RATE",
            where="strategy.name",
        )


def _check_acks(profile: Profile, load: WorkloadSpec) -> None:
    if load.required_acks > 1 and not profile.policies.counts_acks:
        raise BadInput(
            f"{load.acks} is a number of replicas, which went with 0.9 (KAFKA-1697), and the profile is "
            f'{profile.name!r}; write "0", "1" or "all"'
        )


PLANNED_ROLES = ("adding", "removing", "kept")


def check_scenario(scenario: Scenario) -> None:
    """Refuse a scenario that names something which does not exist. Raises: BadInput, with every such name."""
    check_profile(scenario.profile)
    at("strategy.name", lambda _: scenario.strategy.parsed, None)
    known, wrong = KnownNames(scenario), Together()
    wrong.attempt(check_profile_knows, scenario)
    wrong.attempt(_check_fidelity, scenario)
    wrong.attempt(_check_sessions, scenario)
    wrong.attempt(_each, "topics", scenario.topics, known.check_topic)
    wrong.attempt(_each, "workloads", scenario.workloads, lambda load: _check_workload(known, load))
    wrong.attempt(_each, "consumers", scenario.consumers, lambda consumer: _check_consumer(known, consumer))
    if scenario.plan is not None:
        wrong.attempt(at, "plan", lambda plan: _check_plan(known, plan), scenario.plan)
    wrong.attempt(_each, "method", scenario.method, lambda entry: _check_entry(known, entry))
    wrong.attempt(_each, "chaos", scenario.chaos, lambda block: block.check(known))
    wrong.attempt(_each, "rollbacks", scenario.rollbacks, lambda entry: _check_entry(known, entry))
    wrong.attempt(_each, "expect", scenario.expect, lambda expect: _check_expect(known, scenario, expect))
    wrong.refuse()


def _check_fidelity(scenario: Scenario) -> None:
    """Refuse a sampled run of what needs every message."""
    for what, said in (
        ("[[chaos]]", scenario.chaos),
        ("[[branches]]", scenario.branches),
        ("[[clients]]", scenario.clients),
        ("attached", scenario.attached),
        ("frames", scenario.frames),
    ):
        if said:
            refuse_sampled(scenario, what)


def _check_sessions(scenario: Scenario) -> None:
    """Refuse a ZooKeeper that is so far away that no session can begin: a client gives a connection up after a third of
    its session timeout, and a session takes two round trips."""
    rtt_us, timeout_us = scenario.cluster.zk.rtt_us, scenario.session_timeout_us
    if isinstance(rtt_us, int) and isinstance(timeout_us, int) and 0 < timeout_us <= 6 * rtt_us:
        rtt, timeout = format_duration(rtt_us), format_duration(timeout_us)
        enough = format_duration((6 * rtt_us // 1000 + 1) * 1000)
        raise BadInput(
            f"two round trips of {rtt} take as long as a third of the session timeout, {timeout}, or longer: no "
            f'session can begin; write a shorter rtt, or session_timeout = "{enough}" or more',
            where="cluster.zk.rtt",
        )


def refuse_sampled(scenario: Scenario, what: str) -> None:
    """Refuse a sampled run for ``what``, which needs every message. Raises: BadInput."""
    if scenario.fidelity != EXACT:
        raise BadInput(
            f'{what} needs every message, and a sampled run leaps over most of them; write fidelity = "{EXACT}"',
            where="fidelity",
            source=scenario.source,
        )


def _each(where: str, items: Iterable[Any], check: Callable[[Any], None]) -> None:
    wrong = Together()
    for index, item in enumerate(items):
        wrong.attempt(at, f"{where}[{index}]", check, item)
    wrong.refuse()


def _check_workload(known: KnownNames, workload: WorkloadSpec) -> None:
    topic = known.topic(workload.topic, "topic")
    if workload.shares and len(workload.shares) != topic.partitions:
        raise BadInput(
            f"{len(workload.shares)} for the {topic.partitions} partitions of {topic.name}; write one each",
            where="shares",
        )


def _check_consumer(known: KnownNames, consumer: ConsumerSpec) -> None:
    topic = known.topic(consumer.topic, "topic")
    for index, partition in enumerate(consumer.partitions):
        if partition >= topic.partitions:
            raise BadInput(
                f"{join_partition(topic.name, partition)!r} does not exist; "
                f"{topic.name} has the partitions 0 to {topic.partitions - 1}",
                where=f"partitions[{index}]",
            )


def _check_plan(known: KnownNames, plan: Plan) -> None:
    _each("partitions", plan.partitions, lambda move: _check_move(known, move))


def _check_move(known: KnownNames, move: Move) -> None:
    with answered(Errors.UNKNOWN_TOPIC_OR_PARTITION.name):
        topic = known.topic(move.topic, "topic")
        if move.partition >= topic.partitions:
            raise BadInput(
                f"{join_partition(move.topic, move.partition)!r} does not exist; "
                f"{move.topic} has the partitions 0 to {topic.partitions - 1}",
                where="partition",
            )
    with answered(Errors.INVALID_REPLICA_ASSIGNMENT.name):
        known.all_brokers(move.replicas, "replicas")
    with answered(Errors.LOG_DIR_NOT_FOUND.name):
        _each("log_dirs", move.log_dirs, lambda name: _check_log_dir(known, name))


def _check_log_dir(known: KnownNames, name: str) -> None:
    names = known.scenario.cluster.log_dir_names
    if name != ANY_LOG_DIR and name not in names:
        raise BadInput(f"no broker has a log directory {name!r}; {did_you_mean(name, (*names, ANY_LOG_DIR))}")


def _check_entry(known: KnownNames, entry: MethodEntry) -> None:
    if isinstance(entry.trigger, At) and at_most(entry.trigger.time_us) > known.scenario.horizon_us:
        raise BadInput("that is after the horizon; act earlier or write a later horizon", where="at")
    _check_stoppable(entry)
    if entry.for_each is not None and not isinstance(entry.for_each, str):
        known.all_brokers(entry.for_each, "for_each")
    _check_waits(known, entry)
    for where, value in (("when", entry.trigger), ("target", entry.target)):
        at(where, lambda found: _check_part(known, found), value)
    if entry.target is not None:
        _check_kind_of_target(entry, entry.target)
    for key, value in stated(entry.action):
        if isinstance(value, When):
            at(key.name, _refuse_range, value)
        _check_named(known, key, value)
        at(key.name, lambda found: _check_part(known, found), value)
    entry.action.check(known)


def check_operation(scenario: Scenario, entry: MethodEntry) -> None:
    """Refuse an action that an operator requests while the scenario runs, if it makes sense in no state of the cluster.
    Topics, moves and clients that the scenario does not have may exist by then. Raises: BadInput."""
    known = KnownNames(scenario)
    _check_stoppable(entry)
    entry.action.check_operation(known)
    check_awaited(scenario, entry.trigger)
    if entry.target is not None:
        known.all_brokers(entry.target.brokers, "target")
        _check_kind_of_target(entry, entry.target)


def check_awaited(scenario: Scenario, trigger: object) -> None:
    """Refuse a step that the scenario's strategy does not have, where an operator waits for it. Raises: BadInput."""
    if isinstance(trigger, When):
        known = KnownNames(scenario)
        at("when", lambda when: check_protocol(known, when.steps, when.edge), trigger)


def _check_kind_of_target(entry: MethodEntry, target: Target) -> None:
    if not entry.action.takes_clients:
        _refuse_clients(target, f"{entry.name} acts on brokers", "target")
    if not entry.action.takes_brokers and not target.means_clients:
        raise BadInput(
            f'{entry.name} acts on clients; write target = "clients", "any client" or "client(NAME)"', where="target"
        )


def _check_waits(known: KnownNames, entry: MethodEntry) -> None:
    """Refuse to wait for moves where none is ever started."""
    if any(other.name == "reassign.execute" for other in known.scenario.method):
        return
    pace = entry.next.trigger if entry.next is not None else None
    for where, trigger in (("until", entry.trigger), ("next", pace)):
        if isinstance(trigger, Until) and trigger.wait == MOVES_DONE:
            raise BadInput('no move is started; add an entry with action = "reassign.execute"', where=where)


def _check_named(known: KnownNames, key: Key, value: Any) -> None:
    """Refuse the name of something that does not exist, by the kind of the key that holds it."""
    kind = key.kind
    if kind is PARTITION_NAME:
        known.partition(value, key.name)
    elif isinstance(kind, ListOf) and kind.item is PARTITION_NAME:
        _each(key.name, value, lambda partition: known.partition(partition, ""))
    elif kind is TOPIC_NAME:
        known.topic(value, key.name)
    elif kind is TARGET:
        _refuse_clients(value, "brokers are meant", key.name)
    elif kind is LOG_DIR:
        at(key.name, lambda name: _check_log_dir(known, name), value)


def _refuse_clients(target: Target, why: str, where: str) -> None:
    if target.means_clients:
        raise BadInput(f"{target.role!r} names clients, but {why}; name brokers", where=where)


def _check_part(known: KnownNames, value: object) -> None:
    """Check a part of an entry that names something by its type. Other parts name nothing, or are checked by key."""
    if isinstance(value, When):
        _check_when(known, value)
    elif isinstance(value, WhenMessage | WhenZk):
        _check_wire(known, value)
    elif isinstance(value, WhenFault):
        _check_fault(known, value)
    elif isinstance(value, Target):
        _check_target(known, value)
    elif isinstance(value, TopicSpec):
        known.check_topic(value)
    elif isinstance(value, Plan):
        _check_plan(known, value)
    elif isinstance(value, tuple):
        for part in value:
            _check_part(known, part)


def _check_when(known: KnownNames, when: When) -> None:
    if when.partition is not None:
        known.partition(when.partition, "partition")
    if when.topic is not None:
        known.topic(when.topic, "topic")
    if when.broker is not None:
        known.broker(when.broker, "broker")
    check_reach(known, when)


def _refuse_range(when: When) -> None:
    if isinstance(when.occurrence, Span):
        raise BadInput("only the occurrence that an entry waits for is drawn; write a number", where="occurrence")


def _check_stoppable(entry: MethodEntry) -> None:
    """Refuse an action on a message whose trigger gives none that it can act on."""
    trigger = entry.trigger
    if not entry.action.acts_on_message:
        return
    if not isinstance(trigger, WhenMessage | WhenZk):
        raise BadInput(
            f'{entry.name} acts on the message that its entry waits for; add when = {{ message = "LeaderAndIsr" }}'
        )
    if not trigger.stoppable:
        raise BadInput(
            f"{trigger.name!r} is no message, so {entry.name} finds nothing to act on; wait for a write, such as "
            "'setData'",
            where="when.zk",
        )


def _check_wire(known: KnownNames, when: WhenMessage | WhenZk) -> None:
    for where, target in (("from", when.source), ("to", getattr(when, "target", None))):
        if target is not None:
            at(where, lambda found: _check_target(known, found), target)
            if isinstance(when, WhenZk):
                _refuse_clients(target, "clients write nothing to ZooKeeper", where)
    if isinstance(when.since, When):
        at("since", _refuse_range, when.since)
        at("since", lambda found: _check_when(known, found), when.since)
    topic = when.topic if isinstance(when, WhenMessage) else topic_of(when.path or "")
    if topic is not None:
        known.topic(topic, "topic" if isinstance(when, WhenMessage) else "path")
    if isinstance(when, WhenMessage):
        if when.partition is not None:
            known.partition(when.partition, "partition")
        for message in when.messages if len(when.messages) == 1 else ():
            check_sent(known, message)


def _check_fault(known: KnownNames, when: WhenFault) -> None:
    """Refuse to wait for a fault on requests that no entry begins."""
    names = [name for entry in known.scenario.method if (name := entry.action.named_fault) is not None]
    if when.fault not in names:
        hint = did_you_mean(when.fault, names) if names else f"add fault = {when.fault!r} to a request.fail or its like"
        raise BadInput(f"no entry begins a fault {when.fault!r}; {hint}", where="fault")


def _check_target(known: KnownNames, target: Target) -> None:
    known.all_brokers(target.brokers, "")
    role = target.parsed_role
    if role is not None and target.means_clients:
        known.has_clients(role.client, "")
    elif role is not None and role.partition is not None:
        known.partition(role.partition, "")
        if role.name in PLANNED_ROLES:
            check_moved(known, role.partition, "")


def _performed(scenario: Scenario) -> Counter[str]:
    """The most times that each action is performed, the undoing ones included."""
    turns = [turn for entry in scenario.method for turn in entry.turns(scenario.cluster.ids)]
    found = Counter(entry.name for entry in (*turns, *scenario.rollbacks))
    found.update(turn.action.undo.name for turn in turns if turn.duration_us is not None and turn.action.undo)
    return found


def _check_after(scenario: Scenario, expect: Expect) -> None:
    action, number = expect.after_action
    performed = _performed(scenario)
    if action not in performed:
        raise BadInput(
            f"no entry performs {action}; {did_you_mean(action, performed)}" if performed
            else f"no entry performs {action}; add one to the method, or leave 'after' out",
            where="after",
        )  # fmt: skip
    if number is not None and number > performed[action]:
        times = "once" if performed[action] == 1 else f"{performed[action]} times"
        raise BadInput(f"{action} is performed {times}; write a number up to {performed[action]}", where="after")


def _check_expect(known: KnownNames, scenario: Scenario, expect: Expect) -> None:
    if expect.after is not None:
        _check_after(scenario, expect)
    for statement in ("assignment", "leader", "isr", "failed_partitions"):
        for name, brokers in (getattr(expect, statement) or {}).items():
            known.partition(name, statement)
            known.all_brokers(brokers, f"{statement}.{name}")
    if expect.partition is not None:
        known.partition(expect.partition, "partition")
    for step in expect.steps or ():
        if is_any(step):
            raise BadInput(f"{step!r} is no step that can be expected; name one, or a phase", where="step")
    if expect.steps is not None:
        check_steps(known, expect.steps, "after", expect.partition)

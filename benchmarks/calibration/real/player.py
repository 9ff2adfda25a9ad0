"""A scenario played on a real cluster: its topics, its data, and each entry of its method at its time."""

import json
import shutil
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from attrs import define, field

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.facts import BY_TOOL, Answer
from benchmarks.calibration.real import kafka
from benchmarks.calibration.real.cluster import RealCluster
from benchmarks.calibration.real.talking import Talking
from benchmarks.calibration.real.tools import ToolFailed, Tools
from benchmarks.calibration.real.zookeeper import Session
from scenarios.language import MethodEntry, Scenario, Target, TopicSpec
from scenarios.language.schema.spans import certain
from scenarios.language.targets import parse_role
from scenarios.language.topic_spec import split_partition
from scenarios.language.triggers import After

TOPIC_WITHIN_S = 60
UP_WITHIN_S = 90
QUIET_S = 9
"""The time without a write after which a recording ends: ISR changes are announced five seconds late."""

LONGEST_S = 120
THROTTLED = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")


@define(eq=False)
class Player:
    """Plays one scenario.

    Attributes:
        undo: the effects that a duration ends, each with the time of its end.
        copied: the contents of new replicas: seconds after their move began, and bytes, at each change that was seen.
        answers: what the client was answered, in the cases that have one.
        kills: the brokers that were killed, and when (the clock of the machine, which is ZooKeeper's too).
    """

    scenario: Scenario
    cluster: RealCluster
    undo: list[tuple[float, MethodEntry, list[int]]] = field(factory=list)
    kills: list[tuple[int, float]] = field(factory=list)
    copied: list[tuple[float, int]] = field(factory=list)
    answers: Sequence[Answer] = ()
    _began: float = 0.0
    _talking: Talking = field(init=False)
    _planned: dict[tuple[str, int], Sequence[int]] = field(factory=dict)
    _copying: tuple[float, list[Path]] = (0.0, [])

    def play(self) -> None:
        """Raises: CannotRecord, where a step fails or is not one that a real cluster can be asked for."""
        for topic in self.scenario.topics:
            self._create(topic)
        for topic in self.scenario.topics:
            self._fill(topic)
        self.cluster.sleep(1)
        self._began = time.monotonic()
        self._talking = talking = Talking.begin(self.scenario, self.cluster, self._began)
        for entry in self.scenario.method:
            if not isinstance(entry.trigger, After):
                raise CannotRecord(f"{entry.name}: only entries with 'after' can be recorded")
            self._wait_until(time.monotonic() + certain(entry.trigger.delay_us) / 1e6)
            self._perform(entry)
        while self.undo:
            self._wait_until(self.undo[0][0] + 0.001)
        self.answers = talking.end(self.cluster.sleep)
        self._settle()

    # -- time ---------------------------------------------------------------------------------------------------------

    def _wait_until(self, deadline: float) -> None:
        """Wait, and end durations that are over by then."""
        while self.undo and self.undo[0][0] <= deadline:
            at, entry, brokers = self.undo.pop(0)
            self._sleep(at)
            self._undo(entry, brokers)
        self._sleep(deadline)

    def _look(self) -> None:
        """Note how much the new replicas of the last move hold."""
        began, folders = self._copying
        size = sum(path.stat().st_size for folder in folders for path in folder.glob("*.log"))
        if not self.copied or self.copied[-1][1] != size:
            self.copied.append((round(time.monotonic() - began, 1), size))

    def _sleep(self, deadline: float) -> None:
        """Wait, and meanwhile write what the loads write: a batch a second, to the leaders."""
        while self.scenario.workloads and time.monotonic() < deadline:
            for load in self.scenario.workloads:
                now_us = (time.monotonic() - self._began) * 1e6
                if load.start_us <= now_us < (load.stop_us or float("inf")):
                    self._write(load.topic)
            self.cluster.sleep(min(1.0, deadline - time.monotonic()))
        self.cluster.sleep(deadline - time.monotonic())

    def _write(self, topic: str) -> None:
        old = self.cluster.release.number < (0, 11)
        for number in self.cluster.assignment(topic) or {}:
            leader = int(self.cluster.state(topic, number)["leader"])
            kafka.produce_one(self.cluster.port(leader), topic, number, old_format=old)

    def _settle(self) -> None:
        """Wait until no partition moves and ZooKeeper's log no longer grows."""
        deadline, last, since = time.monotonic() + LONGEST_S, -1, time.monotonic()
        while time.monotonic() - since < QUIET_S and time.monotonic() < deadline:
            size = self._written()
            if size != last or self._moving():
                last, since = size, time.monotonic()
            self._look()
            time.sleep(0.5)
        self.cluster.zookeeper.exists("/")

    def _moving(self) -> bool:
        """Whether a partition of an existing topic is being moved."""
        zookeeper = self.cluster.zookeeper
        asked = zookeeper.get("/admin/reassign_partitions")
        moves = json.loads(asked)["partitions"] if asked else []
        if any(zookeeper.exists(f"/brokers/topics/{move['topic']}") for move in moves):
            return True
        znodes = (zookeeper.get(f"/brokers/topics/{topic}") for topic in zookeeper.children("/brokers/topics"))
        return any(json.loads(znode).get("adding_replicas") for znode in znodes if znode)

    def _written(self) -> int:
        """The bytes of the transaction log without its padding."""
        logs = self.cluster.transactions.glob("version-2/log.*")
        return sum(len(path.read_bytes().rstrip(b"\0")) for path in logs)

    # -- topics -------------------------------------------------------------------------------------------------------

    def _create(self, spec: TopicSpec) -> None:
        replicas = spec.replica_lists(self.scenario.cluster.ids)
        zookeeper = self.cluster.zookeeper
        config = {name: str(value).lower() for name, value in spec.config.items()}
        zookeeper.write(f"/config/topics/{spec.name}", _dumps({"version": 1, "config": config}))
        znode: dict[str, object] = {
            "version": 1,
            "partitions": {str(number): list(each) for number, each in enumerate(replicas)},
        }
        if self.cluster.release.has_reassignment_api:  # TopicZNode.encode, 2.4
            znode |= {"version": 2, "adding_replicas": {}, "removing_replicas": {}}
        if self.cluster.release.has_topic_ids:  # TopicZNode.encode, 2.8
            znode |= {"version": 3, "topic_id": urlsafe_b64encode(uuid4().bytes).rstrip(b"=").decode()}
        zookeeper.create(f"/brokers/topics/{spec.name}", _dumps(znode))
        up = [broker for broker in self.cluster.jvms if self.cluster.is_up(broker)]
        isrs = {number: [broker for broker in each if broker in up] for number, each in enumerate(replicas)}
        self.cluster.until(
            lambda: all(self.cluster.state(spec.name, number).get("isr", []) == isr for number, isr in isrs.items()),
            f"topic {spec.name} has the leaders that it can have",
            TOPIC_WITHIN_S,
        )
        self.cluster.sleep(0.5)

    def _fill(self, spec: TopicSpec) -> None:
        for number in range(spec.partitions):
            if spec.size_bytes:
                leader = int(self.cluster.state(spec.name, number)["leader"])
                old = self.cluster.release.number < (0, 11)
                kafka.produce(self.cluster.port(leader), spec.name, number, spec.size_bytes, old_format=old)

    # -- actions ------------------------------------------------------------------------------------------------------

    def _perform(self, entry: MethodEntry) -> None:
        perform: Callable[[MethodEntry, list[int]], object] | None = ACTIONS.get(entry.name)
        if perform is None:
            raise CannotRecord(f"{entry.name} cannot be done to a real cluster; possible: {', '.join(ACTIONS)}")
        target = entry.target or entry.action.default_target
        brokers = [] if target is None else self._find(target)
        perform(self, entry, brokers)  # type: ignore[call-arg, arg-type]
        if entry.duration_us is not None:
            self.undo.append((time.monotonic() + certain(entry.duration_us) / 1e6, entry, brokers))
            self.undo.sort(key=lambda each: each[0])

    def _find(self, target: Target) -> list[int]:
        if target.brokers:
            return list(target.brokers)
        role = None if target.role is None else parse_role(target.role)
        if role is not None and role.name == "controller":
            controller = self.cluster.controller()
            return [] if controller is None else [controller]
        if role is not None and role.name == "leader" and role.partition is not None:
            topic, number = split_partition(role.partition)
            return [int(self.cluster.state(topic, number)["leader"])]
        raise CannotRecord(f"the target {target.role!r} cannot be recorded; write ids, controller or leader(...)")

    def _undo(self, entry: MethodEntry, brokers: list[int]) -> None:
        if entry.name == "broker.pause":
            self._resume(entry, brokers)
        else:
            self._start(entry, brokers)

    def _crash(self, _entry: MethodEntry, brokers: list[int]) -> None:
        for broker in brokers:
            self.kills.append((broker, time.time()))
            self.cluster.kill(broker)

    def _start(self, _entry: MethodEntry, brokers: list[int]) -> None:
        with self._talking.held():
            self._start_all(brokers)

    def _start_all(self, brokers: list[int]) -> None:
        for broker in brokers:
            if not self.cluster.jvms[broker].wait(UP_WITHIN_S):
                raise CannotRecord(f"broker {broker} has not stopped within {UP_WITHIN_S:g} s")
            # A registration of the last incarnation would keep the new one from starting.
            gone = f"/brokers/ids/{broker}"
            self.cluster.until(lambda gone=gone: not self.cluster.zookeeper.exists(gone), f"{gone} ends", UP_WITHIN_S)  # type: ignore[misc]
            self.cluster.start_broker(broker)
        for broker in brokers:
            self.cluster.until(
                lambda broker=broker: self.cluster.is_up(broker),  # type: ignore[misc]
                f"broker {broker} is up again",
                UP_WITHIN_S,
            )

    def _shut_down(self, _entry: MethodEntry, brokers: list[int]) -> None:
        for broker in brokers:
            self.cluster.terminate(broker)

    def _pause(self, _entry: MethodEntry, brokers: list[int]) -> None:
        for broker in brokers:
            self.cluster.pause(broker)

    def _resume(self, _entry: MethodEntry, brokers: list[int]) -> None:
        for broker in brokers:
            self.cluster.resume(broker)

    def _execute(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        plan: Any = action.plan or self.scenario.plan
        targets = {split_partition(name): list(replicas) for name, replicas in plan.targets().items()}
        if BY_TOOL in self.scenario.tags:
            self._planned |= targets
            limit = [] if action.throttle is None else ["--throttle", str(action.throttle)]
            self._by_tool(targets, action.expect_error, "--execute", *limit)
            return
        if action.throttle is not None:
            self._throttle(targets, action.throttle)
        self._copying = (
            time.monotonic(),
            [
                self.cluster.log_dir(broker, 0) / f"{topic}-{number}"
                for (topic, number), target in targets.items()
                for broker in target
                if broker not in (self.cluster.assignment(topic) or {}).get(number, [])
            ],
        )
        if action.via == "api":
            self._alter(targets, action.expect_error)
        else:
            moves = [
                {"topic": topic, "partition": number, "replicas": replicas}
                for (topic, number), replicas in targets.items()
            ]
            data = _dumps({"version": 1, "partitions": moves})
            self.cluster.zookeeper.create("/admin/reassign_partitions", data)

    def _cancel(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        partitions = [split_partition(name) for name in action.partitions]
        if BY_TOOL in self.scenario.tags:
            targets = {each: self._planned[each] for each in partitions}
            self._by_tool(targets, action.expect_error, "--cancel")
            return
        self._alter(dict.fromkeys(partitions), action.expect_error)

    def _verify(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        plan: Any = action.plan or self.scenario.plan
        targets = {split_partition(name): list(replicas) for name, replicas in plan.targets().items()}
        self._by_tool(targets, None, "--verify")

    def _by_tool(self, targets: Mapping[tuple[str, int], Sequence[int]], expected: str | None, *words: str) -> None:
        """kafka-reassign-partitions, which has to fail where an error is expected."""
        file = self.cluster.folder / "plan.json"
        moves = [
            {"topic": topic, "partition": number, "replicas": replicas} for (topic, number), replicas in targets.items()
        ]
        file.write_text(_dumps({"version": 1, "partitions": moves}))
        failed = ""
        try:
            print(Tools(self.cluster).reassign(file, *words), file=sys.stderr)
        except ToolFailed as error:
            failed = str(error)
            print(failed, file=sys.stderr)
        if bool(failed) != (expected is not None):
            raise CannotRecord(failed or f"kafka-reassign-partitions {' '.join(words)} has not failed")

    def _alter(self, moves: kafka.Moves, expected: str | None) -> None:
        controller = self.cluster.controller()
        assert controller is not None
        errors = kafka.alter_reassignments(self.cluster.port(controller), moves)
        if any(errors.values()) != (expected is not None):
            raise CannotRecord(f"the controller answered {errors}, expected {expected or 'no error'}")

    def _elect(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        partitions = [split_partition(name) for name in action.partitions]
        if action.via == "api":
            controller = self.cluster.controller()
            assert controller is not None
            kafka.elect_leaders(self.cluster.port(controller), partitions, unclean=entry.name == "election.unclean")
        else:
            wanted = [{"topic": topic, "partition": number} for topic, number in partitions]
            data = _dumps({"version": 1, "partitions": wanted})
            self.cluster.zookeeper.create("/admin/preferred_replica_election", data)

    def _expire(self, _entry: MethodEntry, brokers: list[int]) -> None:
        """Take the broker's session over and close it, as tests of ZooKeeper's clients do."""
        for broker in brokers:
            thief = Session(self.cluster.zookeeper.port)
            thief.open(self.cluster.zookeeper.owner(f"/brokers/ids/{broker}"))
            thief.end()

    def _resign(self, _entry: MethodEntry, _brokers: list[int]) -> None:
        self.cluster.zookeeper.delete("/controller")

    def _delete_znode(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        self.cluster.zookeeper.delete(action.path)

    def _create_topic(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        self._create(action.topic)

    def _delete_topic(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        self.cluster.zookeeper.create(f"/admin/delete_topics/{action.topic}", "")

    def _expand_topic(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        path = f"/brokers/topics/{action.topic}"
        found = json.loads(self.cluster.zookeeper.get(path) or "")
        for replicas in action.assignment:
            found["partitions"][str(len(found["partitions"]))] = list(replicas)
        self.cluster.zookeeper.set(path, _dumps(found))

    def _offline(self, entry: MethodEntry, brokers: list[int]) -> None:
        """Replace the directory by a file: the next checkpoint in it fails, as on a disk that refuses."""
        action: Any = entry.action
        number = int(action.log_dir.rpartition("/")[2])
        for broker in brokers:
            folder = self.cluster.log_dir(broker, number)
            shutil.move(folder, folder.with_name(f"{number}.gone"))
            folder.write_text("")

    def _configure(self, entry: MethodEntry, _brokers: list[int]) -> None:
        action: Any = entry.action
        config = {name: str(value).lower() for name, value in action.config.items()}
        if action.topic is not None:
            self._config(f"topics/{action.topic}", config)
        elif action.brokers is None:
            self._config("brokers/<default>", config)
        else:
            for broker in self._find(action.brokers):
                self._config(f"brokers/{broker}", config)

    # -- settings -----------------------------------------------------------------------------------------------------

    def _throttle(self, targets: Mapping[tuple[str, int], Sequence[int]], rate: int) -> None:
        """Set throttles as kafka-reassign-partitions --throttle does (ReassignPartitionsCommand, 2.3)."""
        lists: dict[str, tuple[list[str], list[str]]] = {}
        involved: dict[int, None] = {}
        for (topic, number), target in targets.items():
            before = (self.cluster.assignment(topic) or {})[number]
            leaders, followers = lists.setdefault(topic, ([], []))
            leaders += [f"{number}:{broker}" for broker in before]
            followers += [f"{number}:{broker}" for broker in target if broker not in before]
            involved |= dict.fromkeys((*before, *target))
        for topic, both in lists.items():
            self._config(f"topics/{topic}", dict(zip(THROTTLED, map(",".join, both), strict=True)))
        for broker in sorted(involved):
            self._config(f"brokers/{broker}", dict.fromkeys(RATES, str(rate)))
        self.cluster.sleep(1)  # so that no broker begins to copy before it knows its rate

    def _config(self, entity: str, config: Mapping[str, str]) -> None:
        zookeeper = self.cluster.zookeeper
        found = zookeeper.get(f"/config/{entity}")
        before = json.loads(found)["config"] if found else {}
        zookeeper.write(f"/config/{entity}", _dumps({"version": 1, "config": {**before, **config}}))
        change = {"version": 2, "entity_path": entity}
        zookeeper.create("/config/changes/config_change_", _dumps(change), Session.SEQUENTIAL)


ACTIONS: dict[str, Any] = {
    "broker.crash": Player._crash,
    "controller.crash": Player._crash,
    "broker.start": Player._start,
    "broker.controlled_shutdown": Player._shut_down,
    "broker.pause": Player._pause,
    "broker.resume": Player._resume,
    "reassign.execute": Player._execute,
    "reassign.cancel": Player._cancel,
    "reassign.verify": Player._verify,
    "election.preferred": Player._elect,
    "election.unclean": Player._elect,
    "topic.create": Player._create_topic,
    "topic.delete": Player._delete_topic,
    "topic.expand": Player._expand_topic,
    "log_dir.offline": Player._offline,
    "config.set": Player._configure,
    "zk.delete": Player._delete_znode,
    "zk.expire": Player._expire,
    "controller.resign": Player._resign,
}
"""The actions that a real cluster can be asked for."""


def _dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))

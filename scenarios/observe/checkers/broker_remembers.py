"""E9: what a broker remembers is what a fresh process would have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from brokers.log.log_config import BROKER_NAMES, TOPIC_NAMES, LogConfig
from emulator.protocol import znodes
from emulator.protocol.events import ControllerElected
from emulator.protocol.kip_352_draft import DraftPartitionMetadata
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata
from emulator.trace.events import Step, ZkWritten
from fetchers.quota import RATE_NAMES, UNLIMITED, listed_here
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike
from scenarios.observe.history.settings_history import MIN_ISR
from scenarios.observe.past.cluster_past import broker_fails

CONFIG = "/config/"
FETCHERS = "num.replica.fetchers"
LISTS = "{}.replication.throttled.replicas"
NOBODY: frozenset[int] = frozenset()


class BrokerRemembersTrue(BrokerMemory):
    """When nothing is left to do, a broker works with what one that starts now would: the settings that ZooKeeper has,
    the ISRs that ZooKeeper has of the partitions that it leads, a log on a disk for each of its replicas, and of
    idempotent producers what its logs have of them.

    Verified: when the cluster is at rest, on each broker that the controller has reached for long enough:
        min.insync.replicas and the settings of logs that each of its topics has in force (KIP-226), against the
        configuration znodes of the topic, of the broker, of all brokers, and its properties; each replica against the
        logs in its directories, and the ISR that its leader knows against ZooKeeper; the batches of producers that each
        log remembers, against what it remembers once it is loaded again; the replicas, ISRs and live brokers of its
        metadata, the ids of topics (KIP-516) and the controller that it names, against ZooKeeper; which replicas it
        calls offline, against the brokers that are registered and the replicas that they have lost; the rates of its
        throttles, and whom they limit, and num.replica.fetchers, against the configuration znodes. Each znode for which
        it has a handler has a watch, at ZooKeeper too. Before that, every 5 s, all but the batches of producers: what
        is otherwise at three looks in a row, the same each time, on a broker that the controller has reached all the
        while, and while no fault delays anything.

    A replica that is not assigned to its broker is ``converged``'s, one in another role than ZooKeeper has
    ``roles_adopted``'s. Before KAFKA-972 (0.9) brokers do not learn that another one has ended or started: what such a
    release says of live brokers is not compared, nor what it says of ISRs, whose changes its leaders do not announce
    (KAFKA-1367, 0.9). A log of Kafka 1.1 to 2.3 remembers batches that retention has
    deleted, until it is loaded again: ProducerStateEntry.removeBatchesOlderThan drops them from a copy. They are left
    out.

    Not verified: the watch of /admin/reassign_partitions, which a change of its content uses up in Kafka, too
        (PartitionReassignmentHandler, 1.1 to 2.7); a number of fetchers that the broker refuses, as it is more than
        twice what it has, or less than half; brokers that shut down, lost a log directory, or into which a scenario has
        injected an error; topics that are being deleted; whom the metadata names as leader (``metadata_kept``), and the
        replicas of a partition that is moved where the metadata is that of KIP-352's draft; whether a replica is
        offline whose broker was shut down and came back before its controller saw that it was gone.
    """

    ids = ("E9",)
    statement = "soon memory_b = read(Z, disks): what a broker remembers is what a fresh process would have"
    catches = ("KAFKA-9254", "KAFKA-8813")
    fails_when = "a broker does not look for changed settings in its new session"
    looks_meanwhile = True

    def begin(self) -> None:
        super().begin()
        self._announced, self._isrs_announced = self.start.announces_brokers, self.start.announces_isrs
        self._rates_of_all = self.start.rates_of_all
        self._fetchers = self.start.brokers.get(FETCHERS, 1)
        self._configs: dict[str, dict[str, str]] = {}
        """The settings in ZooKeeper by entity."""
        self._ids: dict[str, str] = {}
        """The ids that the topics' znodes have (KIP-516)."""
        self.shut_down: dict[int, None] = {}
        """The brokers that the controller has shut down, and has not seen gone since."""

    def on_written(self, event: ZkWritten) -> None:
        path = event.path
        if path.startswith((znodes.CONFIG_TOPICS, znodes.CONFIG_BROKERS)):
            entity = path.removeprefix(CONFIG)
            if event.op == "delete":
                self._configs.pop(entity, None)
            elif event.data:
                self._configs[entity] = znodes.decode_config(event.data)
        elif znodes.TOPIC_ID in event.data:
            self._ids[path.rpartition("/")[2]] = znodes.decode_topic_id(event.data)

    def on_step(self, event: Step) -> None:
        if event.step == "shutdown.1":
            self.shut_down[event.broker] = None
        elif broker_fails(event):
            self.shut_down.pop(event.broker, None)

    def on_elected(self, _: ControllerElected) -> None:
        self.shut_down.clear()

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for compare in COMPARED:
            yield from compare(self, event, memories)

    def unlike_meanwhile(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for compare in COMPARED_MEANWHILE:
            yield from compare(self, event, memories)

    # -- settings -----------------------------------------------------------------------------------------------------

    def _own(self, broker: int) -> dict[str, str]:
        return self._configs.get(znodes.broker_entity(broker), {})

    def _of_broker(self, broker: int) -> dict[str, str]:
        """The settings of a broker: its own come first, then those of all brokers."""
        return {**self._configs.get(znodes.ALL_BROKERS, {}), **self._own(broker)}

    def settings(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        broker, started = event.node, memories["started_with"]
        default = self._of_broker(broker)
        log = _of_brokers(started.log, tuple(default.items()))
        least = int(default.get(MIN_ISR, started.min_insync_replicas))
        for topic, applied in memories["settings"].items():
            if not self.cluster.topics.get(topic) or self.cluster.is_deleting(topic):
                continue
            own = self._configs.get(znodes.topic_entity(topic), {})
            wanted = int(own.get(MIN_ISR, least))
            if applied.min_insync_replicas != wanted:
                yield Unlike(
                    "settings", f"topic {topic}", f"{MIN_ISR}={applied.min_insync_replicas}", f"{MIN_ISR}={wanted}"
                )
            expected = _of_topic(log, tuple(own.items())) if own else log
            if applied.log != expected:
                name, has, should = _first_unlike(applied.log, expected)
                yield Unlike("settings", f"topic {topic}", f"{name}={has}", f"{name}={should}")

    # -- replicas -----------------------------------------------------------------------------------------------------

    def replicas(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        broker, cluster, kept, logs = event.node, self.cluster, memories["replicas"], memories["directories"]
        for tp, replica in kept.items():
            state = cluster.state(tp)
            if logs.get(tp, "") != replica.directory:
                yield Unlike("replicas", "", f"a log in {replica.directory}", f"one in {logs.get(tp, 'none')}", tp)
            if state is None or cluster.is_deleting(tp.topic) or broker not in cluster.assignment(tp):
                continue
            leads = state.leader == broker
            if replica.leads is not leads or replica.leader_epoch != state.leader_epoch:
                continue
            if leads and sorted(replica.isr) != sorted(state.isr):
                yield Unlike("replicas", "", f"the ISR {list(replica.isr)}", f"the ISR {list(state.isr)}", tp)
            elif leads and replica.zk_version != state.zk_version:
                yield Unlike("replicas", "", f"version {replica.zk_version}", f"version {state.zk_version}", tp)

    # -- producers ----------------------------------------------------------------------------------------------------

    def producers(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for tp, (kept, loaded) in memories["producers"].items():
            if kept != loaded:
                more = [one for one in kept if one not in loaded]
                less = [one for one in loaded if one not in kept]
                yield Unlike("producers", "", _batches(more), _batches(less), tp)

    # -- metadata -----------------------------------------------------------------------------------------------------

    def metadata(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        cluster, now_us = self.cluster, event.t_us
        live, there = memories["live_brokers"], tuple(sorted(cluster.registrations))
        if self._announced and tuple(sorted(live)) != there:
            yield Unlike("live_brokers", "", str(list(live)), str(list(there)))
        topics: Mapping[str, Mapping[int, PartitionMetadata]] = memories["metadata"]
        for topic, partitions in topics.items():
            if cluster.is_deleting(topic) or not cluster.topics.get(topic):
                continue
            for known in partitions.values():
                tp, state = known.tp, cluster.state(known.tp)
                if state is None:
                    continue
                if known.replicas != cluster.assignment(tp) and not _names_a_move(known):
                    yield Unlike(
                        "metadata",
                        "",
                        f"replicas {list(known.replicas)}",
                        f"replicas {list(cluster.assignment(tp))}",
                        tp,
                    )
                elif self._isrs_announced and known.isr != state.isr and self.now.isr_announced(tp, now_us):
                    yield Unlike("metadata", "", f"the ISR {list(known.isr)}", f"the ISR {list(state.isr)}", tp)
                elif self._announced and (wrong := self._wrongly_told(known)):
                    told = known.offline_replicas
                    right = [broker for broker in known.replicas if (broker in told) is not (broker in wrong)]
                    wrongly = tuple(one for one in told if one not in right)
                    kept, wanted = (f"the offline replicas {list(brokers)}" for brokers in (told, right))
                    yield Unlike("metadata", "", kept, wanted, tp, wrongly)

    def topic_ids(self, _event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for topic, kept in memories["topic_ids"].items():
            there = self._ids.get(topic, kept)
            if kept != there and self.cluster.topics.get(topic) and not self.cluster.is_deleting(topic):
                yield Unlike("topic_ids", f"topic {topic}", kept, there)

    def _wrongly_told(self, known: PartitionMetadata) -> tuple[int, ...]:
        """The replicas of a partition that are said to be offline and are not, or the reverse: their broker is not
        registered, or has lost their log directory."""
        return tuple(
            broker
            for broker in known.replicas
            if (offline := self._is_offline(broker, known.tp)) is not None
            and offline is not (broker in known.offline_replicas)
        )

    def _is_offline(self, broker: int, tp: TopicPartition) -> bool | None:
        """Whether a replica is offline; None: not known, as its broker has lost a log directory and never had it, or
        was shut down and came back before its controller saw that it was gone (KAFKA-7235)."""
        cluster = self.cluster
        if broker not in cluster.registrations:
            return True
        if broker in self.shut_down:
            return None
        role = cluster.last_role(broker, tp)
        if cluster.lacks_dirs(broker):
            return None if role is None else role.offline
        return False

    # -- throttles, threads, watches ----------------------------------------------------------------------------------

    def throttles(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        broker, kept = event.node, memories["throttles"]
        stated = self._of_broker(broker) if self._rates_of_all else self._own(broker)
        rates = tuple(int(stated.get(name, UNLIMITED)) for name in RATE_NAMES)
        if kept.rates != rates:
            yield Unlike("throttles", "rates", str(list(kept.rates)), str(list(rates)))
        for topic in self.cluster.topics:
            settings = self._configs.get(znodes.topic_entity(topic), {})
            for side, lists in (("leader", kept.leader), ("follower", kept.follower)):
                has, should = lists.get(topic, NOBODY), listed_here(settings, LISTS.format(side), broker)
                if has != should and self.cluster.topics[topic] and not self.cluster.is_deleting(topic):
                    yield Unlike("throttles", f"{side}s of topic {topic}", _listed(has), _listed(should))

    def fetcher_threads(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        configured = self._of_broker(event.node).get(FETCHERS, self._fetchers)
        has, should = memories["fetcher_threads"], int(configured)
        if has != should and has // 2 <= should <= has * 2:
            yield Unlike("fetcher_threads", "", str(has), str(should))

    def controller(self, _event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        if memories["controller"] != self.cluster.controller:
            yield Unlike("controller", "", f"broker {memories['controller']}", f"broker {self.cluster.controller}")

    def watches(self, _event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for path in memories["unarmed"]:
            tp = znodes.state_path_partition(path)
            if tp is not None and self.cluster.state(tp) is None:
                continue  # the topic was deleted during a move, whose handler stays
            if path == znodes.REASSIGN_PARTITIONS:
                continue  # a controller learns of its creation only, and reads it again when a move ends
            yield Unlike("watches", path, "none", "one")


Compare = Callable[[BrokerRemembersTrue, Remembered, Mapping[str, Any]], Iterator[Unlike]]
_B = BrokerRemembersTrue
COMPARED: tuple[Compare, ...] = (
    _B.settings,
    _B.replicas,
    _B.producers,
    _B.metadata,
    _B.topic_ids,
    _B.throttles,
    _B.fetcher_threads,
    _B.controller,
    _B.watches,
)
COMPARED_MEANWHILE = tuple(compare for compare in COMPARED if compare is not _B.producers)
"""The comparisons that cost little: no log is loaded again."""


@lru_cache(256)
def _of_brokers(start: LogConfig, settings: tuple[tuple[str, str], ...]) -> LogConfig:
    return start.changed(dict(settings), BROKER_NAMES)


@lru_cache(256)
def _of_topic(default: LogConfig, settings: tuple[tuple[str, str], ...]) -> LogConfig:
    return default.changed(dict(settings), TOPIC_NAMES)


def _first_unlike(kept: LogConfig, wanted: LogConfig) -> tuple[str, object, object]:
    """The first setting in which two differ, by its name on topics, with both values."""
    fields = ((name, getattr(kept, field), getattr(wanted, field)) for name, field in TOPIC_NAMES.items())
    return next(one for one in fields if one[1] != one[2])


def _listed(partitions: frozenset[int] | None) -> str:
    return "all" if partitions is None else str(sorted(partitions))


def _names_a_move(known: PartitionMetadata) -> bool:
    """Whether the replicas are those of a move before and after it, as KIP-352's draft names them."""
    return isinstance(known, DraftPartitionMetadata) and bool(known.impending_replicas)


def _batches(batches: list[tuple[int, int, int]]) -> str:
    """The first of some batches, each with producer id, base offset and next offset."""
    if not batches:
        return "nothing"
    producer_id, base, end = batches[0]
    more = f" and {len(batches) - 1} more" if len(batches) > 1 else ""
    return f"producer {producer_id}'s batch {base} to {end}{more}"

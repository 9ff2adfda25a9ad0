"""The rules by which facts about a real cluster become a scenario: its broker ids, one size for each partition, one
setting for all brokers. What a rule decides is a note; what has no answer raises BadInput."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import define, evolve, field

from scenarios.errors import BadInput, did_you_mean
from scenarios.forecasting.capacities import LARGEST_ID
from scenarios.importing.divided_settings import DividedSettings, broker_settings, topic_settings
from scenarios.importing.found import Found, FoundMove, FoundPartition
from scenarios.importing.under_way import CopiedPartition, already_copied, looking_dead, unthrottled
from scenarios.importing.workload_of_rates import Load, load_of
from scenarios.language.cluster_spec import MOST_BROKERS, MOST_LOG_DIRS
from scenarios.language.kafka_settings import QUOTA_RATES, THROTTLED_REPLICAS
from scenarios.language.plan import ANY_LOG_DIR
from scenarios.profiles import DEFAULT_PROFILE, check_profile
from scenarios.units import counted, format_rate, format_size

WITH_TOPIC_IDS = "kafka-2.8"
WITH_ELR = "kafka-3.9"
"""The profile of the first release whose topics have ids (KIP-516)."""
LAGGING = 0.9
"""The share of the largest replica's size below which another one counts as lagging."""
MOST_SAID = 5
"""The most partitions that one note names."""


@define(eq=False)
class Topic:
    """A topic as the scenario states it; ``log_dirs``: the number of each replica's directory, or empty."""

    name: str
    assignment: list[tuple[int, ...]]
    sizes: list[int]
    log_dirs: list[tuple[int, ...]]
    settings: DividedSettings
    load: Load | None
    notes: list[str] = field(factory=list)


@define(eq=False)
class Assembled:
    """The facts of the file.

    Attributes:
        place: the id in the file of each broker, by its own, ascending.
    """

    found: Found
    profile: str
    place: dict[int, int]
    racks: list[str]
    log_dirs: int
    settings: DividedSettings
    topics: list[Topic]
    moves: list[FoundMove]
    throttle: int | None
    notes: list[str]

    @property
    def is_renumbered(self) -> bool:
        """Whether the brokers have other ids in the file than their own."""
        return any(own != here for own, here in self.place.items())


def assembled(found: Found, profile: str = "") -> Assembled:
    """The scenario that ``found`` means. Raises: BadInput, where sources leave out what no rule can guess."""
    return _Rules(found, profile).assembled()


@define(eq=False)
class _Rules:
    found: Found
    profile: str
    notes: list[str] = field(factory=list)
    place: dict[int, int] = field(factory=dict)
    """The id in the scenario of each broker."""
    moves: dict[tuple[str, int], FoundMove] = field(factory=dict)
    copies: dict[tuple[str, int], CopiedPartition] = field(factory=dict)
    """The moves that are under way."""
    moving: list[str] = field(factory=list)
    lagging: list[str] = field(factory=list)
    unsized: list[str] = field(factory=list)
    out_of_sync: list[str] = field(factory=list)
    led_by_others: list[str] = field(factory=list)
    leaderless: list[str] = field(factory=list)

    def assembled(self) -> Assembled:
        found = self.found
        self._take_topics_from_disks()
        self._leave_out_deleted()
        self._check_moves()
        partitions = {topic: self._whole(topic, its) for topic, its in sorted(found.topics.items())}
        self._number_brokers()
        throttle, rates = self._throttle()
        settings = broker_settings(self._for_all(rates), self.notes)
        dirs = self._log_dirs()
        throttled = {topic for topic, _ in self.moves} if throttle is not None else set()
        topics = [self._topic(name, its, dirs, moving=name in throttled) for name, its in partitions.items()]
        self._say_rates()
        self._say_states()
        return Assembled(
            found, self._profile(), self.place, self._racks(), dirs, settings, topics,
            [self._renumbered(move, dirs) for move in self.moves.values()], throttle, [*found.notes, *self.notes],
        )  # fmt: skip

    # -- topics -------------------------------------------------------------------------------------------------------

    def _take_topics_from_disks(self) -> None:
        """Without a source of replica lists: the replicas are those that disks have, in the order of broker ids."""
        found = self.found
        if not found.topics and found.replicas:
            source = "log directories"
            for (topic, number), its in sorted(found.replicas.items()):
                if its:
                    found.add_partition(topic, number, FoundPartition(tuple(sorted(its)), source))
            self.notes.append("no source has replica lists: they are what the disks have, by id (add --topics)")
        if not found.topics:
            raise BadInput("no source names a topic; add --topics, --log-dirs, --cluster-state or --bootstrap")
        strays = sorted({topic for topic, _ in found.replicas if topic not in found.topics})
        if strays:
            self.notes.append(f"on disks and in no replica list, left out: {said(strays)}")

    def _leave_out_deleted(self) -> None:
        """Topics that are being deleted, which no scenario can begin with."""
        found = self.found
        deleted = [topic for topic in found.deleting if topic in found.topics]
        for topic in deleted:
            if any(move.topic == topic for move in found.moves):
                raise BadInput(f"the plan moves {topic}, which is being deleted; leave it out", where="--reassignment")
            del found.topics[topic]
            found.rates.pop(topic, None)
            for number in [number for name, number in found.replicas if name == topic]:
                del found.replicas[topic, number]
        if deleted:
            self.notes.append(f"being deleted, left out: {said(deleted)}")
        if not found.topics:
            raise BadInput("all topics are being deleted; describe others", source=found.deleting[deleted[0]])

    def _whole(self, topic: str, its: dict[int, FoundPartition]) -> list[FoundPartition]:
        """The partitions from 0 on, with replica lists of one length, as before any move that is under way."""
        count = max(its) + 1
        if missing := [number for number in range(count) if number not in its]:
            source = next(iter(its.values())).source
            raise BadInput(
                f"of {topic}, partition {said(map(str, missing))} is not described; describe the topic whole",
                source=source,
            )
        whole = [self._before_its_move(topic, number, its[number]) for number in range(count)]
        lengths = Counter(len(each.replicas) for each in whole)
        if len(lengths) > 1:
            factor = max(lengths, key=lambda length: (lengths[length], length))
            uneven = [f"{topic}-{number}" for number, each in enumerate(whole) if len(each.replicas) != factor]
            self.notes.append(
                f"{topic} has partitions with another number of replicas than {factor}, which get {factor} here (those "
                f"out of sync go first, the lowest ids come): {said(uneven)}"
            )
            whole = [evolve(each, replicas=self._of_length(each, factor)) for each in whole]
        for number, each in enumerate(whole):
            self._note_state(f"{topic}-{number}", each)
        return whole

    def _before_its_move(self, topic: str, number: int, each: FoundPartition) -> FoundPartition:
        """The partition before the move that is under way, which becomes one of the scenario's plan."""
        move = self.moves.get((topic, number))
        adding, removing = set(each.adding), set(each.removing)
        if (
            move is not None
            and not adding
            and not removing
            and len(set(each.replicas) - set(move.replicas))
            and set(move.replicas) <= set(each.replicas)
            and each.in_sync is not None
        ):
            adding = {broker for broker in move.replicas if broker not in each.in_sync}
        if not adding and not removing:
            return each
        before = [broker for broker in each.replicas if broker not in adding]
        before.sort(key=lambda broker: broker != each.leader)
        target = tuple(broker for broker in each.replicas if broker not in removing)
        if move is None:
            self.moves[topic, number] = FoundMove(topic, number, target)
        if before:
            self.copies[topic, number] = CopiedPartition(tuple(before), tuple(sorted(adding)))
            self.moving.append(f"{topic}-{number} on {list(before)}")
            return evolve(each, replicas=tuple(before), adding=(), removing=())
        return each

    def _of_length(self, each: FoundPartition, factor: int) -> tuple[int, ...]:
        """``factor`` replicas: the leader and those in sync stay, and the brokers with the lowest ids come."""
        by_worth = sorted(
            each.replicas,
            key=lambda broker: (broker != each.leader, each.in_sync is not None and broker not in each.in_sync),
        )
        kept = tuple(broker for broker in each.replicas if broker in by_worth[:factor])
        others = (broker for broker in sorted(self.found.brokers) if broker not in kept)
        return (*kept, *(next(others) for _ in range(factor - len(kept))))

    def _note_state(self, name: str, each: FoundPartition) -> None:
        if each.in_sync is not None and set(each.in_sync) < set(each.replicas):
            self.out_of_sync.append(name)
        if each.in_sync is not None and each.leader is None:
            self.leaderless.append(name)
        elif each.leader not in (None, each.replicas[0]):
            self.led_by_others.append(name)

    def _topic(self, name: str, its: list[FoundPartition], dirs: int, *, moving: bool) -> Topic:
        config = dict(self.found.topic_config.get(name, {}))
        notes: list[str] = []
        for each in THROTTLED_REPLICAS:
            if each not in config:
                continue
            if moving:
                del config[each]
                notes.append(f"{each} is left out: the plan's throttle lists the replicas again")
            else:
                config[each] = self._list_of(config[each], notes)
        sizes = [self._size(name, number, each) for number, each in enumerate(its)]
        load = load_of(name, len(its), self.found.rates.get(name, {}), notes)
        return Topic(
            name, [self._places(each.replicas) for each in its], sizes, self._placed_in(name, its, dirs),
            topic_settings(config), load, notes,
        )  # fmt: skip

    def _places(self, replicas: Iterable[int]) -> tuple[int, ...]:
        return tuple(self.place[broker] for broker in replicas)

    def _list_of(self, text: str, notes: list[str]) -> str:
        """A list of throttled replicas under the ids of the scenario."""
        kept = []
        for entry in text.split(","):
            partition, _, broker = entry.partition(":")
            if broker.isdecimal() and int(broker) in self.place:
                kept.append(f"{partition}:{self.place[int(broker)]}")
            elif broker:
                notes.append(f"a throttled replica on the unknown broker {broker[:20]} is left out")
            else:
                kept.append(entry)
        return ",".join(kept)

    def _size(self, topic: str, number: int, each: FoundPartition) -> int:
        """The largest of the replicas' sizes; 0 where no disk was seen."""
        its = self.found.replicas.get((topic, number), {})
        sizes = [its[broker].size for broker in each.replicas if broker in its]
        if not sizes and self.found.replicas:
            self.unsized.append(f"{topic}-{number}")
        if sizes and min(sizes) < LAGGING * max(sizes):
            self.lagging.append(f"{topic}-{number}")
        return max(sizes, default=0)

    # -- brokers ------------------------------------------------------------------------------------------------------

    def _number_brokers(self) -> None:
        ids = sorted(self.found.brokers)
        if len(ids) > MOST_BROKERS:
            raise BadInput(f"{len(ids)} brokers; a scenario has at most {MOST_BROKERS}")
        kept = not ids or ids[-1] <= LARGEST_ID
        self.place = {broker: broker if kept else place for place, broker in enumerate(ids)}

    def _racks(self) -> list[str]:
        racks = self.found.racks
        if racks and len(racks) < len(self.place):
            lacking = [str(broker) for broker in sorted(self.place) if broker not in racks]
            self.notes.append(f"brokers whose rack is not known, each is put into one of its own: {said(lacking)}")
        return [racks.get(broker, f"rack-of-{broker}") for broker in sorted(self.place)] if racks else []

    def _log_dirs(self) -> int:
        most = max((len(dirs) for dirs in self.found.log_dirs.values()), default=1)
        if most > MOST_LOG_DIRS:
            raise BadInput(f"a broker has {most} log directories; a scenario has at most {MOST_LOG_DIRS}")
        for dirs in self.found.log_dirs.values():
            dirs.sort()
        fewer = [str(broker) for broker in sorted(self.place) if len(self.found.log_dirs.get(broker, ())) < most]
        if most > 1 and fewer:
            self.notes.append(f"brokers with fewer log directories than {most}, which is what all get: {said(fewer)}")
        return most

    def _placed_in(self, topic: str, its: list[FoundPartition], dirs: int) -> list[tuple[int, ...]]:
        """The number of each replica's log directory, where brokers have several; 0 for one that was not seen."""
        if dirs == 1:
            return []
        found = []
        for number, each in enumerate(its):
            on = self.found.replicas.get((topic, number), {})
            found.append(
                tuple(
                    self.found.log_dirs[broker].index(on[broker].log_dir) if broker in on else 0
                    for broker in each.replicas
                )
            )
        return found

    def _for_all(self, rates: Mapping[str, str]) -> dict[str, str]:
        """The settings of all brokers. A setting has the value that most of those brokers have that were described;
        what is in a broker's file goes after what was set while it ran."""
        found = self.found
        if found.broker_static and len(found.broker_static) < len(self.place):
            whole = said(map(str, sorted(found.broker_static)))
            self.notes.append(f"settings in server.properties are known only of the brokers {whole}, and taken for all")
        kept = self._of_most(found.broker_static, {})
        if rates_of_all := sorted(set(found.defaults) & set(QUOTA_RATES)):
            self.notes.append(
                f"set for all brokers, where it has no effect before 3.9, and left out: {said(rates_of_all)}"
            )
        kept |= {name: value for name, value in found.defaults.items() if name not in QUOTA_RATES}
        kept |= self._of_most(found.broker_config, kept)
        return kept | dict(rates)

    def _of_most(self, described: Mapping[int, Mapping[str, str]], else_: Mapping[str, str]) -> dict[str, str]:
        kept = {}
        for name in sorted({name for config in described.values() for name in config} - set(QUOTA_RATES)):
            values = {broker: config.get(name, else_.get(name, "")) for broker, config in sorted(described.items())}
            most = Counter(values.values()).most_common(1)[0][0]
            if most:
                kept[name] = most
            others = [f"{broker}: {value or 'not set'}" for broker, value in values.items() if value != most]
            if others:
                here = f"{most} here" if most else "not set here"
                self.notes.append(f"{name} is {here}, as on most brokers; other ones are {said(others)}")
        return kept

    def _throttle(self) -> tuple[int | None, dict[str, str]]:
        """The throttle of the plan, in bytes per second, and the rates that brokers have without one."""
        found, rates = self.found, {}
        for name in QUOTA_RATES:
            values = [config[name] for config in found.broker_config.values() if name in config]
            if values:
                rates[name] = Counter(values).most_common(1)[0][0]
                if len(values) < len(self.place) or len(set(values)) > 1:
                    self.notes.append(f"{name} is {rates[name]} on most of those brokers that have it, and here on all")
        if not self.moves:
            return None, rates
        stated = [
            int(rate) for name, rate in rates.items() if "replication" in name and rate.isdecimal() and int(rate) > 0
        ]
        if found.throttle is None and not stated:
            return None, rates
        others = {name: value for name, value in rates.items() if "replication.throttled" not in name}
        if found.throttle is not None:
            return found.throttle, others
        rate = max(stated)
        sides = [side for side in ("leader", "follower") if f"{side}.replication.throttled.rate" in rates]
        free = unthrottled(self.copies, found.topic_config, sides) if self._knows_lists() else []
        if free and len(free) == sum(len(its.adding) for its in self.copies.values()):
            self.notes.append(
                f"brokers have a rate of {format_rate(rate)}, and no topic lists a replica being copied: nothing holds "
                "them back, and the plan has no throttle (add --throttle)"
            )
            return None, rates
        self.notes.append(f"the throttle of the plan, {format_rate(rate)}, is the brokers' replication.throttled.rate")
        if len(sides) == 1:
            self.notes.append(f"only the {sides[0]}s' rate is set there; the plan's throttle is for both sides")
        if free:
            self.notes.append(
                f"{counted(len(free), 'replicas')} being copied that no list of throttled replicas holds back there, "
                f"and the plan's throttle does here: {said(free)}"
            )
        return rate, others

    def _knows_lists(self) -> bool:
        return all(topic in self.found.described for topic, _ in self.copies)

    # -- the rest -----------------------------------------------------------------------------------------------------

    def _profile(self) -> str:
        if self.profile:
            return check_profile(self.profile)
        if self.found.profile:
            return self.found.profile
        guess, seen = DEFAULT_PROFILE, ""
        if self.found.has_topic_ids:  # a new tool shows the columns of older brokers, too, whose topics have no ids
            guess, seen = WITH_TOPIC_IDS, "topics have ids, as since Kafka 2.8, and "
            if self.found.has_elr:
                guess, seen = WITH_ELR, "the text of topics with ids has Elr, as kafka-topics since 3.8, and "
        self.notes.append(f"{seen}no source knows the release: the profile {guess} is a guess (add --profile)")
        return guess

    def _check_moves(self) -> None:
        for move in self.found.moves:
            its = self.found.topics.get(move.topic)
            if its is None:
                raise BadInput(
                    f"the plan moves {move.topic}-{move.partition}; {did_you_mean(move.topic, self.found.topics)}",
                    where="--reassignment",
                )
            if move.partition not in its:
                raise BadInput(
                    f"the plan moves {move.topic}-{move.partition}; {move.topic} has partitions 0 to {max(its)}",
                    where="--reassignment",
                )
            self.moves[move.topic, move.partition] = move

    def _renumbered(self, move: FoundMove, dirs: int) -> FoundMove:
        names = []
        for broker, name in zip(move.replicas, move.log_dirs, strict=False):
            known = self.found.log_dirs.get(broker, [])
            if name != ANY_LOG_DIR and name not in known:
                self.notes.append(
                    f"{move.topic}-{move.partition}: broker {broker} has no log directory {name[:80]}; any is taken"
                )
            names.append(f"/data/{known.index(name)}" if name in known and dirs > 1 else ANY_LOG_DIR)
        stated = tuple(names) if any(name != ANY_LOG_DIR for name in names) and len(names) == len(move.replicas) else ()
        return FoundMove(move.topic, move.partition, self._places(move.replicas), stated)

    def _say_rates(self) -> None:
        unknown = sorted(set(self.found.rates) - set(self.found.topics))
        if unknown:
            self.notes.append(f"rates of topics that no other source has, left out: {said(unknown)}")
        if not self.found.rates and not self.found.is_idle:
            self.notes.append("no source has rates: nothing is written here (add --rates, or a [[workloads]] table)")
        elif silent := sorted(set(self.found.topics) - set(self.found.rates)):
            self.notes.append(f"no rates of these topics, to which nothing is written here: {said(silent)}")

    def _say_states(self) -> None:
        if not self.found.replicas:
            self.notes.append("no source has sizes: partitions are empty here (add --log-dirs)")
        for names, words in (
            (self.moving, "being moved, which begin here before the move, with their leader first"),
            (self.unsized, "on no disk that was seen, empty here"),
            (
                self.lagging,
                f"whose replicas differ in size by more than {100 - 100 * LAGGING:.0f} %, all get the largest",
            ),
            (self.out_of_sync, "not fully in sync, which they are here when the run begins"),
            (self.leaderless, "without a leader, which they have here"),
            (self.led_by_others, "led by another than the preferred replica, which leads here"),
        ):
            if names:
                self.notes.append(f"{counted(len(names), 'partitions')} {words}: {said(names)}")
        if copied := already_copied(self.copies, self.found):
            self.notes.append(f"{format_size(copied)} of the moves under way were copied already; here none is")
        for broker in looking_dead(self.found, self.copies):
            self.notes.append(
                f"broker {broker} is in no ISR: it looks dead, and here it is alive (to have it dead, add a [[method]] "
                f'with at = "1s", action = "broker.crash", target = {self.place[broker]})'
            )
        if self.found.futures:
            futures = [f"{topic}-{number}" for topic, number in sorted(self.found.futures)]
            copied = sum(each.size for its in self.found.futures.values() for each in its.values())
            self.notes.append(
                f"copies to other log directories ({format_size(copied)} so far), left out: {said(futures)}"
            )


def said(names: Iterable[str]) -> str:
    """The first of some names, and how many others there are."""
    every = list(names)
    more = f" and {counted(len(every) - MOST_SAID, 'others')}" if len(every) > MOST_SAID else ""
    return ", ".join(every[:MOST_SAID]) + more

"""The effect of a cut in words: the machines that a machine still reaches, and the consequences in Kafka. ``validate``
prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, field

from emulator.zookeeper import ZkSpec
from scenarios.language import MethodEntry, Scenario, Target
from scenarios.language.targets import ALL_PEERS, BROKERS_PEER, CLIENTS, ZOOKEEPER_PEER, Peer
from scenarios.units import format_duration

ZOOKEEPER_TIMES = ZkSpec()
"""The times of ZooKeeper that a scenario does not state: its tick, and the longest pause before a client connects to it
again."""


@define
class CutReach:
    """One cut: its machines, its peers, its duration.

    Attributes:
        ways: the messages that are stopped, seen from the target: both, to or from.
    """

    scenario: Scenario
    target: Target
    ends: Sequence[Peer]
    ways: str
    duration_us: int | None
    lost: list[int] = field(init=False)
    """The brokers that are named as its other ends, or all others."""
    named: list[str] = field(init=False)
    """Other ends that are brokers by their role, and clients by their name."""

    def __attrs_post_init__(self) -> None:
        own = self.target.brokers
        whole = self._every_broker
        ids = [b for end in self.ends if isinstance(end, Target) for b in end.brokers]
        self.lost = [b for b in self._brokers if b not in own] if whole else ids
        self.named = [end.words for end in self.ends if isinstance(end, Target) and end.role not in (None, CLIENTS)]

    @property
    def _several(self) -> bool:
        return len(self.target.brokers) > 1

    @property
    def _each(self) -> str:
        return "each of them: " if self._several else ""

    @property
    def _every_broker(self) -> bool:
        return any(end in (BROKERS_PEER, ALL_PEERS) for end in self.ends)

    @property
    def _brokers(self) -> Sequence[int]:
        return self.scenario.cluster.ids

    @property
    def _without_zookeeper(self) -> bool:
        return any(end in (ZOOKEEPER_PEER, ALL_PEERS) for end in self.ends)

    @property
    def _without_clients(self) -> bool:
        return any(end == ALL_PEERS or (isinstance(end, Target) and end.role == CLIENTS) for end in self.ends)

    @property
    def _without_brokers(self) -> bool:
        return bool(self.lost) or any(isinstance(end, Target) and not end.means_clients for end in self.ends)

    def sentences(self) -> Iterator[str]:
        """Sentences about what is cut, what is left, and the consequences."""
        yield self.cut()
        yield from self.consequences()

    def consequences(self) -> Iterator[str]:
        if self.target.means_clients:
            yield f"{_its(self.target, 'requests')} to what is cut fail after request.timeout.ms; no broker notices"
            return
        if self._without_zookeeper:
            yield self._session()
        elif self._without_brokers:
            yield self._isr()
        elif self.ends:
            yield "the cluster itself does not notice: no session expires, and no ISR changes"

    def cut(self) -> str:
        """The sentence about what is cut, and what is left."""
        who = _who(self.target)
        lost = _and([*_ids(self.lost, len(self._brokers)), *self.named, *self._others(lost=True)])
        still = _and([*self._brokers_left(), *self._others(lost=False)])
        if self._several:
            lost += ", and from each other" if self._every_broker else ""
            left = f"they still reach {still}" if still else "they reach no other machine"
            way = {
                "both": f"{who} are cut from {lost}",
                "from": f"what {who} send to {lost} does not arrive, what they are sent does",
                "to": f"nothing from {lost} arrives at {who}, what they send does",
            }[self.ways]
        else:
            left = f"it still reaches {still}" if still else "it reaches no other machine"
            way = {
                "both": f"{who} is cut from {lost}",
                "from": f"what {who} sends to {lost} does not arrive, what it is sent does",
                "to": f"nothing from {lost} arrives at {who}, what it sends does",
            }[self.ways]
        return f"{way}; {left}"

    def _brokers_left(self) -> list[str]:
        """The brokers that it still reaches."""
        if self._every_broker:
            return []
        roles = any(isinstance(end, Target) and not end.brokers and not end.means_clients for end in self.ends)
        if roles or not (self.target.brokers or self.target.means_clients):
            return ["the other brokers"]
        if self.target.means_clients and not self.lost:
            return ["all brokers"]
        rest = [broker for broker in self._brokers if broker not in (*self.lost, *self.target.brokers)]
        return [*(["each other"] if self._several else []), *_ids(rest, len(self._brokers))]

    def _others(self, *, lost: bool) -> list[str]:
        """ZooKeeper and the clients, if they are lost, or if they are not."""
        has_clients = bool(self.scenario.workloads or self.scenario.consumers)
        own = self.target.means_clients
        found = ["ZooKeeper"] if self._without_zookeeper is lost and not (own and not lost) else []
        return [*found, *(["the clients"] if self._without_clients is lost and has_clients and not own else [])]

    def _session(self) -> str:
        timeout_us, lasts_us = self.scenario.session_timeout_us, self.duration_us
        timeout = f"the session timeout ({format_duration(timeout_us)})"
        each = self._each
        if lasts_us is not None and lasts_us + ZOOKEEPER_TIMES.retry_max_us < timeout_us:
            return f"{each}its ZooKeeper session survives: {format_duration(lasts_us)} are shorter than {timeout}"
        if lasts_us is not None and lasts_us <= timeout_us + ZOOKEEPER_TIMES.tick_us:
            return f"{each}its ZooKeeper session may expire: {format_duration(lasts_us)} are close to {timeout}"
        elected = "others are elected for what it leads"
        if self.target.role == "controller":
            elected = "another controller is elected, and others for what it leads"
        if set(self._brokers) <= set(self.target.brokers):
            elected = "no broker is left that could be elected"
        return (
            f"{each}its ZooKeeper session expires after {timeout} and up to "
            f"{format_duration(ZOOKEEPER_TIMES.tick_us)} more, and {elected}"
        )

    def _isr(self) -> str:
        lag_us = int(self.scenario.settings()["replica.lag.time.max.ms"]) * 1000
        lag = f"replica.lag.time.max.ms ({format_duration(lag_us)})"
        stays = f"{self._each}its ZooKeeper session lives, so it stays a broker"
        if self.duration_us is not None and self.duration_us <= lag_us:
            return f"{stays}, and no ISR shrinks: {format_duration(self.duration_us)} are not longer than {lag}"
        return (
            f"{stays}, and leader of what it leads; a follower that is cut from its leader leaves the ISR when it has "
            f"lacked new data for {lag}"
        )


def of_groups(
    scenario: Scenario, groups: Sequence[Sequence[Peer]], one_way: bool, duration_us: int | None
) -> Iterator[str]:
    """Sentences about a network that is divided into groups: for the brokers, the roles and the clients of each."""
    for place, group in enumerate(groups):
        earlier, later = ([peer for other in side for peer in other] for side in (groups[:place], groups[place + 1 :]))
        all_ends = [*earlier, *later]
        ways, ends = ("both", all_ends) if not one_way else ("from", later) if later else ("to", earlier)
        for target in _targets(scenario, group):
            yield CutReach(scenario, target, ends, ways, duration_us).cut()
            yield from CutReach(scenario, target, all_ends, "both", duration_us).consequences()


def of_drawn_groups(scenario: Scenario, into: int, with_zookeeper: bool, duration_us: int | None) -> Iterator[str]:
    """Sentences about a network that is divided into groups which are drawn."""
    zookeeper = "ZooKeeper is in one of them" if with_zookeeper else "all reach ZooKeeper"
    yield f"the brokers are divided into {into} groups that do not reach each other; {zookeeper}"
    end = ZOOKEEPER_PEER if with_zookeeper else Target(brokers=scenario.cluster.ids)
    who = "a broker of a group without it" if with_zookeeper else "each broker"
    for line in CutReach(scenario, Target(), [end], "both", duration_us).consequences():
        yield f"{who}: {line}"


def _targets(scenario: Scenario, group: Sequence[Peer]) -> Iterator[Target]:
    """The machines of a group but ZooKeeper: its brokers together, then each of its roles."""
    named = [peer for peer in group if isinstance(peer, Target)]
    ids = [broker for target in named if target.role is None for broker in target.brokers]
    if any(peer in (BROKERS_PEER, ALL_PEERS) for peer in group):
        ids = list(scenario.cluster.ids)
    if ids:
        yield Target(brokers=ids)
    yield from (target for target in named if target.role is not None)


def without_end(scenario: Scenario, entry: MethodEntry) -> Iterator[str]:
    """A hint for an effect that no duration, no later entry and no rollback ends."""
    undo = entry.action.undo
    if undo is None or entry.duration_us is not None:
        return
    if all(other.name != undo.name for other in (*scenario.method, *scenario.rollbacks)):
        yield f'nothing ends it; add duration = "30s", or an entry with action = "{undo.name}"'


def _who(target: Target) -> str:
    if target.role is not None:
        return target.words
    return _and(_ids(list(target.brokers), 0)) if target.brokers else f"a broker ({target.words or 'any'})"


def _its(target: Target, what: str) -> str:
    return f"the {what} of {target.role}"


def _ids(brokers: Sequence[int], all_of_them: int) -> list[str]:
    if not brokers:
        return []
    if len(brokers) > 1 and len(brokers) >= all_of_them - 1 > 0:
        return ["all other brokers"]
    return [f"broker{'s' * (len(brokers) > 1)} {', '.join(map(str, brokers))}"]


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))

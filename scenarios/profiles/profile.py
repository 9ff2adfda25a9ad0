"""A profile: the behaviour of one release, or of one document, as a bundle of policies, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from attrs import evolve, field, fields, frozen

from brokers.broker_policies import BrokerPolicies
from brokers.partition.isr import ByController
from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki
from controller.request_schemas import CurrentAndImpending
from emulator.protocol import scala_order
from emulator.protocol.scala_order import ScalaCollections
from fetchers.policies import FetcherPolicies
from scenarios.errors import did_you_mean

ConfigValue = int | bool

SCALA_2_12, SCALA_2_13 = "2.12", "2.13"
"""The builds of brokers, by the Scala in the names of their downloads."""


def is_before(release: str, other: str) -> bool:
    """Whether a release comes before another one: ``0.10.2`` before ``2.3.1``."""
    return _numbers(release) < _numbers(other)


def is_within(release: str, since: str, until: str) -> bool:
    """Whether a release is one of those from ``since`` on and before ``until``; "": there is no such end."""
    return not (since and is_before(release, since)) and (not until or is_before(release, until))


def in_short(release: str) -> str:
    """A release without the zeros that end it: ``2.3`` of 2.3.0, ``0.11`` of 0.11.0.0."""
    numbers = release.split(".")
    while len(numbers) > 2 and numbers[-1] == "0":
        numbers.pop()
    return ".".join(numbers)


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


@frozen
class Policies:
    """One bundle of policies for each floor. The defaults are those of Kafka 2.3.

    A scenario's settings, throttles and strategy are laid over them when its cluster is built
    (``scenarios.cluster.policies``).

    Attributes:
        wiki: the controller page's protocol as this release runs it.
        kip_455: KIP-455's, likewise.
        any_move_forbids_expansion: whether no topic gets partitions while anything is moved; otherwise only a topic
            that is being moved does not (KIP-455, 2.4).
        tool_heeds_moves: whether kafka-reassign-partitions throttles what moves under way still copy, when it begins
            another one (KAFKA-10779, 2.8).
        tool_keeps_widenings: whether kafka-reassign-partitions --cancel cancels no move that only adds replicas
            (ReassignPartitionsCommand.cancelAssignment, 3.7.0 to 3.9.0).
        scala: the build of the brokers.
        scala_2_12: the collections of the build for Scala 2.12.
    """

    controller: ControllerPolicies = field(factory=ControllerPolicies)
    brokers: BrokerPolicies = field(factory=BrokerPolicies)
    fetchers: FetcherPolicies = field(factory=FetcherPolicies)
    wiki: Wiki = field(factory=Wiki)
    kip_455: Kip455 = field(factory=Kip455)
    any_move_forbids_expansion: bool = True
    tool_heeds_moves: bool = False
    tool_keeps_widenings: bool = False
    scala: str = SCALA_2_12
    scala_2_12: ScalaCollections = scala_order.SCALA_2_12

    @property
    def collections(self) -> ScalaCollections:
        """The collections of the build."""
        return scala_order.SCALA_2_13 if self.scala == SCALA_2_13 else self.scala_2_12

    @property
    def deletes_topics(self) -> bool:
        """Whether the controller can delete topics (KAFKA-330, 0.8.1)."""
        return self.controller.replicas.know_topic_deletion

    @property
    def counts_acks(self) -> bool:
        """Whether acks above 1 asks for that many replicas (before KAFKA-1697, 0.9)."""
        return self.brokers.counts_acks

    @property
    def names_moves(self) -> bool:
        """Whether control requests name the replicas that a move adds, under any protocol (KIP-352's draft)."""
        return isinstance(self.controller.requests, CurrentAndImpending)

    @property
    def alters_isr(self) -> bool:
        """Whether leaders ask the controller for changes of their ISRs (KIP-497, 2.7)."""
        return isinstance(self.brokers.isr_writes, ByController)

    def changed(self, policies: Mapping[str, Any]) -> Policies:
        """These, with some policies replaced, which are named by their places: ``brokers.stop_answers_waiting``.

        Raises: AttributeError for a place that is not there.
        """
        return reduce(lambda bundle, place: _replaced(bundle, place.split("."), policies[place]), policies, self)

    def at(self, place: str) -> Any:
        """The policy at a place. Raises: AttributeError for one that is not there."""
        return reduce(getattr, place.split("."), self)

    def have(self, policies: Mapping[str, Any]) -> bool:
        """Whether these are the policies at their places."""
        return all(self.at(place) == policy for place, policy in policies.items())


def _replaced(owner: Any, place: list[str], value: Any) -> Any:
    name, *below = place
    if not hasattr(owner, name):
        names = [one.name for one in fields(type(owner))]
        raise AttributeError(f"{type(owner).__name__} has no {name!r}; {did_you_mean(name, names)}")
    return evolve(owner, **{name: _replaced(getattr(owner, name), below, value) if below else value})


@frozen(kw_only=True)
class Difference:
    """One thing that a profile does in another way than its neighbour: what it is, in words, and the policies.

    What a ticket has ended, or begun, is said with the ticket (``Ticket.differences``), which has source and policies
    for it.

    Attributes:
        title: subject; with ``here`` or ``before`` it reads as one sentence.
        here: the behaviour of the profile.
        before: what ``kafka-2.3`` does; "" where a difference of another profile with the same title says so.
        source: the KIP or document, and the release that it came with.
        policies: policies of the profile, by their places in the bundle.
    """

    title: str
    here: str
    before: str = ""
    source: str = ""
    policies: Mapping[str, Any] = field(factory=dict)


def message_format(version: str, before: str = "") -> Difference:
    """The difference that ``version`` is the message format of a release."""
    return Difference(
        title="message.format.version is, by default,",
        here=version,
        before=before,
        source="ApiVersion.latestVersion, 1.1.1 to 3.0.2",
        policies={"brokers.message_format": version},
    )


def api_versions(release: str, here: str, source: str, before: str = "") -> Difference:
    """The difference that a release announces its own versions of APIs."""
    title, policies = "clients find the versions of APIs of", {"brokers.api_versions": release}
    return Difference(title=title, here=here, before=before, source=source, policies=policies)


@frozen(kw_only=True)
class Profile:
    """One release, or one document, by name.

    Attributes:
        release: the release that it is, or that the document is written for: ``2.3.1``.
        help: description in one line.
        policies: policies of each floor.
        neighbour: the profile that it is written after; None for the one that is written in full.
        differences: the differences from the neighbour.
        strategy: how that release moves partitions; what a scenario gets that names no strategy.
        election_tool: how its tool asks for preferred leader elections: zk, by a znode, or api (2.4, KIP-460).
        tool: how its kafka-reassign-partitions asks for moves: zk, by /admin/reassign_partitions, or api (2.6,
            KAFKA-8820).
        defaults: broker settings whose default differs from that of Kafka 2.3 (kafka-behaviour §10).
        session_timeout_us: zookeeper.session.timeout.ms where the scenario states none.
        registration: the version of /brokers/ids/N that its brokers write.
        also_knows: settings that it has and not every other profile.
        leaves_out: what the release does and this version of Understudy does not do for it, a line each.
    """

    name: str
    help: str
    release: str
    policies: Policies
    neighbour: Profile | None = None
    differences: tuple[Difference, ...] = ()
    strategy: str = "wiki"
    election_tool: str = "zk"
    tool: str = "zk"
    defaults: Mapping[str, ConfigValue] = field(factory=dict)
    session_timeout_us: int = 6_000_000
    registration: int = 4
    also_knows: tuple[str, ...] = ()
    leaves_out: tuple[str, ...] = ()

    def with_differences(
        self,
        *differences: Difference,
        name: str,
        help: str,
        gains_metrics: frozenset[str] = frozenset(),
        lacks_metrics: frozenset[str] = frozenset(),
        also_knows: tuple[str, ...] = (),
        leaves_out: tuple[str, ...] = (),
        **changes: Any,
    ) -> Profile:
        """A neighbour of this profile.

        Args:
            gains_metrics: names of metrics that it has and this profile has not; ``lacks_metrics`` the reverse.
            changes: release, strategy, tools, defaults, session timeout and registration, where they are not the
                same.
        """
        policies = reduce(lambda policies, one: policies.changed(one.policies), differences, self.policies)
        metrics = (policies.brokers.lacks_metrics - gains_metrics) | lacks_metrics
        return evolve(
            self,
            name=name,
            help=help,
            policies=policies.changed({"brokers.lacks_metrics": metrics}),
            neighbour=self,
            differences=differences,
            also_knows=also_knows,
            leaves_out=leaves_out,
            **changes,
        )

    @property
    def scala_builds(self) -> tuple[str, ...]:
        """The builds that the release has: that for Scala 2.13 since 2.4 (KAFKA-7197). Scala's collections had the same
        order before 2.12."""
        return (SCALA_2_12,) if is_before(self.release, "2.4") else (SCALA_2_12, SCALA_2_13)

    def chain(self) -> Iterator[Profile]:
        """This profile, its neighbour, the neighbour of that, and so on."""
        yield self
        if self.neighbour is not None:
            yield from self.neighbour.chain()

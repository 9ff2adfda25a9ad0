"""The profiles a scenario may name (readings §1): which Kafka release's behaviour the brokers and the
controller show, and what a scenario that leaves something out gets from it.

What each means on the floors below is in `scenarios.profiles.releases`; docs/profiles.md is rendered from both.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.language.configs import BROKER_SETTINGS, ConfigValue

DEFAULT_PROFILE = "kafka-2.3"


@frozen(kw_only=True)
class Profile:
    """One release, or one document, by name.

    Attributes:
        help: what it is, in one line.
        strategy: how that release moves partitions by itself; what a scenario gets that names no strategy.
        election_tool: the way of its tool for preferred elections: zk, by a znode, or api (2.4, KIP-460).
        tool: the way of its kafka-reassign-partitions: zk, by /admin/reassign_partitions, or api (2.6, KAFKA-8820).
        defaults: broker settings whose default differs from that of Kafka 2.3 (kafka-behaviour §10).
        session_timeout_us: zookeeper.session.timeout.ms where the scenario states none.
        deletes_topics: whether its controller can delete topics; it came with 0.8.1.
        also_knows: the settings that it has and not every other (``profile_checks``).
        counts_acks: whether acks above 1 asks for that many replicas; it went with 0.9.
        tells_moves: whether brokers are told by any protocol which replicas a move adds (KIP-352's draft).
        alters_isr: whether its leaders ask the controller for their ISRs (2.7, KIP-497).
        leaves_out: what the release does and this version of Understudy does not do for it, a line each.
    """

    name: str
    help: str
    strategy: str = "wiki"
    election_tool: str = "zk"
    tool: str = "zk"
    defaults: Mapping[str, ConfigValue] = field(factory=dict)
    session_timeout_us: int = 6_000_000
    leaves_out: tuple[str, ...] = ()
    deletes_topics: bool = True
    also_knows: tuple[str, ...] = ()
    counts_acks: bool = False
    tells_moves: bool = False
    alters_isr: bool = False

    def settings(self, stated: Mapping[str, ConfigValue]) -> dict[str, ConfigValue]:
        """Every broker setting: what a scenario states, else this release's default."""
        return {
            name: stated.get(name, self.defaults.get(name, setting.default))
            for name, setting in BROKER_SETTINGS.items()
        }


_KIP_537 = {"replica.lag.time.max.ms": 30_000}
_KIP_537_SESSION_US = 18_000_000

PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="kafka-2.3",
            help="the default: the wiki's 12 steps and KIP-461's failed partitions",
        ),
        Profile(
            name="wiki-text",
            help="kafka-2.3 with step 7's recipients and the replica states as the wiki page has them",
            deletes_topics=False,
        ),
        Profile(
            name="kip-461",
            help="kafka-2.3 with the KIP's literal rule for a thread whose partitions all failed",
        ),
        Profile(
            name="kip-352-draft",
            help="kafka-2.3 with the draft's current and impending replicas",
            tells_moves=True,
        ),
        Profile(
            name="kafka-0.8",
            help="0.8.0: KAFKA-42's 7 steps, four replica states, no epochs that fence",
            strategy="kafka-42",
            deletes_topics=False,
            also_knows=("replica.lag.max.messages",),
            counts_acks=True,
            defaults={
                "unclean.leader.election.enable": True,
                "auto.leader.rebalance.enable": False,
                "controlled.shutdown.enable": False,
            },
            leaves_out=(
                "StopReplica deletes the log, which 0.8.0 left on the disk",
                "a control request is sent until it is answered, where 0.8.0 tried once",
                "fetch errors are retried after replica.fetch.backoff.ms, of 0.9 (KAFKA-1461); 0 is 0.8's way",
                "one lock and synchronous ZooKeeper calls: the controller has the event queue of 0.11 (KAFKA-5028)",
                "fetch requests: sessions are used, which came with 1.1 (KIP-227)",
                "a write that waits when the controller loses its session fails; ZkClient made it in the next one",
                "settings that came later take effect where a scenario states them, as min.insync.replicas (0.8.2)",
            ),
        ),
        Profile(
            name="kafka-1.1",
            help="1.1: the wiki's 12 steps, no fenced writes, no broker epochs, no KIP-461",
            leaves_out=(
            ),
        ),
        Profile(
            name="kafka-2.4",
            help="2.4: adding and removing replicas, override and cancel (KIP-455)",
            strategy="kip-455",
            election_tool="api",
        ),
        Profile(
            name="kafka-2.5",
            help="2.5: kafka-2.4 with longer timeouts (KIP-537)",
            strategy="kip-455",
            election_tool="api",
            defaults=_KIP_537,
            session_timeout_us=_KIP_537_SESSION_US,
        ),
        Profile(
            name="kafka-2.6",
            help="2.6: kafka-2.5 with leader epochs in StopReplica (KIP-570)",
            strategy="kip-455",
            election_tool="api",
            tool="api",
            defaults=_KIP_537,
            session_timeout_us=_KIP_537_SESSION_US,
        ),
        Profile(
            name="kafka-2.7",
            help="2.7: kafka-2.6 with ISRs changed by the controller (KIP-497)",
            alters_isr=True,
            strategy="kip-455",
            election_tool="api",
            tool="api",
            defaults=_KIP_537,
            session_timeout_us=_KIP_537_SESSION_US,
        ),
    )
}


def check_profile(name: str) -> str:
    """`name` itself when there is such a profile; `BadInput` otherwise."""
    if name not in PROFILES:
        raise BadInput(f"unknown profile {name!r}; {did_you_mean(name, PROFILES)}")
    return name

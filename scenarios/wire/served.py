"""Facts about a live run's cluster that clients are given and its brokers do not know by themselves."""

import base64
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from controller.reassignment.protocol import RequestedByApi
from emulator.protocol.events import Fault
from emulator.zookeeper import ZOOKEEPER
from scenarios.faults.request_faults import ClientRequest, RequestFault, RequestFaults
from scenarios.profiles.profile_registry import PROFILES
from scenarios.runs.runner import Stage
from scenarios.wire.apis.base import Address, ServedCluster
from scenarios.wire.inputs import PLAINTEXT
from scenarios.wire.listener_addresses import written
from scenarios.wire.released_versions import released
from scenarios.wire.versions import announced

if TYPE_CHECKING:
    from scenarios.wire.security.secured_as import SecuredAs

PROFILE = "kafka-2.7"
"""The profile of a served cluster whose file, if there is one, names none: a release in which admin clients can move
partitions."""
KIP_455 = (45, 46)
"""AlterPartitionReassignments and ListPartitionReassignments. They are not announced if the controller takes moves from
ZooKeeper only."""


def served_cluster(
    stage: Stage,
    addresses: Mapping[int, Address],
    api_versions: str,
    listens: Mapping[int, Address] | None = None,
    secured: "SecuredAs | None" = None,
) -> ServedCluster:
    """The cluster of a stage.

    Args:
        addresses: the addresses of the brokers, as clients are given them.
        listens: the addresses at which the brokers and ZooKeeper listen; None: those that clients are given.
        api_versions: the release whose versions they announce.
        secured: the listeners beside PLAINTEXT; None: there are none.
    """
    setup, scenario = stage.cluster.setup, stage.scenario
    digest = hashlib.sha256(f"{scenario.title}/{scenario.seed}".encode()).digest()
    cluster_id = base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")
    own = setup.broker.policies.api_versions
    has, versions = released(api_versions), announced(api_versions, own)
    if not isinstance(setup.controller.reassignment, RequestedByApi):
        # Clients then say themselves that the brokers do not have it.
        versions = {key: found for key, found in versions.items() if key not in KIP_455}
    at, dirs = {**addresses, **(listens or {})}, ",".join(setup.log_dirs)
    listeners = {} if secured is None else secured.addresses
    advertised_at = {PLAINTEXT: addresses, **listeners}
    listens_at = {PLAINTEXT: at, **({} if secured is None else secured.listens)}
    stated = {
        broker: {
            "advertised.listeners": _listed(broker, advertised_at),
            "broker.id": str(broker),
            **({"broker.rack": setup.rack_of[broker]} if broker in setup.rack_of else {}),
            "listeners": _listed(broker, listens_at),
            "log.dirs": dirs,
            **({} if secured is None else secured.stated),
            **({"zookeeper.connect": written(at[ZOOKEEPER])} if ZOOKEEPER in at else {}),
        }
        for broker in addresses
    }
    logins = None if secured is None else secured.logins(setup.broker.policies.config, api_versions)
    registration = PROFILES[scenario.profile].registration
    return ServedCluster(
        cluster_id, addresses, setup.rack_of, versions, registration,
        stated=stated, faults=_faults(stage), released=has, listeners=listeners,
        logins=logins, scram={} if logins is None else logins.scram,
    )  # fmt: skip


def _listed(broker: int, at: Mapping[str, Mapping[int, Address]]) -> str:
    """The listeners of one broker, as its settings have them."""
    return ",".join(f"{listener}://{written(addresses[broker])}" for listener, addresses in at.items())


def _faults(stage: Stage) -> RequestFaults:
    """The faults on requests of a run; each request that one hits is in the trace."""
    faults, trace = stage.performer.memory(RequestFaults), stage.cluster.trace

    def hit(fault: RequestFault, asked: ClientRequest) -> None:
        detail = f"{asked.api} to broker {asked.broker} is {fault.effect}"
        trace.emit(Fault, fault.entry.name, asked.client, f"{detail} ({fault.name})")

    faults.hit = hit
    return faults

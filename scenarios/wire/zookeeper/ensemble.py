"""The common part of all connections to the served ZooKeeper: the machine that they come from, their sessions, the
stats of znodes that the emulated tree lacks, and the znodes that no emulated broker creates."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from attrs import define, field

from emulator.network import NO_DELAY
from emulator.nodes import Node
from emulator.protocol.znodes import PERSISTENT_PATHS
from emulator.trace.events import ZkSession, ZkWritten
from emulator.zookeeper import ZOOKEEPER, Multi, Request, Stat, ZkResponse
from emulator.zookeeper.server import ZooKeeper
from scenarios.cluster.cluster import Cluster
from scenarios.wire.apis.base import ServedCluster

if TYPE_CHECKING:
    from scenarios.wire.zookeeper.payloads import Payloads

CLIENT = "zookeeper-client"
"""The name of the machine that all connections to ZooKeeper come from: its protocol has no ``client.id``."""
MOST_HELD = 64 << 20
"""The most bytes, approximately, that clients can have in znodes of their own at a time."""
_ZNODE = 500
"""The approximate bytes of a znode apart from its path and data."""
MOST_SESSIONS = 10_000
"""The most sessions of clients at a time: a session without a client goes on until its timeout."""
MOST_WATCHES = 100_000
"""The most paths that all clients together can watch."""
PASSWORD_BYTES = 16
_LEAST_TICKS, _MOST_TICKS = 2, 20
"""The least and the most ticks of a session's timeout (minSessionTimeout, maxSessionTimeout)."""

_EMPTY_PATHS = ("/consumers", "/brokers/seqid", "/config/clients", "/config/users", "/zookeeper", "/zookeeper/quota")
"""The znodes beside those of ``PERSISTENT_PATHS`` that a cluster has (kafka.zk.ZkData.PersistentZkPaths; DataTree)."""
_WITH_FEATURES = 5
"""The version of a registration since which a cluster has /feature (KIP-584, 2.7)."""

WireStat = Mapping[str, int]


@define(eq=False)
class ServedZooKeeper:
    """The served ZooKeeper of one cluster.

    Attributes:
        machine_of: returns the machine of a client, by name.
        held: the size of each znode that clients have created, by path.
        watches: the number of paths that the connections watch.
    """

    cluster: Cluster
    served: ServedCluster
    machine_of: Callable[[str], Node]
    held: dict[str, int] = field(factory=dict)
    watches: int = 0
    _held_size: int = 0
    _machine: Node | None = None
    _payloads: "Payloads | None" = None
    _times: dict[str, tuple[int, int]] = field(factory=dict)
    """The times when each znode was created, and its data last changed, in milliseconds."""
    _sessions: dict[int, None] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.cluster.trace.fold(ZkWritten, self._written)
        self.cluster.trace.fold(ZkSession, self._session)

    # -- the machine --------------------------------------------------------------------------------------------------

    @property
    def machine(self) -> Node:
        """The machine that connections come from. Its messages take no time unless a fault delays them."""
        found = self._machine
        if found is None:
            found = self._machine = self.machine_of(CLIENT)
            for ends in ((found.id, ZOOKEEPER), (ZOOKEEPER, found.id)):
                self.cluster.network.route(*ends).set_delay(NO_DELAY)
            self.cluster.zookeeper.server.hooks.append(self._describe)
            self._complete()
        return found

    def _complete(self) -> None:
        """Create the znodes that a real cluster has and no emulated broker needs."""
        values = dict.fromkeys((*PERSISTENT_PATHS, *_EMPTY_PATHS), "")
        values["/cluster/id"] = json.dumps({"version": "1", "id": self.served.cluster_id}, separators=(",", ":"))
        if self.served.registration >= _WITH_FEATURES:
            values["/feature"] = '{"features":{},"version":1,"status":1}'
        for path, data in values.items():
            if path not in self.zookeeper.tree.nodes:
                self.zookeeper.seed(path, data)

    @property
    def payloads(self) -> "Payloads":
        """The conversion of the contents of znodes."""
        if self._payloads is None:
            from scenarios.wire.zookeeper.payloads import Payloads  # most served clusters have no client of ZooKeeper

            served = self.served
            server = self.cluster.setup.broker.server
            self._payloads = Payloads(served.addresses, served.registration, server, served.listeners)
        return self._payloads

    @property
    def zookeeper(self) -> ZooKeeper:
        return self.cluster.zookeeper

    @property
    def zxid(self) -> int:
        """The last transaction."""
        return self.zookeeper.server.database.zxid

    # -- sessions -----------------------------------------------------------------------------------------------------

    def timeout_us(self, wanted_ms: int) -> int:
        """The timeout of a session whose client requests ``wanted_ms``."""
        tick_us = self.zookeeper.server.spec.tick_us
        return min(max(wanted_ms * 1000, _LEAST_TICKS * tick_us), _MOST_TICKS * tick_us)

    def password(self, session: int) -> bytes:
        """The password by which the client of a session takes it over to another connection."""
        return hashlib.sha256(f"{self.served.cluster_id}/{session}".encode()).digest()[:PASSWORD_BYTES]

    @property
    def has_too_many_sessions(self) -> bool:
        """Whether no more clients can begin a session."""
        return len(self._sessions) >= MOST_SESSIONS

    def is_own(self, session: int, password: bytes | None) -> bool:
        """Whether this is a session that began here, and its password."""
        return session in self._sessions and password == self.password(session)

    def _session(self, event: ZkSession) -> None:
        if self._machine is not None and event.client == self._machine.id:
            if event.state == "created":
                self._sessions[event.session] = None
            else:
                self._sessions.pop(event.session, None)

    # -- znodes -------------------------------------------------------------------------------------------------------

    @property
    def is_full(self) -> bool:
        """Whether clients have as many bytes in znodes of their own as they may have."""
        return self._held_size >= MOST_HELD

    def _written(self, event: ZkWritten) -> None:
        path, now_ms = event.path, (self.cluster.epoch_us + event.t_us) // 1000
        if event.op == "delete":
            self._times.pop(path, None)
            self._held_size -= self.held.pop(path, 0)
            return
        created_ms = now_ms if event.op == "create" else self._times.get(path, (0, 0))[0]
        self._times[path] = created_ms, now_ms
        if self._machine is not None and event.client == self._machine.id:
            size = len(path) + len(event.data) + _ZNODE
            self._held_size += size - self.held.get(path, 0)
            self.held[path] = size

    def _describe(self, client: int, request: Request, response: ZkResponse) -> None:
        """Add the stats of this moment to an answer, before ZooKeeper sends it to a client from outside."""
        if self._machine is None or client != self._machine.id:
            return
        for each in response.results if isinstance(request, Multi) else (response,):
            if each.stat is not None:
                each.details = self._stat(each.path, each.data, each.stat)

    def _stat(self, path: str, data: str, found: Stat) -> WireStat:
        # A znode that a multi creates and deletes again does not exist any more.
        node = self.zookeeper.tree.nodes.get(path)
        created_ms, changed_ms = self._times.get(path, (0, 0))
        held = self.payloads.to_client(path, data if node is None else node.data)
        return {
            "czxid": found.czxid, "mzxid": found.mzxid, "ctime": created_ms, "mtime": changed_ms,
            "version": found.version, "cversion": found.cversion, "aversion": 0,
            "ephemeral_owner": found.ephemeral_owner, "data_length": len(held or b""),
            "num_children": found.num_children, "pzxid": found.czxid if node is None else node.pzxid,
        }  # fmt: skip

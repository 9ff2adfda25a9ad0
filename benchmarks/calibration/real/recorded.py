"""The facts of a real cluster: its ZooKeeper's transaction log and its brokers' request logs."""

from collections.abc import Iterable, Iterator
from hashlib import sha256

from benchmarks.calibration.facts import COUNTED, TOOL, ZOOKEEPER, Count, Fact, Log, Write, compared
from benchmarks.calibration.real.cluster import RealCluster
from benchmarks.calibration.real.requests import requests
from benchmarks.calibration.real.transactions import Transaction, transactions

BROKERS = "/brokers/ids/"


def facts(cluster: RealCluster) -> Iterator[Fact]:
    """Writes first, then requests by broker: each list is in order, and they are not compared with one another."""
    yield from writes(list(transactions(cluster.transactions)))
    for broker in range(cluster.brokers):
        log = cluster.requests(broker)
        if log.exists():
            yield from requests(broker, log)


def logs(cluster: RealCluster) -> Iterator[Log]:
    """The contents of the replicas on the disks."""
    for broker in range(cluster.brokers):
        for folder in sorted(cluster.log_dir(broker, 0).glob("*-[0-9]*")):
            topic, _, number = folder.name.rpartition("-")
            epochs = (folder / "leader-epoch-checkpoint").read_text().split("\n")[2:]  # after version and count
            content = sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))).hexdigest()
            found = tuple(int(line.split()[0]) for line in epochs if line)
            yield Log(broker, topic, int(number), found, content[:8])


def counts(cluster: RealCluster) -> Iterator[Count]:
    """The brokers' metrics by JMX."""
    from benchmarks.mbeans.__main__ import shown

    for broker in range(cluster.brokers):
        for line in sorted(shown(cluster, broker, "Count")):
            metric, _, value = line.partition("\t")
            if COUNTED.fullmatch(metric):
                yield Count(broker, metric, int(value))


def writes(log: Iterable[Transaction]) -> Iterator[Write]:
    """Each transaction as a write; the end of a session as the deletion of its ephemeral znodes."""
    log = list(log)
    owners = _owners(log)
    ephemerals: dict[int, dict[str, None]] = {}
    for each in log:
        by = owners.get(each.session, TOOL)
        own = ephemerals.setdefault(each.session, {})
        if each.op == "close":
            for path in ephemerals.pop(each.session):
                yield Write(ZOOKEEPER, "delete", path, 0, "")
            continue
        if each.ephemeral:
            own[each.path] = None
        elif each.op == "delete":
            for paths in ephemerals.values():
                paths.pop(each.path, None)
        yield Write(by, each.op, each.path, each.version, compared(each.path, each.data))


def _owners(log: Iterable[Transaction]) -> dict[int, int]:
    """The brokers' sessions."""
    return {
        each.session: int(each.path.removeprefix(BROKERS))
        for each in log
        if each.op == "create" and each.path.startswith(BROKERS)
    }


def expiries(cluster: RealCluster, kills: Iterable[tuple[int, float]]) -> tuple[float, ...]:
    """Seconds from each kill to the end of the broker's session."""
    log = list(transactions(cluster.transactions))
    owners = _owners(log)
    found = []
    for broker, at_s in kills:
        ends = (each.time_ms / 1000 - at_s for each in log if each.op == "close" and owners.get(each.session) == broker)
        found += [round(after_s, 1) for after_s in ends if after_s >= 0][:1]
    return tuple(found)

"""``python -m benchmarks.announced RELEASE...``: start one real broker of each release with ZooKeeper, on loopback, ask
it for ApiVersions, send it a request of each API that needs security, and keep the answers (Java 17, Maven, which
fetches what is missing).
"""

import argparse
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from struct import Struct
from typing import Any

from benchmarks.announced.recorded import RECORDED, Answers, read_recorded, write_recorded
from benchmarks.calibration.real.cluster import START_WITHIN_S, RealCluster, running
from benchmarks.calibration.releases import OLD_ZOOKEEPER, RELEASES, RELOAD4J, Release
from benchmarks.program import record_each
from scenarios.wire.codec import APIS, decode_response, encode_request
from scenarios.wire.refusals import WITHOUT_SECURITY

API_VERSIONS, BROKER = 18, 0
SIZE = Struct(">i")
_ANY = {"resource_type": 2, "resource_name": "t", "operation": 3, "permission_type": 3}
WITH_ONE: Mapping[int, Mapping[str, Any]] = {
    29: {
        "resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1, "principal_filter": None,
        "host_filter": None, "operation": 1, "permission_type": 1,
    },
    30: {"creations": [{**_ANY, "principal": "User:a", "host": "*"}]},
    31: {
        "filters": [
            {
                "resource_type_filter": 1, "resource_name_filter": None, "pattern_type_filter": 1,
                "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1,
            }
        ]
    },
}  # fmt: skip
"""Requests with one element where each element gets an error of its own."""
ASKED = {
    **RELEASES,
    **{
        release.name: release
        for release in (
            Release("0.10.2.2", "kafka-1.1", zookeeper=OLD_ZOOKEEPER),
            Release("0.11.0.3", "kafka-1.1", zookeeper=OLD_ZOOKEEPER),
            Release("3.7.2", "kafka-3.6", scala="2.13", logger=RELOAD4J),
        )
    },
}
"""The releases that can be asked, by name: those that calibration records, and others."""


def ask(release: Release) -> Answers:
    """The answers of a broker of the release. Raises: CannotRecord where it cannot be had or started."""
    with running(release, 1, {}, first=BROKER, request_logs=False) as cluster:
        # It is registered before its port is open.
        cluster.until(lambda: _listens(cluster), "the broker listens", START_WITHIN_S)
        return _answered(cluster)


def _listens(cluster: RealCluster) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", cluster.port(BROKER))) == 0


def _answered(cluster: RealCluster) -> Answers:
    body = _asked(cluster, API_VERSIONS, 0, {})
    announced = {each["api_key"]: (each["min_version"], each["max_version"]) for each in body["api_keys"]}
    codes = {}
    for key in WITHOUT_SECURITY:
        if key in announced:
            version = min(announced[key][1], APIS[key].versions.high)
            (codes[key],) = set(_codes(_asked(cluster, key, version, WITH_ONE.get(key, {}))))
    return Answers(announced, codes)


def _asked(cluster: RealCluster, key: int, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
    with closing(socket.create_connection(("127.0.0.1", cluster.port(BROKER)), 10)) as connection:
        frame = encode_request(key, version, 1, "announced", body)
        connection.sendall(SIZE.pack(len(frame)) + frame)
        stream = connection.makefile("rb")
        (size,) = SIZE.unpack(stream.read(SIZE.size))
        return decode_response(key, version, stream.read(size))[1]


def _codes(value: Any) -> Iterator[int]:
    """The codes of all errors in the body of a response."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from (each,) if name == "error_code" else _codes(each)
    elif isinstance(value, list):
        for each in value:
            yield from _codes(each)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.announced", description=__doc__)
    parser.add_argument("release", nargs="+", choices=tuple(ASKED), metavar="RELEASE", help=f"of {', '.join(ASKED)}")
    parser.add_argument(
        "--file", type=Path, default=RECORDED, help="where answers are kept; that of the tests if absent"
    )
    options = parser.parse_args(argv)
    return record_each("benchmarks.announced", options.release, lambda release: _record(release, options.file))


def _record(release: str, file: Path) -> str:
    found = ask(ASKED[release])
    write_recorded({**read_recorded(file), release: found}, file)
    return f"{len(found.announced)} APIs, {len(found.refused)} of them without security"


if __name__ == "__main__":
    sys.exit(main())

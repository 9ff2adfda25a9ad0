"""``python -m benchmarks.announced RELEASE...``: start one real broker of each release with ZooKeeper, on loopback, ask
it for ApiVersions, and keep the answer (Java 17, Maven, which fetches what is missing).
"""

import argparse
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from struct import Struct

from benchmarks.announced.recorded import RECORDED, read_recorded, write_recorded
from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import START_WITHIN_S, RealCluster, running
from benchmarks.calibration.releases import OLD_ZOOKEEPER, RELEASES, Release
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.released_versions import Versions

API_VERSIONS, BROKER = 18, 0
SIZE = Struct(">i")
RELOAD4J = ("slf4j-reload4j", "1.7.36")
ASKED = {
    **RELEASES,
    **{
        release.name: release
        for release in (
            Release("0.10.2.2", "kafka-1.1", zookeeper=OLD_ZOOKEEPER),
            Release("0.11.0.3", "kafka-1.1", zookeeper=OLD_ZOOKEEPER),
            Release("2.8.2", "kafka-2.8"),
            Release("3.0.2", "kafka-3.0"),
            Release("3.3.2", "kafka-3.0", scala="2.13", logger=RELOAD4J),
            Release("3.6.2", "kafka-3.0", scala="2.13", logger=RELOAD4J),
            Release("3.7.2", "kafka-3.0", scala="2.13", logger=RELOAD4J),
        )
    },
}
"""The releases that can be asked, by name: those that calibration records, and others."""


def ask(release: Release) -> dict[int, Versions]:
    """The versions that a broker of the release announces. Raises: CannotRecord where it cannot be had or started."""
    with running(release, 1, {}, first=BROKER, request_logs=False) as cluster:
        # It is registered before its port is open.
        cluster.until(lambda: _listens(cluster), "the broker listens", START_WITHIN_S)
        return _answered(cluster)


def _listens(cluster: RealCluster) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", cluster.port(BROKER))) == 0


def _answered(cluster: RealCluster) -> dict[int, Versions]:
    with closing(socket.create_connection(("127.0.0.1", cluster.port(BROKER)), 10)) as connection:
        frame = encode_request(API_VERSIONS, 0, 1, "announced", {})
        connection.sendall(SIZE.pack(len(frame)) + frame)
        stream = connection.makefile("rb")
        (size,) = SIZE.unpack(stream.read(SIZE.size))
        _, body = decode_response(API_VERSIONS, 0, stream.read(size))
    return {each["api_key"]: (each["min_version"], each["max_version"]) for each in body["api_keys"]}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.announced", description=__doc__)
    parser.add_argument("release", nargs="+", choices=tuple(ASKED), metavar="RELEASE", help=f"of {', '.join(ASKED)}")
    parser.add_argument(
        "--file", type=Path, default=RECORDED, help="where answers are kept; that of the tests if absent"
    )
    options = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that no process outlives this one
    for name in options.release:
        try:
            found = ask(ASKED[name])
        except CannotRecord as error:
            print(f"benchmarks.announced: {error}", file=sys.stderr)
            return 2
        write_recorded({**read_recorded(options.file), name: found}, options.file)
        print(f"{name}: {len(found)} APIs", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

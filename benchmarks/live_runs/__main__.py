"""``python -m benchmarks.live_runs [--runs N] [--python P] [--keep DIR] [--write]``: do live runs replay exactly?

Each run has a producer and a consumer of a group (confluent-kafka) that attach to three brokers, a partition that moves
and a broker that crashes and starts again; which, and when, is drawn from the number of the run. Each is recorded, and
replayed in this process, in another one with another PYTHONHASHSEED, and by each ``--python``: the events and all bytes
that clients were answered have to be the same. ``--keep`` keeps the recordings that are not.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import define, field
from confluent_kafka import Consumer, Producer

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from scenarios.testing.kafka import KafkaServer, kafka
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun

RATE = 4.0
"""Virtual seconds for each second: ZooKeeper's session time-out passes in a quarter of its time."""
RECORDS = 1500
PAUSE_S = 0.001
LIMIT_S = 60.0


@define
class Outcome:
    """One run: its inputs, its events, and who replayed it otherwise than it was."""

    number: int
    inputs: int
    events: int
    different: list[str] = field(factory=list)


def live(number: int, folder: Path) -> None:
    """A live run, recorded."""
    draws = random.Random(number)
    moved, crashed = draws.sample(range(3), 2)
    with kafka(
        topics={"orders": [[0, 1, 2], [1, 2, 0], [2, 0, 1]]}, rate=RATE, record=folder, seed=number,
        config={"group.initial.rebalance.delay.ms": 0, "offsets.topic.replication.factor": 3},
    ) as server:  # fmt: skip
        received: list[bytes] = []
        stop = threading.Event()
        reader = threading.Thread(target=read, args=(server, received, stop))
        reader.start()
        acted = threading.Thread(target=act, args=(server, draws, moved, crashed))
        acted.start()
        produce(server)
        acted.join()
        late_s = time.monotonic() + LIMIT_S
        while len(set(received)) < RECORDS and time.monotonic() < late_s:
            time.sleep(0.05)
        stop.set()
        reader.join()
        assert len(set(received)) == RECORDS, f"run {number}: {len(set(received))} of {RECORDS} records were read"


def produce(server: KafkaServer) -> None:
    producer = Producer({"bootstrap.servers": server.bootstrap_servers, "client.id": "producer", "acks": "all"})
    failed: list[object] = []

    def delivered(error: object, _: object) -> None:
        if error is not None:
            failed.append(error)

    for record in range(RECORDS):
        producer.produce("orders", b"%d" % record, on_delivery=delivered)
        producer.poll(0)
        time.sleep(PAUSE_S)
    assert producer.flush(LIMIT_S) == 0
    assert not failed, failed[0]


def read(server: KafkaServer, received: list[bytes], stop: threading.Event) -> None:
    settings = {"client.id": "reader", "group.id": "readers", "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": server.bootstrap_servers, **settings})
    consumer.subscribe(["orders"])
    while not stop.is_set():
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            received.append(message.value() or b"")
    consumer.close()


def act(server: KafkaServer, draws: random.Random, moved: int, crashed: int) -> None:
    time.sleep(draws.uniform(0.2, 0.8))
    server.reassign(f"orders-{moved}", [2, 1, 0] if draws.random() < 0.5 else [0, 2, 1])
    time.sleep(draws.uniform(0.05, 0.6))
    server.crash(crashed)
    time.sleep(draws.uniform(0.2, 2))
    server.start(crashed)


def replayed(folder: Path, number: int, pythons: list[str]) -> Outcome:
    recorded = read_live_run(folder)
    replay = ReplayedRun(recorded).play()
    found = Outcome(number, recorded.inputs.count, replay.run.events)
    if not replay.same:
        found.different.append("this process")
    for python in (sys.executable, *pythons):
        if not same_elsewhere(folder, python, str(number + 1)):
            found.different.append(python)
    return found


def same_elsewhere(folder: Path, python: str, hash_seed: str) -> bool:
    """Whether another process replays it."""
    root = Path(__file__).parents[2]
    paths = os.pathsep.join((str(root), str(root / "scenarios" / "package")))
    done = subprocess.run(
        [python, "-m", "understudy", "replay", str(folder), "--format", "json"],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": hash_seed},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not done.stdout:
        raise SystemExit(f"{python}: {done.stderr}")
    same: bool = json.loads(done.stdout)["same_as_live"]
    return same


def outcomes(runs: int, keep: Path | None, pythons: list[str]) -> Iterator[Outcome]:
    for number in range(runs):
        with TemporaryDirectory(prefix="understudy-live-runs-") as temporary:
            folder = Path(temporary) / f"run-{number}"
            live(number, folder)
            found = replayed(folder, number, pythons)
            if found.different and keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                folder.rename(keep / folder.name)
        different = f"; DIFFERENT in {', '.join(found.different)}" if found.different else ""
        print(f"run {number}: {found.inputs} inputs, {found.events} events{different}", flush=True)
        yield found


def main() -> int:
    parser = parser_of("live_runs", __doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--python", action="append", default=[], help="replay with this one, too; repeatable")
    parser.add_argument("--keep", type=Path, help="keep recordings that are not replayed exactly")
    arguments = parser.parse_args()
    found = list(outcomes(arguments.runs, arguments.keep, arguments.python))
    different = [str(one.number) for one in found if one.different]
    inputs, events = sum(one.inputs for one in found), sum(one.events for one in found)
    ways = ["in the process of the live run", "in another one with another PYTHONHASHSEED"]
    ways += [f"with {version(python)}" for python in arguments.python]
    summary = (
        f"{len(found)} live runs with two real clients, a move and a crash, {inputs} inputs and {events} events in "
        f"all: {len(found) - len(different)} have the same events and the same answers when they are replayed, "
        f"{', '.join(ways[:-1])} and {ways[-1]}."
    )
    lines = [machine(f"python -m benchmarks.live_runs --runs {arguments.runs}"), "", summary]
    problems = [f"replayed otherwise: {', '.join(different)}"] if different else []
    return conclude("live_runs", lines, problems, write=arguments.write)


def version(python: str) -> str:
    """The name and version of a Python."""
    return subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    raise SystemExit(main())

"""A schedule is part of a scenario: it changes a run, is replayed bit for bit, and costs nothing where it is fifo."""

import pytest
from attrs import evolve

from emulator.kernel import World
from emulator.protocol.events import BatchesAppended
from scenarios.cluster.cluster import Cluster
from scenarios.cluster.from_scenario import cluster_setup
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.schedules import parse_schedule
from scenarios.runs import run_scenario
from scenarios.runs.runner import Stage
from tests.scenarios.determinism.digests import LIBRARY

DRAWN = ("random", "pct-3", "pos")


def moved(**changes: object) -> Scenario:
    return Scenario.load(LIBRARY / "quick-move.toml").with_overrides(changes)


@pytest.mark.parametrize("schedule", DRAWN)
def test_a_seed_and_a_schedule_are_one_run(schedule: str) -> None:
    scenario = moved(schedule=schedule)
    once, again = run_scenario(scenario), run_scenario(Scenario.loads(scenario.to_toml()))
    assert once.passed
    assert (once.digest, once.run_id) == (again.digest, again.run_id)
    assert run_scenario(moved()).digest != once.digest
    assert run_scenario(moved()).run_id != once.run_id
    assert run_scenario(scenario, seed=99).digest != once.digest
    assert run_scenario(moved(schedule=schedule, schedule_jitter="20ms")).digest != once.digest


def test_fifo_is_what_a_file_without_a_schedule_has() -> None:
    assert moved(schedule="fifo").digest() == moved().digest()
    assert moved(schedule="fifo", schedule_jitter="1s").digest() != moved().digest()
    assert run_scenario(moved(schedule="fifo", schedule_jitter="1s")).digest == run_scenario(moved()).digest


@pytest.mark.parametrize("schedule", DRAWN)
def test_no_message_is_changed_while_it_waits(schedule: str) -> None:
    scenario = moved(schedule=schedule)
    digests = []
    for paranoid in (False, True):
        world = World(1, schedule=parse_schedule(schedule, 10_000))
        cluster = Cluster(world, evolve(cluster_setup(scenario), paranoid=paranoid))

        async def drive(_: Cluster, world: World = world) -> None:
            await world.sleep(5_000_000, background=True)

        world.run(cluster.run, drive)
        digests.append(cluster.trace.digest())
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("pso", "did you mean 'pos'"),
        ("pct", "write pct-1 to pct-20"),
        ("pct-0", "write pct-1"),
        ("pct-D", "write pct-1"),
    ],
)
def test_a_wrong_name_is_refused(wrong: str, right: str) -> None:
    with pytest.raises(BadInput) as refused:
        moved(schedule=wrong)
    assert f"schedule: unknown schedule {wrong!r}" in str(refused.value)
    assert right in str(refused.value)


@pytest.mark.parametrize(
    ("schedule", "latency", "waits_us"),
    [("fifo", "500us", 1_000), ("fifo", "100ms", 200_000), ("pos", "500us", 601_000)],
)
def test_what_holds_at_rest_is_not_asked_while_a_fetch_may_be_late(
    schedule: str, latency: str, waits_us: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fetch that is under way with nothing to ask for does not keep the world unsettled, and the leader may have had
    records for it since. First in, first out it takes the latency, under a schedule its jitter too."""
    seldom = {"topic": "orders", "producerRate": 2, "linger": "5ms", "acks": "1"}
    asked = moved(schedule=schedule, schedule_jitter="300ms", workloads=[seldom], expect=[], steady_state=[])
    stage = Stage(asked.with_overrides({"cluster.network.latency": latency}))
    appended, rested = [0], list[int]()
    stage.cluster.trace.fold(BatchesAppended, lambda event: appended.append(event.t_us))
    monkeypatch.setattr(stage.checkers, "at_rest", lambda now_us: rested.append(now_us - appended[-1]))
    stage.play()
    assert all(gap_us > waits_us for gap_us in rested)
    assert bool(rested) == (waits_us < 500_000)  # a batch comes every half second

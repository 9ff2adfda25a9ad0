"""``record``: a case on a real cluster of a release."""

import shutil
from pathlib import Path

from attrs import evolve

from benchmarks.calibration import recording
from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.facts import BY_TOOL, COUNTS, LOGS, Fact
from benchmarks.calibration.normal import normal
from benchmarks.calibration.real.cluster import RealCluster, running
from benchmarks.calibration.real.player import Player
from benchmarks.calibration.real.recorded import counts, expiries, facts, logs
from benchmarks.calibration.recording import RECORDINGS, THROTTLE, Recording
from benchmarks.calibration.releases import find_release
from scenarios.language import Scenario


def record(case: str, release: str, folder: Path = RECORDINGS, keep: Path | None = None) -> Path:
    """Play a case, and keep what the cluster did; a run that comes out like an earlier one is counted there.

    Args:
        keep: a folder that gets a copy of all logs.

    Raises: CannotRecord.
    """
    scenario = recording.load_case(case)
    if scenario.profile != "kafka-2.3" and not find_release(release).has_reassignment_api:
        raise CannotRecord(f"{case} asks for moves by the API, which {release} does not have (KIP-455, 2.4)")
    new = _play(Recording(case, release, recording.digest(scenario)), scenario, keep)
    found = recording.recordings(case, release, folder)
    for path in found:
        old = recording.read(path)
        if old.scenario != new.scenario:
            path.unlink()
        elif normal(old.facts, settings=True) == normal(new.facts, settings=True):
            recording.write(recording.again(old, new), path)
            return path
    numbers = [int(path.suffixes[-2][1:]) for path in found if path.exists()]
    path = folder / f"{case}-{release}.{max(numbers, default=0) + 1}.jsonl"
    recording.write(new, path)
    return path


def _play(new: Recording, scenario: Scenario, keep: Path | None) -> Recording:
    """``new`` with what the cluster did."""
    spec, timeout_us = scenario.cluster, scenario.cluster.zk.session_timeout_us
    config = {name: str(value).lower() for name, value in spec.config.items()}
    with running(
        find_release(new.release),
        spec.brokers,
        config,
        first=spec.controller,
        log_dirs=spec.log_dirs,
        racks=spec.racks,
        more=("kafka-tools",) if BY_TOOL in scenario.tags else (),
        session_timeout_ms=None if timeout_us is None else timeout_us // 1000,
    ) as cluster:
        player = Player(scenario, cluster)
        try:
            player.play()
        finally:
            if keep is not None:
                shutil.copytree(cluster.folder, keep, ignore=shutil.ignore_patterns("data-*"), dirs_exist_ok=True)
        return evolve(
            new,
            facts=(*facts(cluster), *_in_the_end(cluster, scenario), *player.answers),
            expiries_s=expiries(cluster, player.kills),
            copied=_copied(new.case, player),
        )


def _in_the_end(cluster: RealCluster, scenario: Scenario) -> tuple[Fact, ...]:
    """The logs and metrics, in the cases that compare them."""
    found = logs(cluster) if LOGS in scenario.tags else ()
    return (*found, *(counts(cluster) if COUNTS in scenario.tags else ()))


def _copied(case: str, player: Player) -> tuple[tuple[tuple[float, int], ...], ...]:
    """The curve of the copy, in the case that is about it."""
    return (tuple(player.copied),) if case == THROTTLE else ()

"""The pytest plugin: scenario files as tests, and the fixtures ``cluster`` and ``kafka`` (docs/use/pytest.md).

pytest imports it in every project that has Understudy installed, so it imports the rest only when a scenario file is
collected or the fixture is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

SUFFIX = ".scenario.toml"
FIXTURE = "cluster"
KAFKA = "kafka"
SEED = "seed"
LAST_CLUSTER = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("understudy", "Understudy: an emulated Kafka cluster")
    group.addoption(
        "--understudy-seeds",
        metavar="N",
        help="run each scenario file, and each test that uses the fixture 'cluster', with the seeds 0 to N-1, or A:B; "
        "without it a file with its own seed",
    )
    group.addoption(
        "--understudy-jobs",
        metavar="N",
        type=int,
        default=1,
        help="processes that run the scenario files (default: 1; with pytest-xdist -n is enough)",
    )
    group.addoption(
        "--understudy-strategy",
        metavar="S",
        action="append",
        default=[],
        help="run each scenario file with this strategy instead of its own; repeatable",
    )
    group.addoption(
        "--understudy-plugin",
        metavar="FILE",
        action="append",
        default=[],
        help="import this Python file before scenario files are read (docs/extend/plugins.md); repeatable",
    )
    group.addoption(
        "--understudy-artifacts",
        metavar="DIR",
        default="understudy-artifacts",
        help="where a failed scenario leaves its file, its trace and the shrunk file, a failed test with the fixture "
        "'cluster' its trace, and one with the fixture 'kafka' its recording (default: understudy-artifacts)",
    )
    group.addoption(
        "--understudy-shrink",
        metavar="TIME",
        default="20s",
        help="how long a failed scenario is shrunk, in real time; 0s: not at all (default: 20s)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse wrong options before anything is collected."""
    from scenarios.errors import BadInput
    from scenarios.testing.pytest_plugin.plugin_options import Options

    config.addinivalue_line(
        "markers", "kafka(brokers=3, topics=None, ...): what the fixture kafka serves (understudy.testing.kafka)"
    )
    try:
        config.stash[Options.KEY] = Options.of(config)
    except BadInput as error:
        raise pytest.UsageError(str(error)) from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(SUFFIX):
        return None
    from scenarios.testing.pytest_plugin.scenario_items import ScenarioFile

    return ScenarioFile.from_parent(parent, path=file_path)


# -- the fixture ------------------------------------------------------------------------------------------------------


def _give_cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    """``understudy.testing.cluster``; an ``async def`` test that has it runs in virtual time. Where it fails, the trace
    of the cluster that it has made last is kept."""
    from scenarios.testing.cluster_from_keywords import cluster

    @functools.wraps(cluster)
    def made(*arguments: Any, **more: Any) -> Any:
        instance = request.node.stash[LAST_CLUSTER] = cluster(*arguments, **more)
        return instance

    request.node.stash[LAST_CLUSTER] = None
    yield made
    del request.node.stash[LAST_CLUSTER]


cluster_fixture = pytest.fixture(name=FIXTURE)(_give_cluster)


@pytest.fixture(name=KAFKA)
def kafka_fixture(request: pytest.FixtureRequest) -> Iterator[Any]:
    """``understudy.testing.KafkaServer``: a cluster that real clients attach to while the test runs. The mark
    ``kafka`` says which one. The test fails where the run breaks an invariant. What it has recorded stays where the
    test has failed, beside what other failed tests leave."""
    from scenarios.testing.kafka import kafka
    from scenarios.testing.pytest_plugin.kept import new_recording, without_empty

    mark = request.node.get_closest_marker(KAFKA)
    given = {} if mark is None else mark.kwargs
    own = None if "record" in given else new_recording(request.node)
    try:
        with kafka(*(() if mark is None else mark.args), **{"record": own, **given}) as server:
            server.keep = "record" in given
            yield server
    finally:
        if own is not None:
            without_empty(own)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each of ``--understudy-seeds``, where a test uses the fixture and has an argument ``seed``."""
    from scenarios.testing.pytest_plugin.plugin_options import Options

    seeds = metafunc.config.stash[Options.KEY].seeds
    given = {name for mark in metafunc.definition.iter_markers("parametrize") for name in _names(mark.args[0])}
    if _has_the_fixture(metafunc.definition) and SEED in metafunc.fixturenames and SEED not in given:
        metafunc.parametrize(SEED, [0] if seeds is None else list(seeds))


def _has_the_fixture(item: pytest.Function) -> bool:
    """Whether the test uses this plugin's fixture, and not another one of that name."""
    if FIXTURE not in item.fixturenames:
        return False
    found = item.session._fixturemanager.getfixturedefs(FIXTURE, item)
    return found is not None and found[-1].func is _give_cluster


def _names(argument: Any) -> list[str]:
    return [name.strip() for name in argument.split(",")] if isinstance(argument, str) else list(argument)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let asynchronous tests that use the fixture run in virtual time, before another plugin takes them for its own."""
    import inspect

    for item in items:
        if isinstance(item, pytest.Function) and _has_the_fixture(item) and inspect.iscoroutinefunction(item.obj):
            from scenarios.testing.virtual_time import in_virtual_time

            item.obj = in_virtual_time(item.obj)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Name the seed and the command that repeats it beside the failure of a test in virtual time."""
    report = yield
    if report.when == "call" and report.failed and isinstance(item, pytest.Function) and _has_the_fixture(item):
        again = f"python -m pytest '{item.nodeid}'{_seed_option(item)}"
        report.sections.append(("replay", again))
        last = item.stash.get(LAST_CLUSTER, None)
        if last is not None:
            from scenarios.testing.pytest_plugin.kept import folder_of, keep_driven

            report.sections.append(
                ("what the cluster did", keep_driven(folder_of(item), last, report.longreprtext, again))
            )
    served = getattr(item, "funcargs", {}).get(KAFKA)
    recording = getattr(served, "recording", None)
    if served is not None and recording is not None and report.when in ("setup", "call") and report.failed:
        served.keep = True
        report.sections.append(("what the cluster did", f"understudy replay {recording}"))
    return report


def _seed_option(item: pytest.Function) -> str:
    seed = item.callspec.params.get(SEED) if hasattr(item, "callspec") else None
    return f" --understudy-seeds {seed}:{seed + 1}" if isinstance(seed, int) else ""

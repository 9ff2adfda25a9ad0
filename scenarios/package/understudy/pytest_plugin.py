"""The pytest plugin, which pytest finds by its entry point (docs/use/pytest.md)."""

from scenarios.testing.pytest_plugin import (
    cluster_fixture,
    kafka_fixture,
    pytest_addoption,
    pytest_collect_file,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
    pytest_runtest_makereport,
)

__all__ = [
    "cluster_fixture",
    "kafka_fixture",
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_runtest_makereport",
]

"""The releases that the cases are compared with."""

import pytest

RELEASE = "kafka-2.4"
"""For a case that no release does otherwise."""
_OF_2 = (
    "kafka-2.3",
    "kafka-2.4",
    "kafka-2.5",
    "kafka-2.6",
    "kafka-2.7",
    "kafka-2.8",
    "kafka-3.0",
    "kafka-3.3",
    "kafka-3.6",
    "kafka-3.9",
)
RELEASES = pytest.mark.parametrize("release", _OF_2)
WITH_API = pytest.mark.parametrize("release", _OF_2[1:])
"""The releases that have AlterPartitionReassignments and ElectLeaders."""

"""What measuring needs to know of a cluster and its events do not tell."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, frozen


@frozen(kw_only=True)
class Measured:
    """The cluster that is measured.

    Attributes:
        min_isr: topic to its min.insync.replicas at the start, where it has one of its own.
        default_min_isr: the brokers' min.insync.replicas at the start.
        keep_rows: keep the rows for the data set; without them only the figures remain.
    """

    min_isr: Mapping[str, int] = Factory(dict)
    default_min_isr: int = 1
    keep_rows: bool = True

"""The settings of a cluster that its measures need and its events do not carry."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, frozen


@frozen(kw_only=True)
class Measured:
    """The cluster that is measured.

    Attributes:
        min_isr: topic to its min.insync.replicas at the start, where the topic sets it.
        default_min_isr: the brokers' min.insync.replicas at the start.
        keep_rows: keep the rows for the data set; without them only the figures remain.
    """

    min_isr: Mapping[str, int] = Factory(dict)
    default_min_isr: int = 1
    keep_rows: bool = True

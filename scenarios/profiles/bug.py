"""A bug switch: a policy as it was before a fix, named after the ticket of the fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen


@frozen(kw_only=True)
class Bug:
    """A bug that Kafka had, which a scenario can switch back on in any profile: ``bugs = ["KAFKA-7128"]``.

    Attributes:
        ticket: its name: the ticket or KIP that ended it.
        title: what was wrong, in one line without a full stop.
        affected: the releases that had it and the first that has not, such as ``up to 2.0.0; fixed in 2.0.1``.
        happened: what happened in Kafka, step by step, and who met it, in some sentences.
        here: how it looks in Understudy: what the switch puts back, and what the checker sees.
        checker: the checker that sees it. also: the others that see its case, in the order in which they do.
        policies: what it puts back, by place in the bundle (``Policies``), as in a ``Difference``.
        trigger: what a random run would have to draw for it; "" where chaos finds it without help.
        case: of a plug-in's bug, the file of a minimal scenario in which ``checker`` sees it; "" where there is none.
            The museum has the cases of its own bugs.
        source: classes and releases of Kafka that were read for it.
    """

    ticket: str
    title: str
    affected: str
    happened: str
    here: str
    checker: str
    also: tuple[str, ...] = ()
    policies: Mapping[str, Any]
    trigger: str = ""
    case: str = ""
    source: str

"""Events of a scenario's actions, and of violations that checkers find."""

from typing import NamedTuple


class Fault(NamedTuple):
    """The scenario performed ``action`` (readings §1) on ``target``."""

    t_us: int
    seq: int
    cause: int
    action: str
    target: str
    detail: str


class Violated(NamedTuple):
    """A checker found a broken invariant."""

    t_us: int
    seq: int
    cause: int
    invariant: str
    statement: str

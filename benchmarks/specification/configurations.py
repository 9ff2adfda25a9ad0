"""The configurations: what may happen in each, what has to hold, and what is known to be found.

``text`` is the file that TLC reads; docs/specification has it as `NAME.cfg`.
"""

from attrs import field, frozen

from scenarios.observe.specification.constants import CONSTANTS, MEANT, true_in

BOUNDS = (
    "Records", "Deaths", "Expiries", "Failovers", "Zombies", "Elections", "Shrinks", "Resends", "Moves", "Cancels",
)  # fmt: skip
SAFETY = (
    "LeaderCompleteness", "IsrCompleteness", "OneRecordAnOffset", "HighWatermarks", "LeaderInIsr", "OneWriter",
    "OarRecoverable", "MetadataFresh", "MoveNotLost",
)  # fmt: skip
AT_REST = ("NoneLostOrStray", "LeaderAndIsrAssigned")
GIVEN_UP = ("OnlyLastIsGivenUp", "GivenUpForGood")


@frozen(kw_only=True)
class Configuration:
    """One run of TLC.

    Attributes:
        asks: the question, for readers.
        release: whose constants; ``meant`` for none.
        corrected: constants that are FALSE although the release has them.
        bounds: how often a thing may happen, where it is not 0; a move is asked for once unless it says otherwise.
        invariants: properties of each state; if absent, the one that is known not to hold.
        properties: properties of whole behaviours; they are checked under fairness.
        constraints: states outside are not followed.
        finds: the property that is known not to hold; none where all hold.
    """

    name: str
    asks: str
    release: str = MEANT
    corrected: tuple[str, ...] = ()
    protocol: str = "wiki"
    before: str = "12"
    after: str = "23"
    bounds: dict[str, int] = field(factory=dict)
    properties: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    finds: str | None = None
    invariants: tuple[str, ...] = field()

    @invariants.default
    def _found(self) -> tuple[str, ...]:
        return () if self.finds is None or self.properties else (self.finds,)

    @property
    def true(self) -> frozenset[str]:
        """The constants that are TRUE."""
        return true_in(self.release) - set(self.corrected)

    @property
    def text(self) -> str:
        """The configuration as TLC reads it."""
        limits = dict.fromkeys(BOUNDS, 0) | {"Moves": 1} | self.bounds
        lines = [
            f"\\* {self.asks}",
            "\\* Written by python -m benchmarks.specification --render",
            f"SPECIFICATION {'FairSpec' if self.properties else 'Spec'}",
            "CONSTANTS",
            "  Brokers = {1, 2, 3}",
            "  Controllers = {c1, c2}",
            f"  Before <- Replicas{self.before}",
            f"  After <- Replicas{self.after}",
            f'  Protocol = "{self.protocol}"',
            *(f"  Max{name} = {limits[name]}" for name in BOUNDS),
            *(f"  {constant.name} = {str(constant.name in self.true).upper()}" for constant in CONSTANTS),
            *(() if self.properties else ("SYMMETRY AnyControllerIsAny",)),  # TLC's liveness is unsound with symmetry
            *(f"CONSTRAINT {name}" for name in self.constraints),
            *(f"INVARIANT {name}" for name in self.invariants),
            *(f"PROPERTY {name}" for name in self.properties),
            "CHECK_DEADLOCK FALSE",
        ]
        return "\n".join(lines) + "\n"

"""The outcome of an operator's command."""

from attrs import frozen

from emulator.protocol.errors import Errors


@frozen
class CommandOutcome:
    """The errors of a command, from the tool itself or from the cluster.

    Attributes:
        errors: each thing that was refused, in words, with its code.
    """

    errors: tuple[tuple[str, Errors], ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """``orders-0: NO_REASSIGNMENT_IN_PROGRESS``, and so on."""
        return tuple(f"{what}: {error.name}" for what, error in self.errors)


DONE = CommandOutcome()

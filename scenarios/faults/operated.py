"""Actions that the operator's tools carry out: a command is started now and judged when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from scenarios.cluster.clients.tools.command_outcome import CommandOutcome
from scenarios.faults.performer import ActionContext, Memory, PerformedAction
from scenarios.language.schema.kinds import Choice
from scenarios.language.schema.table_reader import key

if TYPE_CHECKING:
    from emulator.protocol.errors import Errors
    from scenarios.cluster.clients.tools.executor import Executor

Judge = Callable[[CommandOutcome], None]


@define(eq=False)
class Executions(Memory):
    """The plans that the operator carries out in parts (``scenarios.faults.actions.reassignments``)."""

    executors: list[Executor] = field(factory=list)


@frozen(kw_only=True)
class OperatorAction(PerformedAction):
    """An action of the operator with one of Kafka's tools."""

    @property
    def expected_error(self) -> str | None:
        """The error code that the command has to be answered with; None: it has to succeed."""
        return None

    def begin(self, context: ActionContext, *command: Any, done: Judge | None = None) -> None:
        """Have the operator begin a command (a function and its arguments); ``done`` judges its outcome."""
        context.cluster.operator.begin(*command, done=done or self.judge(context))

    def judge(self, context: ActionContext) -> Judge:
        """The judge of an outcome: an error goes into the verdict, unless it is the one that the entry expects."""
        wanted = self.expected_error

        def done(outcome: CommandOutcome) -> None:
            for line, (_, error) in zip(outcome.lines, outcome.errors, strict=True):
                if error.name != wanted:
                    context.refuse(line)
            if wanted is not None and all(error.name != wanted for _, error in outcome.errors):
                context.refuse(f"{wanted} was expected and not answered")

        return done


def error_key(*errors: Errors) -> dict[str, Any]:
    """The key of an action for the error code that it expects, one of ``errors``."""
    return key(
        Choice(tuple(error.name for error in errors), "error"),
        "the error code that at least one partition must be answered with, and no other code; absent = no errors",
    )


@frozen(kw_only=True)
class ExpectsError(OperatorAction):
    """An action of the operator whose entry may expect an error code, in a field ``expect_error`` (``error_key``)."""

    if TYPE_CHECKING:
        expect_error: str | None

    @property
    def expected_error(self) -> str | None:
        return self.expect_error

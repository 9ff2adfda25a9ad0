"""Mistaken requests of operators, which have to be refused."""

from __future__ import annotations

from attrs import field, frozen

from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.tools import reassign
from scenarios.errors import BadInput
from scenarios.faults.actions.reassignments import check_api
from scenarios.faults.operated import OperatorAction
from scenarios.faults.performer import ActionContext
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import Integer, ListOf, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME


@action("reassign.mistake", "ask by the API for replicas that no partition can have; the controller has to refuse that")
@frozen(kw_only=True)
class ReassignMistake(OperatorAction):
    """A mistaken reassignment. Its answer goes to the checkers, not into the verdict."""

    partition: str = field(metadata=key(PARTITION_NAME, "whose replicas they would be"))
    replicas: tuple[int, ...] = field(
        converter=as_tuple,
        metadata=key(ListOf(Integer(-1)), "the target replicas: an empty list, or one with a broker twice, or with -1"),
    )

    def check(self, known: KnownNames) -> None:
        check_api(known, "action")
        if reassign.possible(self.replicas):
            raise BadInput(
                f"a partition can have the replicas {list(self.replicas)}; use reassign.execute", where="replicas"
            )

    def sends(self, known: KnownNames) -> tuple[str, ...]:
        return "Metadata", "AlterPartitionReassignments"

    def perform(self, context: ActionContext) -> None:
        self.begin(context, reassign.ask_by_mistake, TopicPartition.parse(self.partition), self.replicas)

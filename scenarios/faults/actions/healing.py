"""The end of all faults at once."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.faults.damaged import run_again, stop
from scenarios.faults.performer import ActionContext, PerformedAction
from scenarios.language import Target
from scenarios.language.actions import action, all_actions
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import BROKER_ID, Choice, ListOf, as_tuple
from scenarios.language.schema.table_reader import key

LEFT, STOPPED = "left", "stopped"


@action(
    "heal", "end all faults: of links, disks, clocks, messages, steps and ZooKeeper; every broker and client runs again"
)
@frozen(kw_only=True)
class Heal(PerformedAction):
    """The end of all faults: each kind is ended by its own ``end_all``. Brokers whose disk or fetcher was made to fail
    are started again, since Kafka forgets such an error in no other way."""

    brokers: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(BROKER_ID, unique=True, empty=False), "the core, which is healed; absent = every broker"),
    )
    others: str = field(
        default=LEFT,
        metadata=key(Choice((LEFT, STOPPED), "fate"), "the other brokers are left as they are, or stopped for good"),
    )

    @property
    def acts_on(self) -> Target:
        return Target(brokers=self.brokers) if self.brokers else Target(mode="all")

    def check(self, known: KnownNames) -> None:
        known.all_brokers(self.brokers, "brokers")
        if self.others == STOPPED and not self.brokers:
            raise BadInput("every broker is healed, and no other is left; name the core: brokers = [0, 1, 2]")

    def detail(self) -> str:
        return f"the others {self.others}" if self.brokers else ""

    def perform(self, context: ActionContext) -> None:
        context.performer.heal()
        for kind in all_actions().values():
            if issubclass(kind, PerformedAction):
                kind.end_all(context)
        cluster = context.cluster
        for broker in cluster.nodes:
            if context.heals(broker):
                run_again(context, broker)
            elif self.others == STOPPED:
                cluster.forget_start(broker)
                stop(context, broker)

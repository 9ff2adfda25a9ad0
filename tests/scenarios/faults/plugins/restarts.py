"""An action from outside the package: a broker is killed and started again at once."""

from attrs import field, frozen

from emulator.nodes import CrashKind
from scenarios.errors import BadInput
from scenarios.faults import ActionContext, PerformedAction
from scenarios.language.actions import action
from scenarios.language.known_names import KnownNames
from scenarios.language.schema.kinds import Choice, Integer
from scenarios.language.schema.table_reader import key


@action("broker.restart", "kill the broker and start it again at once")
@frozen(kw_only=True)
class BrokerRestart(PerformedAction):
    takes_target = True

    kind: CrashKind = field(
        default="process", metadata=key(Choice(("process", "host"), "kind of crash"), "what dies with the broker")
    )
    times: int = field(metadata=key(Integer(1), "how many times in a row"))

    def detail(self) -> str:
        return f"{self.kind}, {self.times} times"

    def check(self, known: KnownNames) -> None:
        if self.times > known.brokers:
            raise BadInput("more restarts than brokers; write fewer", where="times")

    def perform(self, context: ActionContext) -> None:
        for broker in context.in_state("up"):
            for _ in range(self.times):
                context.cluster.crash_broker(broker, self.kind)
                context.cluster.start_broker(broker)

"""The programs of clients: producers and consumers that are killed, and started again."""

from __future__ import annotations

from attrs import frozen

from scenarios.faults.performer import ActionContext, PerformedAction
from scenarios.language.actions import action


@frozen(kw_only=True)
class OnClients(PerformedAction):
    takes_target = True
    takes_clients = True
    takes_brokers = False


@action("client.start", "start a client that was killed: a producer with nothing to send yet, a consumer where it was")
@frozen(kw_only=True)
class ClientStart(OnClients):
    def perform(self, context: ActionContext) -> None:
        for client in context.in_state("down"):
            context.cluster.start_client(client)

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        for client in context.cluster.clients:
            if context.roles.state_of(client) == "down":
                context.cluster.start_client(client)


@action("client.crash", "kill a producer or a consumer: what waits in it to be sent is gone", undo=ClientStart)
@frozen(kw_only=True)
class ClientCrash(OnClients):
    def perform(self, context: ActionContext) -> None:
        for client in context.in_state("up"):
            context.cluster.crash_client(client)

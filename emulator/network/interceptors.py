"""Hooks that see a message, and can stop it: as it is sent, and as it reaches its receiver.

Hooks are armed for a class of messages. For a class without hooks, a message costs one dictionary look-up.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field

from emulator.kernel.parking import Parking

if TYPE_CHECKING:
    from emulator.network.endpoint import Endpoint

Edge = Literal["sent", "delivered"]


@define(eq=False, repr=False)
class Hold:
    """Keeps a message, and everything after it on its connection, from its receiver.

    Attributes:
        endpoint: the receiver's end, once the message has arrived there.
        over: whether the message was released.
    """

    endpoint: "Endpoint | None" = None
    over: bool = False

    def release(self) -> None:
        """Deliver everything that has arrived by now, in order. Idempotent."""
        if not self.over:
            self.over = True
            if self.endpoint is not None:
                self.endpoint.flow()


@define(eq=False, repr=False)
class InterceptedMessage:
    """A message that is about to be sent or delivered.

    Attributes:
        endpoint: the sender's end when it is sent, the receiver's when it is delivered.
        lost: a hook has decided to reset the connection and lose the message.
        held: a hook has decided to hold the message.
    """

    endpoint: "Endpoint"
    edge: Edge
    body: Any
    lost: bool = False
    held: Hold | None = None

    @property
    def source(self) -> int:
        """The id of the sending machine."""
        here, there = self.endpoint.process.node.id, self.endpoint.out.target.id
        return here if self.edge == "sent" else there

    @property
    def target(self) -> int:
        """The id of the receiving machine."""
        here, there = self.endpoint.process.node.id, self.endpoint.out.target.id
        return there if self.edge == "sent" else here

    def reset(self) -> None:
        """Reset the connection. The message is lost, and both ends are notified."""
        self.lost = True

    def hold(self) -> Hold:
        """Hold the message, and everything after it, until the hold is released. The connection itself stays up."""
        if self.held is None:
            self.held = Hold()
        return self.held


Hook = Callable[[InterceptedMessage], object]
"""Called with each message of an armed class, in the order of arming.

At the edge ``sent`` the hook runs inside the sender's transition: it may stop the message, and must do everything else
in an event of its own. At ``delivered`` no transition is running, and the hook may do anything.
"""


@define(eq=False, repr=False)
class Interceptors:
    """The armed hooks of one network, by edge and class of message.

    Attributes:
        parked: the parked work that sends messages without simulating them.
    """

    sent: dict[type, list[Hook]] = field(factory=dict)
    delivered: dict[type, list[Hook]] = field(factory=dict)
    parked: Parking = field(factory=Parking)

    def arm(self, kind: type, edge: Edge, hook: Hook) -> None:
        """Call ``hook`` with each later message of class ``kind`` at this edge."""
        self.parked.rouse()
        self._at(edge).setdefault(kind, []).append(hook)

    def disarm(self, kind: type, edge: Edge, hook: Hook) -> None:
        armed = self._at(edge)
        armed[kind].remove(hook)
        if not armed[kind]:
            del armed[kind]

    def see_any(self, kinds: Iterable[type]) -> bool:
        """Whether a hook is armed for one of these classes, at either edge."""
        return any(kind in self.sent or kind in self.delivered for kind in kinds)

    def _at(self, edge: Edge) -> dict[type, list[Hook]]:
        return self.sent if edge == "sent" else self.delivered

    def see(self, endpoint: "Endpoint", edge: Edge, body: Any) -> InterceptedMessage | None:
        """Call the hooks for a message. None if none is armed for its class."""
        hooks = (self.sent if edge == "sent" else self.delivered).get(body.__class__)
        if hooks is None:
            return None
        passing = InterceptedMessage(endpoint, edge, body)
        for hook in list(hooks):
            if hook in hooks:  # if not, an earlier hook has disarmed it
                hook(passing)
        return passing

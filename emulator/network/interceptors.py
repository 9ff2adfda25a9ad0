"""Where a message can be seen, and stopped: as it is sent, and as it reaches the one that it is for.

What passes is told apart by its class alone; a class that nobody armed costs a look at an empty dictionary.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field

if TYPE_CHECKING:
    from emulator.network.endpoint import Endpoint

Edge = Literal["sent", "delivered"]


@define(eq=False, repr=False)
class Hold:
    """Keeps a message, and all that comes behind it on its connection, from the one that it is for.

    Attributes:
        endpoint: where it is kept, once it is there.
        over: it was let go.
    """

    endpoint: "Endpoint | None" = None
    over: bool = False

    def release(self) -> None:
        """Let everything go on that has come by now, in order. Idempotent."""
        if not self.over:
            self.over = True
            if self.endpoint is not None:
                self.endpoint.flow()


@define(eq=False, repr=False)
class InterceptedMessage:
    """A message at one edge of its way, before anybody acts on it.

    Attributes:
        endpoint: the end that it is at: the sender's when it is sent, the receiver's when it is delivered.
        lost: the connection is to be reset here, and the message with it.
        held: what is to keep it.
    """

    endpoint: "Endpoint"
    edge: Edge
    body: Any
    lost: bool = False
    held: Hold | None = None

    @property
    def source(self) -> int:
        """The machine that sends it."""
        here, there = self.endpoint.process.node.id, self.endpoint.out.target.id
        return here if self.edge == "sent" else there

    @property
    def target(self) -> int:
        """The machine that it is for."""
        here, there = self.endpoint.process.node.id, self.endpoint.out.target.id
        return there if self.edge == "sent" else here

    def reset(self) -> None:
        """Reset the connection instead: both ends learn of it, and the message is lost."""
        self.lost = True

    def hold(self) -> Hold:
        """Keep it, and what comes behind it, until the hold is released. The connection itself stays up."""
        if self.held is None:
            self.held = Hold()
        return self.held


Hook = Callable[[InterceptedMessage], object]
"""Called with each message of an armed class, in the order of arming.

As a message is sent, the hook runs in the middle of the sender's transition: it may stop the message, and leaves
everything else to an event of its own. As one is delivered, nothing runs yet: it may do anything.
"""


@define(eq=False, repr=False)
class Interceptors:
    """The armed classes of one network, by edge."""

    sent: dict[type, list[Hook]] = field(factory=dict)
    delivered: dict[type, list[Hook]] = field(factory=dict)

    def arm(self, kind: type, edge: Edge, hook: Hook) -> None:
        """Show ``hook`` each later message of class ``kind`` at this edge."""
        self._at(edge).setdefault(kind, []).append(hook)

    def disarm(self, kind: type, edge: Edge, hook: Hook) -> None:
        armed = self._at(edge)
        armed[kind].remove(hook)
        if not armed[kind]:
            del armed[kind]

    def _at(self, edge: Edge) -> dict[type, list[Hook]]:
        return self.sent if edge == "sent" else self.delivered

    def see(self, endpoint: "Endpoint", edge: Edge, body: Any) -> InterceptedMessage | None:
        """What the hooks have made of a message; None where none is armed for its class."""
        hooks = self._at(edge).get(body.__class__)
        if hooks is None:
            return None
        passing = InterceptedMessage(endpoint, edge, body)
        for hook in list(hooks):
            if hook in hooks:  # else disarmed by an earlier one
                hook(passing)
        return passing

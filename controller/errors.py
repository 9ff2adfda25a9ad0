"""What a controller's event may fail with. Whatever is not here or a ZooKeeper error is a bug of ours and
ends the run."""


class ControllerError(Exception):
    """An event failed: Kafka logs it and takes the next one; the work is lost."""


class ControllerMoved(ControllerError):
    """A fenced write failed its check of /controller_epoch: somebody else has been elected (KAFKA-6082)."""


class StateChangeFailed(ControllerError):
    """What was asked for cannot be done, such as a write to a topic that is gone."""


class IllegalState(ControllerError):
    """The controller's own books are wrong, such as a batch of requests that the last event left unsent."""

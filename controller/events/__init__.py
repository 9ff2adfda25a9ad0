"""What happens to a controller: one queue, one task, one event at a time."""

from controller.events.queue import Event, EventQueue, Preemptable

__all__ = ["Event", "EventQueue", "Preemptable"]

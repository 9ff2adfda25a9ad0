"""The output of a world: typed events with their cause, in one order, with one digest."""

from emulator.trace.columns import columns_of, rows
from emulator.trace.trace import Event, Sink, Trace, as_bytes, read_back

__all__ = ["Event", "Sink", "Trace", "as_bytes", "columns_of", "read_back", "rows"]

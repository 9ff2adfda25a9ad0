"""docs/clients.md, from what was measured."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.clients.faults import Fault
from benchmarks.clients.history import Findings
from benchmarks.clients.known import Client
from benchmarks.results import between_marks, machine
from benchmarks.tables import table

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
HEADS = (
    "Client", "acknowledged", "longest gap", "failed", "lost", "twice in the log", "out of order",
    "longest gap of the consumer", "read twice", "never read", "errors shown to the application",
)  # fmt: skip


def write_page(clients: Sequence[Client], faults: Sequence[Fault], found: Sequence[tuple[str, str, Findings]]) -> None:
    """Put the tables between the page's marks."""
    versions = ", ".join(f"{client.name} {client.version()}" for client in clients)
    lines = [f"{machine('python -m benchmarks.clients --write')}; {versions}.", ""]
    for fault in faults:
        own = [(client, one) for client, name, one in found if name == fault.name]
        lines += [f"### {fault.name}", "", f"{fault.words[0].upper()}{fault.words[1:]}.", ""]
        lines += [*table(HEADS, [_row(client, one) for client, one in own]), ""]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(between_marks(text, "clients", lines[:-1]), encoding="utf-8")


def _row(client: str, found: Findings) -> tuple[str, ...]:
    counts = (found.failed, found.lost, found.duplicated, found.reordered)
    return (
        client, f"{found.acked:,}", f"{found.gap_s:.2f} s", *(f"{count:,}" for count in counts),
        f"{found.read_gap_s:.2f} s", f"{found.reread:,}", f"{found.unread:,}", found.errors_in_short,
    )  # fmt: skip

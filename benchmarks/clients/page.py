"""docs/understand/clients.md, from what was measured."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.clients.faults import Fault
from benchmarks.clients.history import Findings
from benchmarks.clients.known import Client
from benchmarks.results import between_marks, machine
from benchmarks.tables import table

MOST_NAMED = 3
PAGE = Path(__file__).parents[2] / "docs" / "understand" / "clients.md"
HEADS = (
    "Client", "runs", "acknowledged", "longest gap", "failed", "lost", "twice in the log", "out of order",
    "longest gap of the consumer", "read twice", "never read", "errors shown to the application",
)  # fmt: skip


def write_page(
    clients: Sequence[Client], faults: Sequence[Fault], found: Sequence[tuple[str, str, Sequence[Findings]]]
) -> None:
    """Put the tables between the page's marks."""
    versions = ", ".join(f"{client.name} {client.version()}" for client in clients)
    lines = [f"{machine('python -m benchmarks.clients --write')}; {versions}.", ""]
    for fault in faults:
        own = [(client, runs) for client, name, runs in found if name == fault.name]
        lines += [f"### {fault.name}", "", f"{fault.words[0].upper()}{fault.words[1:]}.", ""]
        lines += [*table(HEADS, [_row(client, runs) for client, runs in own]), ""]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(between_marks(text, "clients", lines[:-1]), encoding="utf-8")


def _row(client: str, runs: Sequence[Findings]) -> tuple[str, ...]:
    def count(figure: str) -> str:
        return span([getattr(one, figure) for one in runs], ",")

    def seconds(figure: str) -> str:
        return f"{span([getattr(one, figure) for one in runs], '.1f')} s"

    return (
        client, str(len(runs)), count("acked"), seconds("gap_s"), count("failed"), count("lost"), count("duplicated"),
        count("reordered"), seconds("read_gap_s"), count("reread"), count("unread"), errors_in_short(runs),
    )  # fmt: skip


def span(values: Sequence[float], form: str) -> str:
    """The value of all runs, or the least and the most of them: ``0 to 2``."""
    least, most = (format(value, form) for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def errors_in_short(runs: Sequence[Findings]) -> str:
    """The most frequent errors, with how often each run has them."""
    frequent = sum((Counter(one.errors) for one in runs), Counter[str]()).most_common(MOST_NAMED)
    return ", ".join(f"{name} {span([one.errors.get(name, 0) for one in runs], ',')}" for name, _ in frequent) or "none"

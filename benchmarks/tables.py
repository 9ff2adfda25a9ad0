"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Its lines: heads, rule, rows."""
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]

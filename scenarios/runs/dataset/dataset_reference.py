"""docs/reference/dataset-tables.md: the tables of the data set, rendered from the schemas.

``python -m scenarios.runs.dataset.dataset_reference docs/reference/dataset-tables.md`` writes them into the page; a
test
compares them.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence

import pyarrow as pa

from scenarios.pages import marked, table, write_into
from scenarios.runs.dataset.table_schemas import FIGURES, FREQUENCY, MEANING, RUNS, SCHEMAS, UNIT

_WIDTH = 120


def sections() -> dict[str, str]:
    first = (RUNS, FIGURES)
    names = (*first, *(name for name in SCHEMAS if name not in first))
    return {"tables": "\n\n".join(_table(name, SCHEMAS[name]) for name in names)}


def type_of(kind: pa.DataType) -> str:
    """A type in a reader's words."""
    return f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind)


def _table(name: str, schema: pa.Schema) -> str:
    said = {key: value.decode() for key, value in (schema.metadata or {}).items()}
    text = f"{said[MEANING]} {said[FREQUENCY][:1].upper()}{said[FREQUENCY][1:]}."
    heads = ("Column", "Type", "Unit", "Meaning")
    return "\n\n".join(
        (f"### `{name}`", textwrap.fill(text, _WIDTH, break_on_hyphens=False), table(heads, _rows(schema)))
    )


def _rows(schema: pa.Schema) -> Iterator[Sequence[str]]:
    for field in schema:
        said = {key: value.decode() for key, value in (field.metadata or {}).items()}
        yield f"`{field.name}`", type_of(field.type), said[UNIT] or "-", said[MEANING]


def main(arguments: Sequence[str]) -> None:
    """Print the section, or write it into the page named."""
    if arguments:
        write_into(arguments[0], sections())
        return
    print(*(marked(name, text) for name, text in sections().items()), sep="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])

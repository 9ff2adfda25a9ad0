"""``python -m benchmarks.clients.under_chaos DIR... [--write]``: the table of campaigns of ``chaos --clients``.

DIR is what ``--out`` named. ``--write`` puts the table into docs/understand/clients.md, in the place of the last one.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path

from scenarios.studies.chaos.campaign_results import NAME
from scenarios.studies.clients.client_outcome import ClientOutcome
from scenarios.studies.clients.outcome_table import markdown

PAGE = Path(__file__).parents[2] / "docs" / "understand" / "clients.md"
BEGIN, END = "<!-- under chaos -->", "<!-- end of under chaos -->"


def outcomes(folders: list[Path]) -> list[ClientOutcome]:
    """The outcomes in the folders. The first line of each file says what the campaign was."""
    lines = [line for folder in folders for line in (folder / NAME).read_text().splitlines()[1:]]
    return [ClientOutcome.from_line(line) for line in lines]


def text(found: list[ClientOutcome]) -> str:
    """The table, and below it each kind of finding with its runs."""
    lines = list(markdown(found))
    judges = dict.fromkeys(one.judge for outcome in found for one in outcome.findings)
    lines.append("")
    for judge in judges:
        of_it = [outcome for outcome in found if any(one.judge == judge for one in outcome.findings)]
        runs = ", ".join(f"{outcome.driver} seed {outcome.seed}" for outcome in of_it)
        lines.append(f"- `{judge}`: {runs}")
    return "\n".join(lines)


def main() -> int:
    parser = ArgumentParser(prog="benchmarks.clients.under_chaos", description=__doc__)
    parser.add_argument("folders", metavar="DIR", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put it into docs/understand/clients.md")
    arguments = parser.parse_args()
    found = text(outcomes(arguments.folders))
    if not arguments.write:
        print(found)
        return 0
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        print(f"{PAGE} has no {BEGIN}", file=sys.stderr)
        return 1
    PAGE.write_text(f"{before}{BEGIN}\n{found}\n{END}{after}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

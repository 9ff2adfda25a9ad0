"""The addresses of a scenario's entries: the names of the random streams that an entry draws from.

An address is the text of the entry's trigger, action and target, and the number of entries with this same text before
it. So an entry that is added, changed or removed changes no draw of the others.
"""

from __future__ import annotations

import json
from collections import Counter

from attrs import define, field

from scenarios.language import MethodEntry
from scenarios.language.targets import TARGET
from scenarios.language.triggers import dump_trigger


@define
class Addresses:
    """Gives entries their addresses, in the order of the file."""

    _seen: Counter[str] = field(factory=Counter)

    def of(self, entry: MethodEntry) -> str:
        """The address of the next entry."""
        target = {} if entry.target is None else {"target": TARGET.dump(entry.target)}
        text = json.dumps({**dump_trigger(entry.trigger), "action": entry.name, **target}, sort_keys=True)
        self._seen[text] += 1
        return f"{text} {self._seen[text]}"

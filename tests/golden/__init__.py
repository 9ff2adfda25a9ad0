"""Golden files: the texts that runs are compared with, and the comparison.

``UPDATE_GOLDEN=1 pytest tests/scenarios/cluster/test_golden.py`` writes the files again. Read the difference before you
commit it: a golden file changes only because the protocol was meant to change.
"""

import os
from pathlib import Path

FOLDER = Path(__file__).parent


def check_golden(name: str, text: str) -> None:
    """``text`` is what the file ``name`` holds."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, f"{path.name} differs; see tests/golden/__init__.py"

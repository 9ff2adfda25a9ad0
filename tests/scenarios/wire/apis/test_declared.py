"""Which APIs there are, where they are declared, and what is announced of them."""

import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

import pytest

from scenarios.wire import apis
from scenarios.wire.apis.base import FILES, WireApis, wire_apis


def test_each_api_is_in_the_file_that_is_named_for_it() -> None:
    found = {key: type(api).__module__.rpartition(".")[2] for key, api in wire_apis().items()}
    assert found == FILES
    files = {module.name for module in iter_modules([str(Path(apis.__file__).parent)])}
    assert files == {*FILES.values(), "base", "shared"}


def test_an_api_is_imported_when_it_is_asked_for() -> None:
    program = """
import sys
from scenarios.wire.apis.base import WireApis
found = WireApis()
assert "scenarios.wire.apis.produce" not in sys.modules
assert found[22].key == 22
assert "scenarios.wire.apis.produce" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(KeyError):
        WireApis()[4]

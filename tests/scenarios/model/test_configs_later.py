"""Settings that would change nothing are refused: nobody shall believe that they do."""

import pytest

from scenarios.errors import BadInput
from scenarios.model.configs import BROKER_CONFIG


@pytest.mark.parametrize("name", ["file.delete.delay.ms"])
def test_a_setting_of_a_later_version_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(BadInput, match="is not in this version"):
        BROKER_CONFIG.read({name: 1})

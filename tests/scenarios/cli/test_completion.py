"""``completion``: scripts that the shells accept, and what bash then completes."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.scenarios.cli.conftest import Call

ASK = """
source /dev/stdin
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_shtab_understudy
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash: install the system's package bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("./understudy valid", {"validate"}),
        ("./understudy run quick-mo", {"quick-move"}),
        ("./understudy run mine.toml --prof", {"--profile"}),
        ("./understudy run mine.toml --profile kafka-2.3", {"kafka-2.3"}),
        ("./understudy sweep mine.toml --strategy kip", {"kip-455"}),
        ("./understudy completion z", {"zsh"}),
    ],
)
def test_bash_completes(words: str, found: set[str], call: Call) -> None:
    script = call("completion", "bash")
    assert (script.code, script.err) == (0, "")
    done = subprocess.run(
        ["bash", "-c", ASK.format(words=words)], input=script.out, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(shell: str, call: Call) -> None:
    script = call("completion", shell)
    assert (script.code, script.err) == (0, "")
    assert "kip-455" in script.out
    if shutil.which(shell) is not None:
        subprocess.run([shell, "-n", "/dev/stdin"], input=script.out, text=True, check=True)


def test_another_shell_is_refused(call: Call) -> None:
    refused = call("completion", "zhs")
    assert (refused.code, refused.out) == (2, "")
    assert "did you mean 'zsh'?" in refused.line

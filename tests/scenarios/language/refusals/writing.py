"""The small file with one entry more, for the cases."""

from tests.scenarios.language.builders import small_and

Case = tuple[str, str, str]
"""A file, where the error is, and what to do about it."""


def when(condition: str) -> str:
    return small_and("[[method]]", f"when = {{ {condition} }}", 'action = "controller.crash"')


def acting(*lines: str) -> str:
    return small_and("[[method]]", 'at = "2s"', *lines)


def expecting(line: str) -> str:
    return small_and("[[expect]]", line)

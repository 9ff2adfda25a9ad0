"""Every line of output that docs/use/stories.md, README.md and docs/use/museum.md show is what their commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.stories import LEFT_OUT, Story, of_other_pages, renewed, stories, unlike


@pytest.mark.parametrize("story", [*stories(), *of_other_pages()], ids=lambda story: story.name)
def test_the_answer_is_what_the_page_says(story: Story, tmp_path: Path) -> None:
    printed = story.output(tmp_path)
    wrong = list(unlike(story.shown.text.splitlines(), printed))
    assert not wrong, f"{story.shown.place}: run python -m tests.docs.stories\n" + "\n".join([*wrong, "", *printed])


def test_there_are_nine() -> None:
    assert len(stories()) == 9
    assert len({story.name for story in stories()}) == 9


def test_a_line_that_is_not_printed_is_noticed() -> None:
    printed = ["PASSED (0.4 s here, 3 events)", "lost: none", "    5.084000      17   o  x  event", "moves 1 of 1"]
    assert not list(unlike(["PASSED (0.9 s here, 4 events)", LEFT_OUT, "moves 1 of 1"], printed))
    assert not list(unlike(["    5.084000      19   o  x  event"], printed)), "the number of the event does not matter"
    assert list(unlike(["    5.083000      17   o  x  event"], printed))
    assert list(unlike(["lost: 2 records"], printed)) == ["lost: 2 records"]
    assert list(unlike(["moves 1 of 1", "lost: none"], printed)) == ["lost: none"], "the order counts"


def test_lines_are_found_again_by_their_words() -> None:
    shown = ["moves  1 of 1 done in 0.1 s", LEFT_OUT, "lost 3"]
    assert renewed(shown, ["PASSED", "moves  2 of 12 done in 1,044.7 s", "lost 12"]) == [
        "moves  2 of 12 done in 1,044.7 s",
        LEFT_OUT,
        "lost 12",
    ]
    with pytest.raises(ValueError, match="no such line any more: lost 3"):
        renewed(shown, ["moves  1 of 1 done in 0.1 s", "nothing was lost"])

"""The console, the page and the notebook claim the same of one comparison: what is said of it (``Comparison.said``)."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.runs.dataset.arm import Arm, named
from scenarios.studies.report.compared import Origin, compared_page
from scenarios.studies.statistics.numbers import number, p_value, percent
from scenarios.studies.statistics.result import DIFFERENT, Comparison, MetricDifference, MetricVerdict
from scenarios.studies.statistics.said import LEVELS, TOLD
from scenarios.studies.statistics.sentences import Pair, depends, finding, of_all, without_finding
from scenarios.studies.statistics.study_comparison import ComparisonSpec, compare_runs
from scenarios.studies.statistics.text import first_told
from tests.scenarios.studies.statistics.made import grid, study

NOT_SETTLED = "not settled"
TO, AND = r"(?P<low>\S+?)(?:,| to) ", r"(?P<high>[^\s\]);]+)"
SURE = r"(?P<seeds>\d+ of \d+) seeds, (?P<p>the seeds are alike|p [<=] \d\.\d+|no test needed)"
ON_CONSOLE = rf"(?P<value>\S+) \[{TO}{AND}\][^(]*\({SURE}\)"
ON_PAGE = rf": .*? against .*?\((?P<value>\S+); 95% interval {TO}{AND}[^)]*\), on {SURE}"


class Claim(NamedTuple):
    """A figure of a level, in full or only named. ``of``: the difference, both ends of its interval, seeds and p; where
    no mean tells it, the words."""

    level: str
    verdict: str
    metric: str
    of: tuple[str, ...] = ()


class Claims(NamedTuple):
    """All that is said, in its order: of figures; of levels without any finding; of no level alone; the doubts."""

    figures: list[Claim]
    without: list[tuple[str, str]]
    of_all: list[str]
    doubts: list[str]


# -- what is to be claimed -------------------------------------------------------------------------------------------


def wanted(found: Comparison) -> Claims:
    """The model, with the numbers of ``statistics.numbers``."""
    figures, without = [], []
    for one in found.said.levels:
        for group in one.findings:
            verdict = NOT_SETTLED if group.verdict is MetricVerdict.UNKNOWN else group.verdict.value.partition(" ")[0]
            figures += [Claim(one.level, verdict, name, in_numbers(found, one.level, name)) for name in group.metrics]
            figures += [Claim(one.level, verdict, name) for name in group.named]
            figures += [Claim(one.level, verdict, number(group.more))] if group.more else []
        if one.none is not None:
            without.append((one.level, without_finding(one.none, found.minimum)))
    return Claims(figures, without, list(of_all(found)), [doubt.text for doubt in found.doubts])


def in_numbers(found: Comparison, level: str, metric: str) -> tuple[str, ...]:
    row = found.row(metric)
    cell = row.differences[level]
    if cell.verdict is MetricVerdict.DEPENDS:
        return (depends(row, found.level(level)),)
    if row.split is not None:
        return (finding(row, cell, found.level(level)),)
    return (*ends(cell), f"{cell.higher if (cell.mean or 0) > 0 else cell.lower} of {cell.pairs}", sure(cell))


def ends(cell: MetricDifference) -> list[str]:
    if cell.is_share:
        assert cell.relative is not None
        assert cell.relative_interval is not None
        shares = (cell.relative, cell.relative_interval.low, cell.relative_interval.high)
        return [percent(share, signed=True) for share in shares]
    assert cell.interval is not None
    return [number(value, signed=True) for value in (cell.mean, cell.interval.low, cell.interval.high)]


def sure(cell: MetricDifference) -> str:
    return "the seeds are alike" if cell.deterministic and cell.verdict in DIFFERENT else p_value(cell.p_adjusted)


# -- what is claimed -------------------------------------------------------------------------------------------------


def on_console(found: Comparison) -> Claims:
    paragraphs = found.text.split("\n\n")
    lines = re.sub(r"\n +", " ", paragraphs[1]).split("\n") if found.headlines else []
    warned = re.sub(r"\n +", " ", "\n".join(part for part in paragraphs if part.startswith("warning: ")))
    return claims_of_sentences(found, lines, re.findall(r"^warning: (.*)$", warned, re.MULTILINE))


def in_notebook(found: Comparison) -> Claims:
    shown = found._repr_html_()
    lines = [plain(line) for line in re.findall(r"<li>(.*?)</li>", shown)]
    return claims_of_sentences(found, lines, [plain(line) for line in re.findall(r"<p>Doubt: (.*?)</p>", shown)])


def claims_of_sentences(found: Comparison, lines: Sequence[str], doubts: list[str]) -> Claims:
    figures: list[Claim] = []
    without, others = [], []
    pairs = {level.name: Pair(level, found.level(level.against or ""), found.by) for level in found.levels[1:]}
    for line in lines:
        for level, pair in pairs.items():
            name, base, where = map(re.escape, pair.names)
            whole = re.escape(f"{level} against {pair.other.name}")
            if said := re.fullmatch(rf"{name} is (better|worse|lower|higher) than {base}{where} in (.*)\.", line):
                figures += of_parts(found, level, said[1], said[2])
            elif said := re.fullmatch(rf"{re.escape(pair.head)}: not settled, though .* leave out 0, in (.*)\.", line):
                figures += of_parts(found, level, NOT_SETTLED, said[1])
            elif said := re.fullmatch(rf"{whole} in (\w+) (depends on .*)", line):
                figures.append(Claim(level, "depends", said[1], (said[2],)))
            elif said := re.fullmatch(rf"{whole} depends on other axes also in (.*)\.", line):
                figures += only_named(level, "depends", said[1])
            elif said := re.fullmatch(rf"{re.escape(pair.head)}: ((?:they have|no difference) .*)", line):
                without.append((level, said[1]))
            else:
                continue
            break
        else:
            others.append(line)
    return Claims(figures, without, others, doubts)


def of_parts(found: Comparison, level: str, verdict: str, said: str) -> Iterable[Claim]:
    full, _, names = said.partition("; also in ")
    for part in re.split(r"; (?=\w+_\w+ )", full):
        metric, _, words = part.partition(" ")
        split = found.row(metric).split is not None
        yield Claim(level, verdict, metric, (words,) if split else numbers_in(ON_CONSOLE, words))
    yield from only_named(level, verdict, names)


def only_named(level: str, verdict: str, names: str) -> list[Claim]:
    return [Claim(level, verdict, name.removesuffix(" more")) for name in re.split(", | and ", names) if name]


def numbers_in(pattern: str, words: str) -> tuple[str, ...]:
    said = re.match(pattern, words)
    assert said, words
    return tuple(said[name] for name in ("value", "low", "high", "seeds", "p"))


def on_page(found: Comparison) -> Claims:
    origin = Origin(files={"moves": "mine.toml"}, seeds=range(12), arms=(), command="", spark=False, version="1")
    return claims_of_page(found, compared_page(found, (), origin).render())


def claims_of_page(found: Comparison, page: str) -> Claims:
    answer = page.partition('<div class="answer">')[2].partition("<table")[0]
    figures, without = [], []
    for block in re.findall(r"<h2>.*?(?=<h2>|<p>|$)", answer, re.DOTALL):
        level = plain(re.findall(r"<h2>(.*?)<span", block)[0])
        for item in re.findall(r"<li>(.*?)</li>", block, re.DOTALL):
            text = plain(re.sub("<small>.*?</small>", "", item))
            if said := re.match(
                r"(Better|Worse|Lower|Higher|Not settled|Depends on the other axes) also in (.*)\.", text
            ):
                figures += only_named(level, said[1].lower().partition(" on ")[0], said[2])
            elif said := re.match(r"(Better|Worse|Lower|Higher|Not settled) in (\w+)(: .*)", text):
                split = found.row(said[2]).split is not None
                words = (said[3][2:].strip().removesuffix("."),) if split else numbers_in(ON_PAGE, said[3])
                figures.append(Claim(level, said[1].lower(), said[2], words))
            elif said := re.match(r"(\w+) (depends on .*)", text):
                figures.append(Claim(level, "depends", said[1], (said[2],)))
            else:
                without.append((level, f"{text[0].lower()}{text[1:]}"))
    others = [plain(line) for line in re.findall(r"<p>(.*?)</p>", answer)]
    doubts = re.findall(r'<p class="remark warning">(.*?)</p>', page.partition('<div class="answer">')[2])
    return Claims(figures, without, others, [plain(line) for line in doubts])


def plain(text: str) -> str:
    """Without tags, with spaces that may break and minus signs of the console."""
    bare = html.unescape(re.sub("<[^>]*>", "", text))
    return re.sub(r"\s+", " ", bare.replace("\u00a0", " ").replace("\u2212", "-")).strip()


def check(found: Comparison) -> Claims:
    model = wanted(found)
    assert on_console(found) == model
    assert on_page(found) == model
    assert in_notebook(found) == model
    return model


# -- comparisons -----------------------------------------------------------------------------------------------------

METRICS = ("time_to_complete_s", "under_min_isr_s", "produce_p99_ms", "extra_replica_s", "lag_p99", "zk_writes")


def drawn(
    arms: Sequence[Arm], factors: Mapping[str, Sequence[float]], seeds: int, *, by: str | None = None
) -> Comparison:
    """Metrics to the factor of each arm; every seed has its own size and some noise."""

    def metrics(arm: Arm, seed: int) -> dict[str, float]:
        own = random.Random(f"{arm.name} {seed}")
        return {
            metric: of[arms.index(arm)] * (100 + 10 * (seed % 4)) * (1 + own.gauss(0.0, 0.01))
            for metric, of in factors.items()
        }

    return compare_runs(study(arms, seeds, metrics), asked=ComparisonSpec(by=by, metrics=tuple(factors)))


PAIR = named([Arm("wiki", "kafka-2.3"), Arm("kafka-6794", "kafka-2.3")])
MANY = named(Arm(name, "kafka-2.3") for name in ("wiki", "kafka-6794", "kip-455", "width-2", "width-3", "width-all"))


def test_findings_both_ways() -> None:
    model = check(drawn(PAIR, {"produce_p99_ms": (1, 0.5), "extra_replica_s": (1, 2), "zk_writes": (1, 3)}, 12))
    assert [claim[:3] for claim in model.figures] == [
        ("kafka-6794", "better", "produce_p99_ms"),
        ("kafka-6794", "worse", "extra_replica_s"),
        ("kafka-6794", "worse", "zk_writes"),
    ]


def test_more_arms_and_more_figures_than_are_said() -> None:
    """The arm with the gravest findings comes first on all of them, wherever it is in the study."""
    factors = dict.fromkeys(METRICS, (1, 1, 1.2, 1.3, 1.4, 1.5)) | {"failed_batches": (1, 1, 1, 1, 1, 9)}
    found = drawn(MANY, factors, 12)
    model = check(found)
    assert len({claim.level for claim in model.figures}) == len(found.said.levels) == LEVELS
    assert found.said.more_levels == len(MANY) - 1 - LEVELS
    assert model.figures[0][:3] == ("width-all", "worse", "failed_batches")
    of_first = [claim for claim in model.figures if claim.level == "width-all" and claim.verdict == "worse"]
    assert [bool(claim.of) for claim in of_first[:TOLD]] == [True] * TOLD
    assert not any(claim.of for claim in of_first[TOLD:])


def test_a_figure_that_repeats_another_is_only_named() -> None:
    seeds = [100.0 + 10 * (seed % 4) for seed in range(12)]
    both = ("offline_s", "produce_p99_ms")
    runs = study(PAIR, 12, lambda arm, seed: dict.fromkeys(both, seeds[seed] * (2 if arm is PAIR[1] else 1)))
    model = check(compare_runs(runs, asked=ComparisonSpec(metrics=both)))
    assert [(claim.metric, bool(claim.of)) for claim in model.figures] == [
        ("offline_s", True),
        ("produce_p99_ms", False),
    ]


def test_a_difference_that_is_no_share_and_one_of_alike_seeds() -> None:
    runs = study(
        PAIR, 12, lambda arm, seed: {"produce_p99_ms": 7.0 + seed % 3 if arm is PAIR[0] else 1_010.0 + 10 * seed,
                                     "extra_replica_s": 50.0 if arm is PAIR[0] else 100.0},
    )  # fmt: skip
    model = check(compare_runs(runs, asked=ComparisonSpec(metrics=("produce_p99_ms", "extra_replica_s"))))
    assert [claim.of[-1] for claim in model.figures] == ["p < 0.001", "the seeds are alike"]


@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_seeds_that_are_too_few(seeds: int) -> None:
    model = check(drawn(MANY, {"produce_p99_ms": (1, 2, 3, 4, 5, 6)}, seeds))
    assert model[:2] == ([], [])
    assert len(model.of_all) == 1


def test_no_difference_and_one_that_is_not_settled() -> None:
    same = check(drawn(PAIR, {"produce_p99_ms": (1, 1)}, 30))
    assert len(same.without) == 1
    open_ = check(drawn(PAIR, {"produce_p99_ms": (1, 2), **dict.fromkeys(METRICS[3:], (1, 1))}, 6))
    assert {claim.verdict for claim in open_.figures} == {NOT_SETTLED}


def test_signs_that_differ_over_another_axis() -> None:
    arms = grid("8MB/s", "20MB/s")
    found = drawn(arms, {"under_min_isr_s": (1, 1, 1.2, 0.3), "zk_writes": (1, 1, 1, 1)}, 12, by="strategy")
    assert [claim.verdict for claim in check(found).figures] == ["depends"]


def test_arms_of_a_grid() -> None:
    model = check(drawn(grid("8MB/s", "20MB/s"), {"under_min_isr_s": (1, 0.5, 1.2, 0.6)}, 12))
    assert len({claim.level for claim in model.figures}) == 3


def test_two_peaks() -> None:
    def metrics(arm: Arm, seed: int) -> dict[str, float]:
        return {"produce_p99_ms": 29_000.0 + seed if seed % 2 and arm is PAIR[1] else 100.0 + 60 * seed}

    found = compare_runs(study(PAIR, 40, metrics), asked=ComparisonSpec(metrics=("produce_p99_ms",)))
    assert found.row("produce_p99_ms").split is not None
    assert [claim.metric for claim in check(found).figures] == ["produce_p99_ms"]


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.sampled_from(METRICS),
        st.tuples(*[st.sampled_from([0.0, 0.5, 0.97, 1.0, 1.03, 2.0, 30.0])] * 3),
        min_size=1,
    ),
    st.integers(1, 12),
)
def test_all_three_claim_the_same_of_any_comparison(factors: dict[str, tuple[float, ...]], seeds: int) -> None:
    check(drawn(MANY[:3], factors, seeds))


def test_the_table_of_the_notebook_is_that_of_the_console() -> None:
    found = drawn(MANY, dict.fromkeys(METRICS, (1, 1, 1.2, 1.3, 1.4, 1.5)), 12)
    rows = [
        [plain(cell) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in re.findall(r"<tbody>(.*)</tbody>", found._repr_html_(), re.DOTALL)[0].split("</tr>")[:-1]
    ]
    assert [(row[0], row[2]) for row in rows] == list(first_told(found))
    for row in rows:
        assert re.search(
            rf"{re.escape(row[2])} +{re.escape(row[4])} +{re.escape(row[6])} +{re.escape(row[7])}$",
            found.text,
            re.MULTILINE,
        ), row


def test_a_claim_that_is_left_out_or_added_is_noticed() -> None:
    found = drawn(PAIR, {"produce_p99_ms": (1, 0.5), "extra_replica_s": (1, 2)}, 12)
    origin = Origin(files={"moves": "mine.toml"}, seeds=range(12), arms=(), command="", spark=False, version="1")
    page = compared_page(found, (), origin).render()
    assert claims_of_page(found, page) == wanted(found)
    start = page.index("<li>", page.index('<div class="answer">'))
    item = page[start : page.index("</li>", start) + len("</li>")]
    for wrong in (page.replace(item, ""), page.replace(item, item * 2), page.replace("Worse", "Better")):
        assert claims_of_page(found, wrong) != wanted(found)

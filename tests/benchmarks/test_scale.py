"""The scale benchmark's verdict: the largest size against its limits, bare and with checkers and measures."""

from benchmarks.scale.__main__ import MIB, Run, judge


def run(*, created_s: float = 15, failed_over_s: float = 8, peak_mib: int = 1000) -> Run:
    return {"create": {"cpu_s": created_s}, "fail over": {"cpu_s": failed_over_s, "peak_bytes": peak_mib * MIB}}


def test_nothing_is_missed_below_the_limits() -> None:
    lines, missed = judge(200_000, [run()], [run(peak_mib=2000)])
    assert len(lines) == 6
    assert missed == []


def test_each_limit_is_held_against_its_own_runs() -> None:
    bare = run(created_s=21, failed_over_s=10, peak_mib=1200)
    _, missed = judge(200_000, [bare], [run(created_s=99, failed_over_s=99, peak_mib=2100)])
    assert missed == [
        "200,000 partitions created: 21.0 s, wanted 20",
        "200,000 partitions failed over: 10.0 s, wanted 9",
        "200,000 partitions peak: 1,200.0 MiB, wanted 1,126",
        "200,000 partitions peak with checkers and measures: 2,100.0 MiB, wanted 2,048",
    ]

"""The functions in which a run spends its time."""

import cProfile
import pstats
from pathlib import Path


def top_ten(name: str, profile: cProfile.Profile) -> list[str]:
    """The ten functions with the most time of their own."""
    stats = pstats.Stats(profile)
    entries = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:10]  # type: ignore[attr-defined]
    total = stats.total_tt  # type: ignore[attr-defined]
    lines = [f"Profile of *{name}* (share of own time, calls):", ""]
    for (file, line, function), (_, calls, own, _, _) in entries:
        place = f"{'/'.join(Path(file).parts[-2:])}:{line}" if line else "built in"
        lines.append(f"- {own / total:.0%} `{function}` ({place}), {calls:,} calls")
    return lines

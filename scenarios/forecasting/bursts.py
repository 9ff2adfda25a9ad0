"""The bytes that the quotas of leaders let through at once, and those after that (KIP-73's window)."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np
import numpy.typing as npt
from attrs import define, field

from scenarios.forecasting.shares import Floats

NOTHING = 1e-3
"""Bytes, and seconds, that are rounding errors."""


@define(eq=False)
class Bursts:
    """The quotas of all brokers as leaders, under one rate.

    A leader counts empty answers too, so its window is full when a move begins, and all that it holds passes at once.
    What has not passed by the end of that window is lost, but for what is sent less than the rate.

    Attributes:
        rate: bytes per second.
        window_s: the length of the window.
        held: the bytes that each quota would let through at once. Below zero: what followers in sync have used up.
        bursting: which quotas do let through all that they are asked for,
        over_s: and when the first window of that is over.
        resumes_s: when such a quota lets through more, once its first window is used up. All quotas do so window after
            window, and the last of n leaders ends n / (n + 1) of a window later, on the average, than a steady rate.
    """

    rate: float
    window_s: float
    held: Floats
    bursting: npt.NDArray[np.bool_] = field(init=False)
    over_s: Floats = field(init=False)
    resumes_s: Floats = field(init=False)
    _sending: set[int] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        self.bursting = np.ones(len(self.held), dtype=bool)
        self.over_s = np.zeros(len(self.held))
        self.resumes_s = np.zeros(len(self.held))

    @classmethod
    def of(cls, rate: float, window_s: float, brokers: int) -> Bursts:
        return cls(rate, window_s, np.full(brokers, rate * window_s))

    def send(self, leaders: Iterable[int], now_s: float) -> None:
        """Declare which leaders send copies from now on."""
        sending = set(leaders)
        for leader in sending - self._sending:
            if self.bursting[leader] and self.held[leader] >= self._half - 1.0:
                self.over_s[leader] = now_s + self.window_s
                self.resumes_s[leader] = now_s + self.window_s * len(sending) / (len(sending) + 1)
        self._sending = sending

    def left(self, through: Floats, base: Floats, now_s: float) -> Floats:
        """The bytes per second that each quota leaves to copies.

        ``through``: its steady rate; ``base``: what followers in sync take.
        """
        steady = np.where(self._resumed(now_s), through, 0.0) - base
        left: Floats = np.where(self.bursting, inf, np.where(self.held < -NOTHING, 0.0, steady))
        return left

    def flow(self, through: Floats, base: Floats, sent: Floats, now_s: float) -> Floats:
        """How ``held`` changes a second, while copies get ``sent``."""
        with np.errstate(invalid="ignore"):
            again = self._resumed(now_s) & ~(self.bursting & (self.over_s > now_s + NOTHING))
            flow: Floats = np.where(again, through, 0.0) - base - sent
        return flow

    def changes_s(self, flow: Floats, now_s: float, coarse_s: float = 0.0) -> float:
        """The time until a quota lets through otherwise, and ``coarse_s`` at least unless one recovers."""
        with np.errstate(divide="ignore", invalid="ignore"):
            to_zero = np.where(self.held * flow < -NOTHING, -self.held / flow, inf)
            to_burst = np.where(~self.bursting & (flow > NOTHING), (self._half - self.held) / flow, inf)
        to_zero[~self.bursting & (self.held >= 0)] = inf
        owing = self.held < 0
        recovers = to_zero[owing].min(initial=inf)
        resumes = self.resumes_s[~self._resumed(now_s)] - now_s
        over = self.over_s[self.bursting & (self.over_s > now_s + NOTHING)] - now_s
        other = min([to_zero[~owing].min(initial=inf), to_burst.min(), *resumes, *over])
        return float(min(recovers, max(other, coarse_s)))

    def pass_time(self, flow: Floats, through: Floats, now_s: float, step_s: float) -> None:
        """Let time pass with that flow. A quota bursts again when it could let through half a window."""
        held = np.minimum(self.held + flow * step_s, self.rate * self.window_s)
        over = self.bursting & (self.over_s > now_s + NOTHING) & (self.over_s <= now_s + step_s + NOTHING)
        held = np.where(over, np.minimum(held, self.window_s * np.maximum(0.0, through + flow)), held)
        self.held = np.where(np.abs(held) < 1.0, 0.0, held)
        self.bursting &= self.held > NOTHING
        self.bursting |= self.held >= self._half - 1.0

    def will_change(self, through: Floats, base: Floats, now_s: float) -> bool:
        """Whether a quota lets through more than its steady rate, or will."""
        recovers = (self.held < -NOTHING) & (through > base)
        idle = [broker for broker in range(len(self.held)) if broker in self._sending]
        return bool(self.bursting[idle].any() or recovers[idle].any() or not self._resumed(now_s).all())

    @property
    def _half(self) -> float:
        """The bytes of half a window."""
        return self.rate * self.window_s / 2

    def _resumed(self, now_s: float) -> npt.NDArray[np.bool_]:
        resumed: npt.NDArray[np.bool_] = self.resumes_s <= now_s + NOTHING
        return resumed

"""A forecast of a plan: first by arithmetic (what moves, what a throttle counts, whether and when it ends), then by
runs of the scenario."""

from scenarios.forecasting.arithmetic import Forecast, Outlook, forecast
from scenarios.forecasting.moving import Moving

__all__ = ["Forecast", "Moving", "Outlook", "forecast"]

"""Figures that have to be reached, and figures to aim at."""

from attrs import frozen


@frozen
class Target:
    """A limit for a figure.

    Attributes:
        limit: the least that the figure may be; with ``at_most`` the most.
        goal: the wanted figure; missing it is no failure.
    """

    limit: float
    goal: float | None = None
    at_most: bool = False

    def met(self, figure: float) -> bool:
        return self._within(figure, self.limit)

    def words(self, figure: float) -> str:
        """The limit, whether ``figure`` meets it, and the goal: the cell of a table."""
        verdict = "met" if self.met(figure) else "missed"
        if self.goal is None:
            return f"{self._sign} {self.limit:g}: {verdict}"
        goal = ", met" if self._within(figure, self.goal) else ""
        return f"{self._sign} {self.limit:g}: {verdict} (goal {self.goal:g}{goal})"

    def missed(self, name: str, figure: float) -> list[str]:
        """A line if ``figure`` does not meet the limit."""
        return [] if self.met(figure) else [f"{name}: {figure:.2f}, wanted {self._sign} {self.limit:g}"]

    @property
    def _sign(self) -> str:
        return "≤" if self.at_most else "≥"

    def _within(self, figure: float, limit: float) -> bool:
        return figure <= limit if self.at_most else figure >= limit

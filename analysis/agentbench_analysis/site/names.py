"""Ids with the names that people know."""

from agentbench_analysis.spec import AnalysisSpec, Factor


class Names:
    """The names of stacks, agents and tasks; an id that the protocol does not know is its own."""

    def __init__(self, spec: AnalysisSpec) -> None:
        self._tasks = _by_id(spec.tasks)
        self._stacks = _by_id(spec.stacks)
        self._agents = _by_id(spec.agents)
        self._order = {stack.id: place for place, stack in enumerate(spec.stacks)}

    def task(self, ident: str) -> str:
        """A task's name."""
        return self._tasks.get(ident, ident)

    def stack(self, ident: str) -> str:
        """A stack's name."""
        return self._stacks.get(ident, ident)

    def agent(self, ident: str) -> str:
        """An agent's name."""
        return self._agents.get(ident, ident)

    def named(self, ident: str) -> str:
        """Any id with its name behind it, where it has another."""
        name = self._stacks.get(ident) or self._agents.get(ident) or self._tasks.get(ident) or ident
        return ident if name == ident else f"{ident} {name}"

    def table(self) -> dict[str, dict[str, str]]:
        """The names of stacks and agents by column, for the run table."""
        return {"stack": self._stacks, "agent": self._agents}

    def colour(self, stack: str) -> int:
        """Which of the six chart colours is a stack's, from 1."""
        return self._order.get(stack, 5) % 6 + 1


def _by_id(factors: tuple[Factor, ...]) -> dict[str, str]:
    return {factor.id: factor.name for factor in factors}

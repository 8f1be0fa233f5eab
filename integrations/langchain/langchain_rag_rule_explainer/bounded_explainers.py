"""This module chooses the explainer for a call by the ``max_concurrency`` in the config of the call."""

from dataclasses import dataclass, field, replace

from langchain_core.runnables import RunnableConfig

from rag_rule_explainer import Explainer, Settings
from rag_rule_explainer.instrumentation.explainer_options import ExplainerOptions
from rag_rule_explainer.predicates import PredicateLike


@dataclass(slots=True, eq=False)
class BoundedExplainers:
    """This class holds one explainer for each ``max_concurrency``; calls with an equal value share it.

    ``own_bound``: the ``concurrency`` that the user set in the settings; None if the user did not set it.
    """

    predicate: PredicateLike | None
    options: ExplainerOptions
    settings: Settings
    own_bound: int | None
    _unbounded: Explainer = field(init=False)
    _by_bound: dict[int, Explainer] = field(default_factory=dict[int, Explainer])

    def __post_init__(self) -> None:
        self._unbounded = self.options.explainer(self.predicate, self.settings)

    def for_config(self, config: RunnableConfig | None) -> Explainer:
        """Returns the explainer for a call with this config.

        Its concurrency is the smaller of the config's ``max_concurrency`` and ``own_bound``. If the user
        has set a limiter, that limiter applies as well. Without ``max_concurrency``, returns the
        explainer that has the user's own settings.
        """
        bound = (config or {}).get("max_concurrency")
        if bound is None:
            return self._unbounded
        if self.own_bound is not None:
            bound = min(bound, self.own_bound)
        settings = replace(self.settings, concurrency=bound)
        options = self.options.within(bound)
        return self._by_bound.setdefault(bound, options.explainer(self.predicate, settings))

"""This module chooses the explainer of a call by the ``max_concurrency`` in the call's config."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from langchain_core.runnables import RunnableConfig

from rag_rule_explainer import Explainer, Settings
from rag_rule_explainer.instrumentation.explainer_options import ExplainerOptions
from rag_rule_explainer.predicates import PredicateLike


@dataclass(slots=True, eq=False)
class BoundedExplainers:
    """This class holds one explainer for each bound on concurrency, so that calls with a bound share it.

    ``default``: the explainer without a bound in the config. ``own_bound``: the caller's ``concurrency``
    setting; None if the caller did not set it. ``make``: returns the explainer for a bound.
    """

    default: Explainer
    own_bound: int | None
    make: Callable[[int], Explainer]
    _by_bound: dict[int, Explainer] = field(default_factory=dict[int, Explainer])

    @classmethod
    def of(
        cls,
        predicate: PredicateLike | None,
        options: ExplainerOptions,
        settings: Settings,
        *,
        sets_concurrency: bool,
    ) -> "BoundedExplainers":
        """Returns the explainers with these options and settings."""
        # A bound takes the place of the limiter as well.
        unlimited = replace(options, limiter=None)

        def make(bound: int) -> Explainer:
            return unlimited.explainer(predicate, replace(settings, concurrency=bound))

        own_bound = settings.concurrency if sets_concurrency else None
        return cls(options.explainer(predicate, settings), own_bound, make)

    def for_config(self, config: RunnableConfig | None) -> Explainer:
        """Returns the explainer for a config; the smaller of its bound and ``own_bound`` holds."""
        bound = (config or {}).get("max_concurrency")
        if bound is None:
            return self.default
        if self.own_bound is not None:
            bound = min(bound, self.own_bound)
        return self._by_bound.setdefault(bound, self.make(bound))

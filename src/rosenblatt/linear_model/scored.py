"""A model that is chosen and judged by a score, with what the splitter and the scorer ask for."""

from typing import Any, ClassVar

from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)


class Scored:
    """A classifier with parameters `scoring`, accuracy by default, and `cv`."""

    # The weights of `score` are the scorer's to ask for.
    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}

    scoring: Any
    cv: Any

    def score(self, X: Any, y: Any, sample_weight: Any = None, **score_params: Any) -> float:
        """Return the score of `scoring` on rows X (n, d) with labels y (n,).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,) or None
            What each row counts.
        score_params : dict
            With metadata routing, what the scorer asks for.

        Returns
        -------
        score : float
        """
        _, to_scorer = self._routed("score", sample_weight, score_params)
        return float(self._scorer()(self, X, y, **to_scorer))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what goes where when metadata routing is enabled.

        Returns
        -------
        routing : MetadataRouter
        """
        fit_and_score = MethodMapping().add(caller="score", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(
                scorer=self._scorer(),
                method_mapping=fit_and_score.add(caller="fit", callee="score"),
            )
        )

    def _routed(
        self, caller: str, weight: Any, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the splitter and the scorer are given besides the rows."""
        _raise_for_params(params, self, caller)
        given = {} if weight is None else {"sample_weight": weight}
        if not _routing_enabled():
            return {}, given
        routed = process_routing(self, caller, **given, **params)
        splitter = routed.splitter.split if caller == "fit" else {}
        return splitter, routed.scorer.score

    def _scorer(self) -> Any:
        scoring = None if isinstance(self.scoring, str) and self.scoring == "warn" else self.scoring
        return get_scorer("accuracy" if scoring is None else scoring)

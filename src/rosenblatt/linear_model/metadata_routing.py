"""Metadata routing of models that choose a penalty by cross-validation."""

from typing import Any

from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)


def router(
    model: Any, splitter: Any, scorer: Any = None, scored_by: tuple[str, ...] = ("fit",)
) -> MetadataRouter:
    """Return the routing of a model whose `fit` splits rows and, given a scorer, scores fits."""
    found = MetadataRouter(owner=model).add_self_request(model)
    splits = MethodMapping().add(caller="fit", callee="split")
    if scorer is not None:
        scores = MethodMapping()
        for caller in scored_by:
            scores.add(caller=caller, callee="score")
        found.add(scorer=scorer, method_mapping=scores)
    return found.add(splitter=splitter, method_mapping=splits)


def routed(
    model: Any, sample_weight: Any, params: dict[str, Any], caller: str = "fit"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the metadata of the splitter and of the scorer.

    Without metadata routing the scorer takes the weights, and other parameters are refused.
    """
    _raise_for_params(params, model, caller)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    if not _routing_enabled():
        return {}, given
    found = process_routing(model, caller, **given, **params)
    splitter, scorer = found.get("splitter"), found.get("scorer")
    return (
        dict(splitter.split) if splitter and caller == "fit" else {},
        dict(scorer.score) if scorer else {},
    )

"""Decisions by distance."""

from .row import Contract, Row, Warm, Without

ROWS = (
    Row(
        name="NearestCentroid",
        module="neighbors.nearest_centroid",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="nearest_centroid",
        sklearn=("NearestCentroid",),
        additive=True,
        path=Without("one statistic serves every shrink_threshold; a conclusion costs K x d steps"),
        trace=Without("the fit is one step in closed form: no state moves"),
        warm=Warm(),
        contract=Contract(
            settings=(
                {},
                {"shrink_threshold": 0.2, "priors": "empirical"},
                {"metric": "manhattan"},
                {"metric": "manhattan", "shrink_threshold": 0.2, "priors": "empirical"},
            ),
            # Medians read the rows again, and have no partial_fit, which the checks would call.
            checked=({}, {"shrink_threshold": 0.2, "priors": "empirical"}),
        ),
        contestants=Without(
            "in a comparison it is the linear discriminant with the strongest shrinkage"
        ),
        file_types=("statistics.moments.Moments", "statistics.counts.ClassCounts"),
        page="neighbors.md",
        benchmark="nearest centroid fit, dense 1M x 50",
    ),
)

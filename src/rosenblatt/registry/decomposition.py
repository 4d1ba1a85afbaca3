"""Fewer columns that keep what matters."""

from .row import Contract, Row, Settings, Warm, Without

COMPONENTS: tuple[Settings, ...] = (
    {},
    {"n_components": 2, "whiten": True},
    {"n_components": 0.9, "svd_solver": "covariance_eigh"},
)

ROWS = (
    Row(
        name="PCA",
        module="decomposition.pca",
        task="transformation",
        inputs=("dense", "sparse"),
        verifier="pca",
        sklearn=("PCA",),
        additive=True,
        path=Without("all axes come from one decomposition; fewer are the first of them"),
        trace=Without("the axes come from one decomposition: no state moves"),
        warm=Warm(sparse=False),
        contract=Contract(settings=COMPONENTS, checked=COMPONENTS[:2]),
        contestants=Without("compare tries models; this stands before one"),
        file_types=("statistics.counts.ClassCounts", "statistics.moments.Moments"),
        page="pca.md",
        benchmark="PCA, 1M x 50",
    ),
)

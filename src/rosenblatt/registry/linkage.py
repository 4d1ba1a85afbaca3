"""Trees of clusters, and what many clusterings agree on."""

from .row import Contract, Row, Settings, Warm, Without

NO_TARGET = Without("rows without labels: `compare` compares predictions of a target")
LINKAGES: tuple[Settings, ...] = (
    {},
    {"linkage": "single", "n_clusters": 3},
    {"linkage": "average", "metric": "manhattan"},
    {"linkage": "complete", "n_clusters": None, "distance_threshold": 1.0},
)

ROWS = (
    Row(
        name="AgglomerativeClustering",
        module="cluster.agglomerative",
        task="clustering",
        inputs=("dense", "precomputed"),
        verifier="agglomerative",
        sklearn=("AgglomerativeClustering",),
        additive=Without("the tree depends on the distances of all pairs of rows"),
        path=Without("one tree holds every number of clusters: `cut` returns their labels"),
        trace=Without("the tree itself is the record of its steps"),
        warm=Warm(
            tuple({"linkage": name} for name in ("single", "complete", "average", "ward")),
            sparse=False,
        ),
        contract=Contract(
            settings=LINKAGES,
            checked=LINKAGES[:3],  # the checks set n_clusters
            most_rows=2_000,
        ),
        contestants=NO_TARGET,
        file_types=(),
        page="linkage.md",
        benchmark="linkage, Ward, 10,000 x 16",
    ),
)

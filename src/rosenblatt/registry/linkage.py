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
    Row(
        name="ConsensusClustering",
        module="cluster.consensus",
        task="clustering",
        inputs=("dense",),
        verifier="consensus",
        sklearn=Without("scikit-learn has no such class"),
        additive=Without("its runs are clusterings of all rows"),
        path=Without("another number of pieces is another cut of the same votes"),
        trace=Without("its runs are fits of another model, which has a trace of its own"),
        warm=Warm(({"n_runs": 2},), sparse=False),
        contract=Contract(
            settings=(
                {"n_runs": 3, "random_state": 0},
                {"n_runs": 3, "n_clusters": 2, "max_samples": 0.8, "random_state": 0},
            ),
            checked=({"n_runs": 3, "random_state": 0},),
        ),
        contestants=NO_TARGET,
        file_types=(),
        page="consensus.md",
        benchmark=Without("its time is that of the runs"),
    ),
)

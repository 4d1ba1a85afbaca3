"""Decisions by distance."""

from .row import Contestant, Contract, Row, Settings, Warm, Without

IS_ROWS = Without("the model is its rows: partial_fit, merge and forget add and remove them")
AT_ONCE = Without("the fit stores the rows: no state moves")

SEARCHES: tuple[Settings, ...] = (
    {},
    {"p": 1, "weights": "distance"},
    {"metric": "gower"},
)


def _neighbours(name: str, task: str, *contestants: Contestant) -> Row:
    return Row(
        name=name,
        module="neighbors.classification" if task == "classification" else "neighbors.regression",
        task=task,
        inputs=("dense", "sparse", "missing", "categorical", "precomputed"),
        verifier="neighbors",
        sklearn=(name,),
        additive=IS_ROWS,
        path=("n_neighbors",),
        trace=AT_ONCE,
        warm=Warm(({}, {"metric": "gower"}), sparse=False, large="neighbors.search.run_all_loops"),
        contract=Contract(settings=SEARCHES, most_rows=2_000),
        contestants=contestants,
        file_types=("neighbors.gower.MixedColumns",),
        page="neighbors.md",
        benchmark="nearest neighbours, 100k stored, 10k queries, 16 columns",
        parts="neighbors",
    )


K_NEAREST = {"n_neighbors": (1, 3, 5, 9, 15, 25, 45), "weights": ("uniform", "distance")}
MIXED = "numbers, categories and missing values, where rows that agree in most columns are alike"
ALIKE = "rows that are near each other are alike, few columns, all of which matter"

ROWS = (
    _neighbours(
        "KNeighborsClassifier",
        "classification",
        Contestant(
            "nearest neighbours",
            ALIKE,
            K_NEAREST,
            limits=("columns beside texts", "few pairs of sparse rows"),
            short_names=("knn", "k-nn", "neighbours", "nearest neighbors", "k nearest neighbors"),
        ),
        Contestant(
            "nearest neighbours of mixed columns",
            MIXED,
            K_NEAREST,
            reads="table",
            settings={"metric": "gower"},
            limits=("named columns", "some categories", "few rows for pairs"),
            short_names=("gower",),
        ),
    ),
    _neighbours(
        "KNeighborsRegressor",
        "regression",
        Contestant(
            "nearest neighbours regression",
            ALIKE,
            K_NEAREST,
            limits=("columns beside texts", "few pairs of sparse rows"),
            short_names=("knn", "k-nn", "neighbours", "nearest neighbors", "k nearest neighbors"),
        ),
        Contestant(
            "nearest neighbours regression of mixed columns",
            MIXED,
            K_NEAREST,
            reads="table",
            settings={"metric": "gower"},
            limits=("named columns", "some categories", "few rows for pairs"),
            short_names=("gower",),
        ),
    ),
    Row(
        name="NearestNeighbors",
        module="neighbors.regression",
        task="neighbours",
        inputs=("dense", "sparse", "precomputed"),
        verifier="neighbors",
        sklearn=("NearestNeighbors",),
        additive=IS_ROWS,
        path=("n_neighbors",),
        trace=AT_ONCE,
        warm=Without("KNeighborsClassifier compiles the same loops"),
        contract=Without("the promises about its search are tested with KNeighborsClassifier"),
        contestants=Without("it finds rows and predicts nothing"),
        file_types=(),
        page="neighbors.md",
        benchmark="nearest neighbours, 100k stored, 10k queries, 16 columns",
    ),
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

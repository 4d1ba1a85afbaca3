"""Groups of rows without labels, and mixtures."""

from .row import Contract, Row, Warm, Without

NO_TARGET = Without("rows without labels: `compare` compares predictions of a target")
NO_PATH = Without("another number of clusters is another problem, from another start")

ROWS = (
    Row(
        name="KMeans",
        module="cluster.kmeans",
        task="clustering",
        inputs=("dense", "sparse"),
        verifier="kmeans",
        sklearn=("KMeans",),
        additive=Without("one iteration is: `measure` gives the additive moments of a piece"),
        path=NO_PATH,
        trace=("centres",),
        warm=Warm(),
        contract=Contract(
            settings=(
                {"n_clusters": 3, "random_state": 0},
                {"n_clusters": 4, "init": "random", "n_init": 1, "tol": 0.0, "random_state": 1},
            ),
            checked=({"n_clusters": 3, "random_state": 0},),
            expected_failures={
                "check_sample_weight_equivalence_on_dense_data": "it draws rows to start from",
                "check_sample_weight_equivalence_on_sparse_data": "it draws rows to start from",
            },
            endless={"tol": 0.0},
        ),
        contestants=NO_TARGET,
        file_types=(),
        page="kmeans.md",
        benchmark="k-means, 1M x 16, 20 clusters",
        parts="kmeans",
    ),
    Row(
        name="MiniBatchKMeans",
        module="cluster.mini_batch",
        task="clustering",
        inputs=("dense", "sparse"),
        verifier="kmeans",
        sklearn=("MiniBatchKMeans",),
        additive=Without("each batch moves centres from where the last one left them"),
        path=NO_PATH,
        trace=("centres",),
        warm=Without("KMeans compiles the loops of its answers"),
        contract=Without("the fit is scikit-learn's, on threads that no forked child can use"),
        contestants=NO_TARGET,
        file_types=(),
        page="kmeans.md",
        benchmark=Without("the fit is scikit-learn's"),
    ),
    Row(
        name="GaussianMixture",
        module="mixture.gaussian",
        task="density",
        inputs=("dense",),
        verifier="gaussian_mixture",
        sklearn=("GaussianMixture",),
        additive=Without("one iteration is: `measure` gives the additive moments of a piece"),
        path=NO_PATH,
        trace=("centres", "spreads", "shares"),
        warm=Warm(({}, {"covariance_type": "diag"}), sparse=False),
        contract=Contract(
            settings=(
                {"n_components": 2, "random_state": 0, "tol": 1e-6},
                {"n_components": 2, "covariance_type": "tied", "random_state": 0, "tol": 1e-6},
                {"n_components": 3, "covariance_type": "diag", "random_state": 0, "tol": 1e-6},
                {"n_components": 2, "covariance_type": "spherical", "random_state": 0, "tol": 1e-6},
            ),
            endless={"tol": 0.0},
        ),
        contestants=NO_TARGET,
        file_types=(),
        page="mixtures.md",
        benchmark="Gaussian mixture, 200k x 16, 10 full components, 50 iterations",
        parts="mixture",
    ),
)

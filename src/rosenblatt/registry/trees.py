"""Trees, forests and bagging."""

from .row import Contestant, Contract, Row, Warm, Without

NOT_ADDITIVE = Without("each split depends on the rows that those above it left together")
NO_STATISTIC = "a forest draws rows: of one of weight two it may draw one, two or none"
BY_DRAWS = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    NO_STATISTIC,
)
NO_TEXTS = ("columns beside texts",)
PRICES = (0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)  # of a leaf, in shares of impurity
FIXED = {"random_state": 0}
TREE_TYPES = ("tree.structure.Tree",)
NO_PATH = Without("each forest is drawn anew; more trees are added by warm_start")
NO_TRACE = Without("scikit-learn's bagging has no callbacks; the models are in estimators_")
FEW_TREES = {"n_estimators": 8, "random_state": 0}


def _forest(name: str, task: str, module: str, contestant: Contestant, benchmark: object) -> Row:
    kind = "Classifier" if task == "classification" else "Regressor"
    extra: dict[str, object] = {"criterion": "entropy"} if task == "classification" else {}
    return Row(
        name=name,
        module=module,
        task=task,
        inputs=("dense", "sparse", "missing"),
        verifier="forest",
        sklearn=(name,),
        additive=NOT_ADDITIVE,
        path=NO_PATH,
        trace=("votes",),
        warm=Warm(({"n_estimators": 2},)),
        contract=Contract(
            settings=(
                FEW_TREES,
                {**FEW_TREES, **extra, "max_depth": 4, "min_samples_leaf": 2},
            ),
            checked=(FEW_TREES,),
            expected_failures=BY_DRAWS if name.startswith("Random") else {},
            endless={"n_estimators": 200},
        ),
        contestants=(contestant,),
        file_types=(*TREE_TYPES, f"tree.{kind.lower()}.DecisionTree{kind}"),
        page="forests.md",
        benchmark=benchmark,  # type: ignore[arg-type]
        parts="forest",
    )


def _trees(
    name: str, when: str, fewer_columns: tuple[object, ...], *short_names: str
) -> Contestant:
    """A contestant of many trees: how many columns a node tries, how large leaves are."""
    return Contestant(
        name,
        when,
        {"max_features": fewer_columns, "min_samples_leaf": (1, 3)},
        reads="codes",
        settings=FIXED,
        limits=NO_TEXTS,
        halve="forest",
        short_names=short_names,
    )


RANDOM_FOREST = "columns that matter together, in ways nobody knows; hardly a setting to choose"
EXTRA_TREES = "the same, smoother and faster: thresholds are drawn, not searched for"

ROWS = (
    Row(
        name="DecisionTreeClassifier",
        module="tree.classifier",
        task="classification",
        inputs=("dense", "sparse", "missing"),
        verifier="tree",
        sklearn=("DecisionTreeClassifier", "ExtraTreeClassifier"),
        additive=NOT_ADDITIVE,
        path=("ccp_alpha",),
        trace=("splits",),
        warm=Warm(({}, {"search": "optimal", "max_depth": 2})),
        contract=Contract(
            settings=(
                {},
                {"criterion": "entropy", "max_depth": 3},
                {"splitter": "random", "max_features": "sqrt", "random_state": 0},
                {"ccp_alpha": 0.01, "min_samples_leaf": 3, "leaf_smoothing": 1.0},
            ),
            checked=({}, {"criterion": "entropy", "splitter": "random", "random_state": 0}),
        ),
        contestants=(
            Contestant(
                "decision tree",
                "rules that people can read",
                {"ccp_alpha": PRICES},
                reads="columns",
                settings=FIXED,
                limits=NO_TEXTS,
                short_names=("tree", "cart", "id3", "classification tree"),
            ),
        ),
        file_types=TREE_TYPES,
        page="trees.md",
        benchmark="decision tree, dense 100k x 30, grown out",
    ),
    Row(
        name="DecisionTreeRegressor",
        module="tree.regressor",
        task="regression",
        inputs=("dense", "sparse", "missing"),
        verifier="tree",
        sklearn=("DecisionTreeRegressor", "ExtraTreeRegressor"),
        additive=NOT_ADDITIVE,
        path=("ccp_alpha",),
        trace=("splits",),
        warm=Warm(({}, {"criterion": "absolute_error"})),
        contract=Contract(
            settings=(
                {},
                {"max_depth": 3, "min_samples_leaf": 3},
                {"criterion": "absolute_error", "max_depth": 4},
                {"splitter": "random", "max_features": "sqrt", "random_state": 0},
            ),
            checked=({}, {"criterion": "absolute_error"}),
        ),
        contestants=(
            Contestant(
                "regression tree",
                "rules that people can read",
                {"min_samples_leaf": (1, 3, 10, 30, 100)},
                reads="columns",
                settings=FIXED,
                limits=NO_TEXTS,
                short_names=("tree", "cart", "decision tree"),
            ),
        ),
        file_types=TREE_TYPES,
        page="trees.md",
        benchmark=Without("the classifier's row times the same sort and partition"),
    ),
    _forest(
        "RandomForestClassifier",
        "classification",
        "ensemble.forest",
        _trees("random forest", RANDOM_FOREST, ("sqrt", 0.5), "rf", "forest"),
        "random forest, dense 50k x 30, 100 trees",
    ),
    _forest(
        "RandomForestRegressor",
        "regression",
        "ensemble.forest",
        _trees(
            "random forest regression", RANDOM_FOREST, (0.3, 0.6), "rf", "forest", "random forest"
        ),
        Without("the classifier's row times the same loop"),
    ),
    _forest(
        "ExtraTreesClassifier",
        "classification",
        "ensemble.extra_trees",
        _trees("extra trees", EXTRA_TREES, ("sqrt", 0.5), "et", "extratrees"),
        Without("the random forest's row times the same loop"),
    ),
    _forest(
        "ExtraTreesRegressor",
        "regression",
        "ensemble.extra_trees",
        _trees(
            "extra trees regression", EXTRA_TREES, (0.3, 0.6), "et", "extratrees", "extra trees"
        ),
        Without("the random forest's row times the same loop"),
    ),
    *(
        Row(
            name=f"Bagging{kind}",
            module="ensemble.bagging",
            task=task,
            inputs=("dense", "sparse"),
            verifier="forest",
            sklearn=(f"Bagging{kind}",),
            additive=NOT_ADDITIVE,
            path=NO_PATH,
            trace=NO_TRACE,
            warm=Without("it fits the model that it is given"),
            contract=Without("scikit-learn's class, with another default; its own tests run it"),
            contestants=Without("the random forest does better with the same trees"),
            file_types=TREE_TYPES,
            page="forests.md",
            benchmark=Without("scikit-learn's own loop over models"),
        )
        for kind, task in (("Classifier", "classification"), ("Regressor", "regression"))
    ),
)

"""Gradient boosting on histograms."""

from .row import Contestant, Contract, Row, Warm, Without

NOT_ADDITIVE = Without("each tree depends on the predictions of those before it")
SHORT_NAMES = ("gb", "gbdt", "gbm", "hgb", "boosting", "boosted trees", "lightgbm", "xgboost")
FEW_ROUNDS = {
    "max_iter": 5,
    "min_samples_leaf": 1,  # a leaf of two rows would take one of weight two for one
    "max_leaf_nodes": 6,
    "early_stopping": False,
    "random_state": 0,
}


def _boosting(task: str, losses: tuple[str, ...], benchmark: str) -> Row:
    name = "HistGradientBoosting" + ("Classifier" if task == "classification" else "Regressor")
    return Row(
        name=name,
        module="ensemble.hist_gradient_boosting",
        task=task,
        inputs=("dense", "missing"),
        verifier="gradient_boosting",
        sklearn=(name,),
        additive=NOT_ADDITIVE,
        path=Without("each number of rounds is a stage of one fit: staged_predict gives them all"),
        trace=("loss",),
        warm=Warm(
            tuple({"max_iter": 2, "loss": loss} for loss in losses),
            sparse=False,
            large="ensemble.boosted_growth.run_helper_loop",
        ),
        contract=Contract(
            settings=(
                FEW_ROUNDS,
                {**FEW_ROUNDS, "early_stopping": True, "max_features": 0.5, "max_depth": 3},
            ),
            checked=(FEW_ROUNDS,),
            endless={"max_iter": 100_000, "tol": 0.0, "early_stopping": False},
        ),
        contestants=(
            Contestant(
                "gradient boosting" + " regression" * (task == "regression"),
                "tables of numbers and categories with rows enough: what to try first",
                {
                    "max_leaf_nodes": (31, 127, 8),
                    "max_features": (1.0, 0.5),
                    "min_samples_leaf": (20, 5),
                },
                reads="levels",
                # Without a penalty leaves of few rows make endless steps.
                settings={"random_state": 0, "l2_regularization": 1.0},
                limits=("a table or few cells", "columns beside texts"),
                halve="boosting rounds",
                short_names=SHORT_NAMES + ("gradient boosting",) * (task == "regression"),
            ),
        ),
        file_types=("ensemble.boosted_trees.BoostedTrees",),
        page="gradient_boosting.md",
        benchmark=benchmark,
        parts="boosting",
    )


ROWS = (
    _boosting("classification", ("log_loss",), "histogram boosting, dense 100k x 30"),
    _boosting("regression", ("squared_error",), "histogram boosting regression, 300k x 20"),
)

"""Boosting by weights, and voting."""

from .row import Contestant, Contract, Row, Warm, Without
from .trees import FIXED, NO_TEXTS, TREE_TYPES

FEW_ROUNDS = {"n_estimators": 6, "random_state": 0}
ROUNDS = (25, 50, 100, 200)

ROWS = (
    Row(
        name="AdaBoostClassifier",
        module="ensemble.adaboost",
        task="classification",
        inputs=("dense", "sparse"),
        verifier="adaboost",
        sklearn=("AdaBoostClassifier",),
        additive=Without("each round depends on the rows that those before it got wrong"),
        path=("n_estimators",),
        trace=("votes",),
        warm=Warm(({"n_estimators": 2},)),
        contract=Contract(
            settings=(
                FEW_ROUNDS,
                {**FEW_ROUNDS, "alpha_cap": 2.0, "flip": True, "learning_rate": 0.5},
            ),
            checked=(FEW_ROUNDS, {**FEW_ROUNDS, "alpha_cap": 3.0, "flip": True}),
            endless={"n_estimators": 100_000},
        ),
        contestants=(
            Contestant(
                "AdaBoost",
                "classes that many simple tests on single columns add up to",
                {"n_estimators": ROUNDS},
                reads="columns",
                settings=FIXED,
                limits=NO_TEXTS,
                short_names=("ada", "boosted stumps"),
            ),
        ),
        file_types=(*TREE_TYPES, "tree.classifier.DecisionTreeClassifier"),
        page="boosting.md",
        benchmark="AdaBoost, 200 stumps, dense 100k x 30",
    ),
    Row(
        name="VotingClassifier",
        module="ensemble.voting",
        task="classification",
        inputs=("dense", "sparse"),
        verifier=Without("each member has a certificate of its own"),
        sklearn=Without("each member has a certificate of its own"),
        additive=Without("it fits the models that it is given"),
        path=Without("it fits the models that it is given"),
        trace=Without("scikit-learn's voting has no callbacks; the models are in estimators_"),
        warm=Without("it fits the models that it is given"),
        contract=Without("scikit-learn's class, which needs models; its own tests run it"),
        contestants=Without("it needs the best of the others, and is made of them in the end"),
        file_types=(),
        page="boosting.md",
        benchmark=Without("scikit-learn's own loop over models"),
    ),
)

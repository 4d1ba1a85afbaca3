"""What the page on framing a problem says of learning, of answers and of overfitting."""

import importlib
import re
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_digits, load_iris, make_moons
from sklearn.metrics import log_loss
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline

import rosenblatt
from rosenblatt import (
    BasisExpansion,
    GaussianNB,
    GridSearchCV,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    SealedTest,
    Standardizer,
)
from rosenblatt.data import TableError
from rosenblatt.linear_model import SeparationWarning
from tests.contract.estimators import instances

PAGE = Path(__file__).resolve().parents[2] / "docs" / "framing.md"
IRIS = load_iris(return_X_y=True)


def test_experience_improves_the_measure_at_the_task():
    # A1: digits to be read, the share read right, and labelled images
    X, y = load_digits(return_X_y=True)
    shares = [GaussianNB(var_smoothing=0.1).fit(X[:n], y[:n]).score(X[1000:], y[1000:])
              for n in (10, 100, 1000)]  # fmt: skip
    assert shares == sorted(shares)
    assert shares[-1] > shares[0] + 0.1


class TestProtocols:
    """A2: supervised or not, one row at a time or all at once."""

    def test_a_perceptron_is_online_row_by_row_is_one_pass(self, unconverged):
        X, y = IRIS
        order = np.random.default_rng(0).permutation(len(y))
        online = Perceptron()
        for i in order:
            online.partial_fit(X[[i]], y[[i]], classes=[0, 1, 2])
        batch = Perceptron(shuffle=False, max_iter=1, tol=None).fit(X[order], y[order])
        np.testing.assert_array_equal(online.coef_, batch.coef_)

    def test_counts_do_not_ask_in_which_order_or_portions_rows_come(self):
        X, y = IRIS
        online = GaussianNB()
        for rows in np.array_split(np.random.default_rng(0).permutation(len(y)), 40):
            online.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        batch = GaussianNB().fit(X, y)
        np.testing.assert_allclose(online.theta_, batch.theta_, rtol=1e-12)
        np.testing.assert_allclose(online.var_, batch.var_, rtol=1e-9)

    def test_what_needs_all_rows_at_once_has_no_partial_fit(self):
        assert not hasattr(LogisticRegression(), "partial_fit")

    def test_columns_are_standardised_without_labels(self):
        X, y = IRIS
        np.testing.assert_array_equal(Standardizer().fit(X).mean_, Standardizer().fit(X, y).mean_)

    def test_an_update_is_that_of_approximate_q_learning(self):
        """Classes as actions, scores as values: w_a += eta (target - value) x, value being 0 or 1.

        The class taken is charged with the reward it did not earn, the right one paid it.
        """
        x, W = np.array([1.0, 2.0, -1.0]), np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 1.0]])
        taken, right = int(np.argmax(W @ x)), 2
        model = Perceptron(fit_intercept=False, max_iter=1, tol=None, shuffle=False)
        rows, labels = [x, 0 * x, 0 * x], [right, 0, 1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows, labels, coef_init=W)
        value = np.eye(3)[taken]
        reward = np.eye(3)[right]
        np.testing.assert_allclose(model.coef_, W + np.outer(reward - value, x))


class TestOutputs:
    """A3: two classes, several, a number, and structures."""

    def test_the_kind_of_answer_follows_from_the_target(self, tmp_path):
        frame = pl.DataFrame({"x": np.arange(60) % 13 + 0.5})
        rng = np.random.default_rng(0)
        for values, kind in (
            (["no", "yes"] * 30, "classification"),
            (["red", "green", "blue"] * 20, "classification"),
            (rng.normal(size=60), "regression"),
        ):
            table = frame.with_columns(pl.Series("y", values))
            found = rosenblatt.compare(
                table, "y", ledger=tmp_path / "ledger",
                families=["LinearRegression" if kind == "regression" else "GaussianNB"],
            )  # fmt: skip
            assert found.findings.protocol.task == kind

    def test_a_structure_is_refused_by_its_kind(self, tmp_path):
        table = pl.DataFrame({"x": np.arange(60.0), "y": [["a", "b"]] * 60})
        with pytest.raises(TableError, match="a kind that no model predicts"):
            rosenblatt.compare(table, "y", ledger=tmp_path / "ledger")
        with pytest.raises(ValueError, match="y should be a 1d array"):
            LogisticRegression().fit(IRIS[0], np.column_stack([IRIS[1], IRIS[1]]) > 0)

    def test_several_classes_are_several_problems_of_two(self):
        X, y = IRIS
        each = OneVsRestClassifier(LogisticRegression()).fit(X, y)
        pairs = OneVsOneClassifier(LogisticRegression()).fit(X, y)
        assert (len(each.estimators_), len(pairs.estimators_)) == (3, 3)
        assert all(list(model.classes_) == [0, 1] for model in each.estimators_)
        assert min(each.score(X, y), pairs.score(X, y)) > 0.93

    def test_several_labels_are_a_model_each_or_a_chain(self):
        X, _ = IRIS
        labels = (X[:, [0, 3]] > X[:, [0, 3]].mean(axis=0)).astype(int)
        together = MultiOutputClassifier(LogisticRegression()).fit(X[:, 1:3], labels)
        alone = [LogisticRegression().fit(X[:, 1:3], labels[:, k]) for k in (0, 1)]
        expected = np.column_stack([model.predict(X[:, 1:3]) for model in alone])
        np.testing.assert_array_equal(together.predict(X[:, 1:3]), expected)
        chain = ClassifierChain(LogisticRegression()).fit(X[:, 1:3], labels)
        assert chain.predict(X[:, 1:3]).shape == labels.shape

    def test_several_numbers_are_a_column_each(self):
        X, _ = IRIS
        both = LinearRegression().fit(X[:, :2], X[:, 2:])
        for k in (0, 1):
            alone = LinearRegression().fit(X[:, :2], X[:, 2 + k])
            np.testing.assert_allclose(both.coef_[k], alone.coef_)


# What models a class from within, or adds up, may meet one class first, and then predicts it.
# A tree of one class is a leaf; scikit-learn's trees and forests accept one class too.
ACCEPT_ONE = {
    "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MixedNB", "MultinomialNB",
    "TreeAugmentedNB",
    "LinearDiscriminantAnalysis", "LeastSquaresClassifier", "AdaBoostClassifier",
    "DecisionTreeClassifier", "ExtraTreesClassifier", "RandomForestClassifier",
    "HistGradientBoostingClassifier", "KNeighborsClassifier",
}  # fmt: skip


@pytest.mark.parametrize("model", [m for m in instances() if is_classifier(m)], ids=repr)
def test_a_boundary_needs_two_classes(model):
    # A4: refuse to fit with a single class
    X = np.random.default_rng(0).integers(0, 3, (20, 3)).astype(float)
    if type(model).__name__ in ACCEPT_ONE:
        assert set(model.fit(X, ["a"] * 20).predict(X)) == {"a"}
    else:
        with pytest.raises(ValueError, match=r"1 class|n_splits|least populated"):
            model.fit(X, ["a"] * 20)


def test_where_columns_tell_nothing_no_model_helps(tmp_path):
    # A4: if features do not discriminate no classifier does
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    table = table.with_columns(pl.Series("y", rng.choice(["u", "v"], size=300)))
    found = rosenblatt.compare(
        table, "y", ledger=tmp_path / "ledger", families=["GaussianNB", "LogisticRegression"]
    )
    assert "baseline" in str(found)
    assert found.leaderboard.loc[found.leaderboard["baseline"], "p_value"].iloc[0] > 0.05


MOONS, NEW = (make_moons(n, noise=0.35, random_state=seed) for n, seed in ((60, 0), (4000, 1)))


def curve(degree=7, C=1e3, **settings):
    """Logistic regression on a polynomial, hardly penalised."""
    last = LogisticRegression(C=C, **{"max_iter": 2000, **settings})
    return make_pipeline(BasisExpansion("polynomial", degree=degree), Standardizer(), last)


def loss(model, rows=MOONS):
    """Fit to sixty rows, unless given others; the log loss on new ones."""
    return log_loss(NEW[1], model.fit(*rows).predict_proba(NEW[0]))


@pytest.fixture(scope="module")
def free():
    return loss(curve())


class TestOverfitting:
    """A13: each way against overfitting lowers the loss on new rows of one task."""

    def test_the_model_overfits(self, free):
        train = log_loss(MOONS[1], curve().fit(*MOONS).predict_proba(MOONS[0]))
        assert free > 4 * train

    def test_a_smaller_class(self, free):
        assert loss(curve(degree=3)) < 0.7 * free

    def test_a_penalty_which_also_keeps_weights_small(self, free):
        """H3: large weights are what an overfitted curve looks like."""
        penalised, plain = curve(C=0.1), curve().fit(*MOONS)
        assert loss(penalised) < 0.7 * free
        assert np.abs(penalised[-1].coef_).max() < 0.1 * np.abs(plain[-1].coef_).max()

    def test_noise_added_to_the_rows(self, free):
        noise = 0.35 * np.random.default_rng(0).normal(size=(30 * len(MOONS[0]), 2))
        rows, labels = np.tile(MOONS[0], (30, 1)) + noise, np.tile(MOONS[1], 30)
        assert loss(curve(), (rows, labels)) < 0.7 * free

    def test_stopping_early(self, free, unconverged):
        assert loss(curve(solver="gradient", max_iter=10)) < 0.7 * free

    def test_more_rows(self, free):
        assert loss(curve(), make_moons(2000, noise=0.35, random_state=2)) < 0.7 * free

    def test_choosing_on_held_out_rows(self, free):
        grid = {"basisexpansion__degree": [1, 3, 7], "logisticregression__C": [0.1, 1, 1e3]}
        search = GridSearchCV(curve(), grid, scoring="neg_log_loss")
        assert loss(search) < 0.7 * free

    def test_noise_of_one_size_in_every_column_is_a_ridge_penalty(self):
        """Copies moved by +-s along each of d axes add 2 s^2 per row and axis to X'X: alpha."""
        X, t = load_diabetes(return_X_y=True)
        X = 20 * (X - X.mean(axis=0))
        n, d = X.shape
        s = 0.7
        moves = s * np.vstack([np.eye(d), -np.eye(d)])
        copies = (X[:, None] + moves).reshape(-1, d)
        noisy = LinearRegression().fit(copies, np.repeat(t, 2 * d))
        ridge = Ridge(alpha=n * s**2 / d).fit(X, t)
        np.testing.assert_allclose(noisy.coef_, ridge.coef_, rtol=1e-9)


class TestWarnings:
    """Y: warnings worth repeating, each shown to be true."""

    def test_a_second_look_at_the_test_set_is_reported(self, tmp_path):
        X, y = IRIS
        sealed = SealedTest(X, y, ledger=tmp_path / "ledger.jsonl")
        model = GaussianNB().fit(X, y)
        sealed.open(model)
        with pytest.warns(UserWarning, match="opening number 2"):
            sealed.open(model)

    def test_probabilities_kept_until_the_costs_are_known_cost_less(self):
        X, y = make_moons(2000, noise=0.5, random_state=0)
        model = LogisticRegression().fit(X[::2], y[::2])
        p, truth = model.predict_proba(X[1::2])[:, 1], y[1::2]

        def cost(decided):  # a miss costs five false alarms
            return 5 * np.sum(truth & ~decided) + np.sum(~truth.astype(bool) & decided)

        assert cost(p > 1 / 6) < 0.8 * cost(model.predict(X[1::2]) == 1)

    def test_longer_weights_are_no_better_plane_and_the_fit_says_so(self):
        """On separable rows the likelihood rises for ever as w grows; its direction stands."""
        X, y = IRIS[0][:100, :2], IRIS[1][:100]
        with pytest.warns(SeparationWarning):
            model = LogisticRegression(C=np.inf).fit(X, y)
        scores = (2 * y - 1) * model.decision_function(X)
        assert scores.min() > 0
        losses = [np.logaddexp(0, -scale * scores).sum() for scale in (1, 2, 4)]
        assert losses == sorted(losses, reverse=True)
        distances = [np.min(s * scores) / np.linalg.norm(s * model.coef_) for s in (1, 2, 4)]
        np.testing.assert_allclose(distances, distances[0])


NAMED = """structured output, reinforcement learning, neural networks and deep learning, dropout,
learning theory, softmax regression, Gaussian discriminant analysis, C4.5, CART, gradient boosting,
conjugate gradient, evaluation metrics, dimensionality reduction, robustness, adversarial inputs,
common sense, fairness, basis expansion in several columns"""


def test_every_topic_named_and_not_developed_has_a_row_and_its_names_exist():
    # Y: what is here under another name, what is planned, what is outside
    lines = PAGE.read_text(encoding="utf-8").split("## Named and not built", 1)[1].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    topics = {row[0].lower(): row for row in rows[2:]}
    assert set(topics) == {" ".join(topic.split()).lower() for topic in re.split(r",\s+", NAMED)}
    for row in topics.values():
        assert row[1] in {"here", "planned", "outside"}, row
        names = re.findall(r"`([A-Za-z_.]+)`", row[2])
        assert names or row[1] != "here", row
        if row[1] == "here":
            for name in names:
                if name.startswith("sklearn."):
                    importlib.import_module(name)
                else:
                    assert hasattr(rosenblatt, name), name

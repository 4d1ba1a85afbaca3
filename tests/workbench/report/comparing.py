"""Comparisons small enough for tests: real models, real folds and a real test set, no search.

What the workbench does at length is done here in a few lines, so that reports of it can be looked
at: `python -m tests.workbench.report.comparing FOLDER` writes one page of each kind.
"""

import pickle
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from scipy.linalg import LinAlgWarning
from scipy.stats import ttest_rel
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline

import rosenblatt
from rosenblatt import (
    GaussianNB,
    KernelPerceptron,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    Ridge,
    Standardizer,
    certify,
    cross_validate,
    train_dev_test_split,
)
from rosenblatt.data import columns_of, read_table
from rosenblatt.workbench.findings import (
    Candidate,
    Contestant,
    Dropped,
    Findings,
    Hint,
    Interval,
    LearningCurve,
    Opening,
    Protocol,
)
from rosenblatt.workbench.report import save

CLASSIFIERS = {
    "logistic regression": (LogisticRegression(), {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}),
    "Gaussian naive Bayes": (GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}),
    "linear discriminant analysis": (LinearDiscriminantAnalysis(), {}),
    "quadratic discriminant analysis": (
        QuadraticDiscriminantAnalysis(), {"reg_param": [0.01, 0.1, 0.5]},
    ),
    "perceptron": (Perceptron(max_iter=50, tol=None, random_state=0), {"alpha": [0.0001]}),
    "kernel perceptron": (
        KernelPerceptron(max_iter=20, random_state=0),
        {"kernel": ["linear", "poly", "rbf"], "gamma": [0.03, 0.3]},
    ),
}  # fmt: skip
REGRESSORS = {
    "least squares": (LinearRegression(), {}),
    "ridge regression": (Ridge(), {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]}),
    "lasso": (Lasso(), {"alpha": [0.01, 0.1, 1.0, 10.0]}),
}


def compare(*arguments, **options):
    """Findings of some families on a table of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", LinAlgWarning)
        return _compare(*arguments, **options)


def _compare(source, target="target", families=None, metric=None, folds=5, certified=True):
    started = time.perf_counter()
    table = read_table(source)
    frame = table.frame
    y = frame[target].to_numpy()
    X = frame.drop(target).to_numpy().astype(np.float64)
    numeric = frame[target].dtype.is_float() or frame[target].n_unique() > 30
    metric = metric or ("r2" if numeric else "accuracy")
    families = families or (REGRESSORS if numeric else CLASSIFIERS)
    parts = train_dev_test_split(
        X, y, stratify=None if numeric else y, random_state=0, return_indices=True
    )
    X_train, X_dev, X_test, y_train, y_dev, y_test, rows = *parts[:6], parts[6]
    data = X_train, y_train, X_dev, y_dev, metric, folds
    board = [contestant(name, model, grid, *data) for name, (model, grid) in families.items()]
    board.sort(key=lambda c: -c.mean)
    board = [with_p_value(c, board) for c in board]
    simple = DummyRegressor() if numeric else DummyClassifier()
    baseline = contestant("always the mean" if numeric else "always the commonest class", simple,
                          {}, *data)  # fmt: skip
    baseline = with_p_value(baseline, board)
    model, _ = families[board[0].family]
    best = make_pipeline(Standardizer(), clone(model).set_params(**board[0].parameters))
    fitted = clone(best).fit(np.vstack([X_train, X_dev]), np.concatenate([y_train, y_dev]))
    columns = columns_of(frame.drop(target)[rows.tolist()])
    certificate = None
    if certified:
        scaled = fitted[0].transform(np.vstack([X_train, X_dev]))
        certificate = certify(fitted[-1], scaled, np.concatenate([y_train, y_dev]))
    return Findings(
        protocol=Protocol(
            "regression" if numeric else "classification", target, metric, len(y_train),
            len(y_dev), len(y_test), folds, "at random" if numeric else "stratified", 0, 60.0,
            time.perf_counter() - started, "", f"rosenblatt compare {source} --target {target}",
            {"rosenblatt": rosenblatt.__version__, "numpy": np.__version__},
        ),
        source=str(source) if isinstance(source, str) else "the table",
        columns=columns,
        target=target_of(y_train, numeric),
        hints=[],
        contestants=board,
        baseline=baseline,
        dropped=[Dropped("multinomial naive Bayes", "counts cannot be negative; got \u22122.3")],
        opening=opening_of(fitted, clone(simple).fit(X_train, y_train), X_test, y_test, metric),
        learning_curve=learning_curve(best, X_train, y_train, X_dev, y_dev, metric),
        learned=weights_of(fitted[-1], [c.name for c in columns]),
        verdicts=[
            f"On training rows the {metric} is {board[0].dev_train_score:.3f}, on development rows "
            f"{board[0].dev_score:.3f}."
        ],
        certificate=certificate,
        learned_note="Weights of columns of deviation one." if hasattr(fitted[-1], "coef_") else "",
    )  # fmt: skip


def contestant(family, model, grid, X, y, X_dev, y_dev, metric, folds):
    """Every setting of a grid by cross-validation, and the best on the development part."""
    pipeline = make_pipeline(Standardizer(), model)
    tried, times = [], []
    for setting in ParameterGrid(grid):
        prepared = make_pipeline(Standardizer(), clone(model).set_params(**setting))
        found = cross_validate(prepared, X, y, cv=folds, scoring=metric, return_train_score=True)
        tried.append(Candidate(setting, found["test_score"], found["train_score"]))
        times.append((found["fit_time"].mean(), found["score_time"].mean()))
    best = int(np.argmax([c.mean for c in tried]))
    pipeline = make_pipeline(Standardizer(), clone(model).set_params(**tried[best].parameters))
    pipeline.fit(X, y)
    score = get_scorer(metric)
    return Contestant(
        family, type(model).__name__, type(model).__module__.split(".")[0], tried, best,
        *times[best], len(pickle.dumps(pipeline)), score(pipeline, X_dev, y_dev),
        score(pipeline, X, y),
    )  # fmt: skip


def with_p_value(contestant, board):
    """By a paired test on the folds, times the number of comparisons."""
    difference = board[0].scores - contestant.scores
    if contestant is board[0] or not np.ptp(difference):
        return contestant
    p = ttest_rel(board[0].scores, contestant.scores, alternative="greater").pvalue
    return replace(contestant, p_value=float(min(1.0, p * (len(board) - 1))))


def opening_of(fitted, simple, X, y, metric):
    """What the test set says of two fitted models."""
    score = get_scorer(metric)
    good, n = float(score(fitted, X, y)), len(y)
    intervals = []
    if metric == "accuracy":
        z, reach = 1.96, np.sqrt(np.log(2 / 0.05) / (2 * n))
        middle = (good + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z * np.sqrt(good * (1 - good) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        intervals = [
            Interval(middle - half, middle + half, "Wilson"),
            Interval(max(good - reach, 0.0), min(good + reach, 1.0), "Hoeffding"),
        ]
    else:
        rng = np.random.default_rng(0)
        draws = [rng.integers(n, size=n) for _ in range(200)]
        low, high = np.quantile([score(fitted, X[i], y[i]) for i in draws], [0.025, 0.975])
        intervals = [Interval(float(low), float(high), "bootstrap")]
    return Opening(
        good, float(score(simple, X, y)), intervals, y, fitted.predict(X),
        fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else None,
        fitted.decision_function(X) if hasattr(fitted, "decision_function") else None,
        getattr(fitted, "classes_", None), 1,
    )  # fmt: skip


def learning_curve(best, X, y, X_dev, y_dev, metric):
    """Scores after more and more rows."""
    score, sizes = get_scorer(metric), np.geomspace(max(20, len(y) // 10), len(y), 6).astype(int)
    order = np.random.default_rng(0).permutation(len(y))
    fits = [clone(best).fit(X[order[:n]], y[order[:n]]) for n in sizes]
    train = [score(fit, X[order[:n]], y[order[:n]]) for fit, n in zip(fits, sizes, strict=True)]
    dev = [score(fit, X_dev, y_dev) for fit in fits]
    gap = train[-1] - dev[-1]
    verdict = (
        f"The two lines end {gap:.3f} apart: more rows {'may' if gap > 0.02 else 'will not'} help."
    )
    return LearningCurve(sizes, np.array(train), np.array(dev), verdict)


def weights_of(model, names):
    """Each column with its weight, of several classes the length of them."""
    weights = getattr(model, "coef_", None)
    if weights is None:
        return []
    weights = np.atleast_2d(weights)
    sizes = weights[0] if len(weights) == 1 else np.linalg.norm(weights, axis=0)
    return list(zip(names, map(float, sizes), strict=True))


def target_of(y, numeric):
    if numeric:
        return {"values": y.astype(np.float64)}
    labels, counts = np.unique(y, return_counts=True)
    return {"counts": dict(zip(labels.tolist(), counts.tolist(), strict=True))}


def hostile(findings):
    """The same with names that would be markup, and names that do not end."""
    bad, long = '<script>alert("1")</script>', "an unspeakably_long_name" * 30
    rename = {label: f"</td>{bad} {label}" for label in findings.opening.classes.tolist()}
    renamed = np.vectorize(lambda label: rename[label])
    columns = [replace(c, name=f"{bad}{c.name}", note=bad) for c in findings.columns]
    columns += [replace(columns[0], name=long, kind="identifier", n_missing=7)]
    first, *rest = findings.contestants
    strange = replace(first.candidates[0], parameters={bad: bad, long: [long]})
    first = replace(
        first, family=bad, note=bad, package=bad, candidates=[*first.candidates, strange]
    )
    return replace(
        findings,
        protocol=replace(findings.protocol, target=bad, command=f"rosenblatt {bad}",
                         versions={bad: bad}),
        source=f"%body%{bad}{long}",
        columns=columns,
        target={"counts": {f"{bad}{k}": n for k, n in findings.target["counts"].items()}},
        hints=[Hint("leakage", bad), Hint("leakage", long)],
        contestants=[first, *rest],
        dropped=[Dropped(bad, bad), Dropped(long, long)],
        opening=replace(
            findings.opening,
            y=renamed(findings.opening.y),
            predicted=renamed(findings.opening.predicted),
            classes=renamed(findings.opening.classes),
            times_opened=3,
        ),
        learned=[(bad, 1.0), (long, -2.0)],
        verdicts=[bad],
        learned_note=f"{bad}\n{bad}",
    )  # fmt: skip


def unfinished(findings):
    """Interrupted before the end: one family, no opening, no curve, a fold without a score."""
    first = findings.contestants[0]
    broken = Candidate({}, np.array([np.nan, 0.5]), np.array([]))
    failed = replace(findings.contestants[-1], candidates=[broken], best=0, p_value=np.nan)
    return replace(
        findings,
        protocol=replace(findings.protocol, stopped="interrupt"),
        contestants=[replace(first, note="2 of 5 settings tried"), failed],
        opening=None, learning_curve=None, learned=[], verdicts=[], certificate=None,
        learned_note="",
    )  # fmt: skip


def wide(findings, n_columns=200):
    """The same with many columns, some of them useless."""
    first = findings.columns[0]
    columns = [replace(first, name=f"measurement_{j:03d}", n_missing=j % 7 * 3)
               for j in range(n_columns)]  # fmt: skip
    columns[3] = replace(first, name="row_id", kind="identifier", note="as many values as rows")
    weights = np.random.default_rng(0).normal(size=n_columns)
    learned = [(c.name, float(w)) for c, w in zip(columns, weights, strict=True)]
    return replace(findings, columns=columns, learned=learned)


def letters(folder, n=4000):
    """The first rows of the letters: 26 classes."""
    files = sorted(Path(folder, "letter").glob("*.csv*")) or sorted(
        Path(folder, "letter").iterdir()
    )
    frame = pl.read_csv(files[0]).head(n)
    families = {name: CLASSIFIERS[name] for name in list(CLASSIFIERS)[1:4]}
    return compare(frame, frame.columns[0] if frame.dtypes[0] == pl.String else frame.columns[-1],
                   families, certified=False)  # fmt: skip


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    binary, few = compare("breast_cancer", "diagnosis"), compare("iris", "species")
    pages = {
        "binary": binary, "iris": few, "digits": compare("digits", "digit"),
        "diabetes": compare("diabetes", "progression"),
        "hostile": hostile(few), "unfinished": unfinished(few), "wide": wide(binary),
    }  # fmt: skip
    if len(sys.argv) > 2:
        pages["letters"] = letters(sys.argv[2])
    for name, findings in pages.items():
        save(findings, folder / f"{name}.html")

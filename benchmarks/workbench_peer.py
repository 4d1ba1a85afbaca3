"""The recipe of `rosenblatt compare`, built from scikit-learn's parts with the same grids."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

# As many and of the same kind as ours, of the same columns.
SPLINES = ColumnTransformer(
    [
        (
            "bends",
            SplineTransformer(7, knots="quantile", extrapolation="linear", include_bias=False),
            lambda X: [j for j in range(X.shape[1]) if len(np.unique(X[:10_000, j])) >= 10],
        )
    ],
    remainder="passthrough",
)

# Their class for each of our families, where they have one.
TWINS = {
    "Gaussian naive Bayes": GaussianNB(),
    "multinomial naive Bayes": MultinomialNB(),
    "Bernoulli naive Bayes": BernoulliNB(),
    "complement naive Bayes": ComplementNB(),
    "linear discriminant analysis": LinearDiscriminantAnalysis(solver="lsqr"),
    "quadratic discriminant analysis": QuadraticDiscriminantAnalysis(),
    "logistic regression": LogisticRegression(max_iter=1000),
    "averaged perceptron": SGDClassifier(loss="perceptron", average=True, random_state=0),
    "perceptron": Perceptron(),
    "least squares": LinearRegression(),
    "ridge regression": Ridge(),
    "lasso": Lasso(),
    "elastic net": ElasticNet(),
    "ridge on products": Pipeline(
        [("b", PolynomialFeatures(2, include_bias=False)), ("ridge", Ridge())]
    ),
    "ridge on splines": Pipeline([("b", SPLINES), ("ridge", Ridge())]),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "random forest": RandomForestClassifier(random_state=0),
    "extra trees": ExtraTreesClassifier(random_state=0),
    "regression tree": DecisionTreeRegressor(random_state=0),
    "random forest regression": RandomForestRegressor(random_state=0),
    "extra trees regression": ExtraTreesRegressor(random_state=0),
    "nearest neighbors": KNeighborsClassifier(),
    "nearest neighbors regression": KNeighborsRegressor(),
    "linear support vector machine": LinearSVC(dual="auto"),
}
TAKE_HOURS = (
    "random forest", "extra trees", "random forest regression", "extra trees regression",
)  # fmt: skip


def scikit_learn_build(problem, families, say=lambda *words: None):
    """The test score of the best of their models, chosen and retrained by the same protocol."""
    frame = problem.X.to_pandas()
    train, y = problem.train, problem.y
    best = (-np.inf, None)
    for family in families:
        if family.name not in TWINS:
            continue
        model = Pipeline(
            [("features", _features(problem, family)), ("model", clone(TWINS[family.name]))]
        )
        inside = "model__ridge__" if isinstance(TWINS[family.name], Pipeline) else "model__"
        grid = {inside + name: values for name, values in family.grid.items()}
        search = GridSearchCV(model, grid, cv=problem.folds())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(frame.iloc[train], y[train])
        say(family.name, round(search.best_score_, 4))
        best = max(best, (search.best_score_, search.best_estimator_), key=lambda pair: pair[0])
    kept = np.concatenate([train, problem.dev])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = clone(best[1]).fit(frame.iloc[kept], y[kept])
    return chosen.score(frame.iloc[problem.test], y[problem.test])


def _features(problem, family):
    """Columns prepared as ours are."""
    numeric = [name for name, kind in problem.used.items() if kind == "numeric"]
    others = [name for name, kind in problem.used.items() if kind != "numeric"]
    if family.takes == "counts":
        numbers = SimpleImputer()
    else:
        numbers = make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True))
    words = OneHotEncoder(handle_unknown="ignore", max_categories=200, sparse_output=False)
    return ColumnTransformer([("numbers", numbers, numeric), ("words", words, others)])

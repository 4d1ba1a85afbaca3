"""Write the files of a new estimator: module with its row, test and page.

`make new-model NAME=NearestThing KIND=classifier PACKAGE=neighbors` calls it. The files hold a
small estimator that works and passes the contract tests; replace its rule by yours.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MODULE = '''\
"""{words}: replace this sentence by the rule."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import {mixin}
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Estimator, all_or_nothing
from rosenblatt.registry.row import Candidate, Row


class {name}({mixin}, Estimator):  # type: ignore[misc]
    """{summary}

    Parameters
    ----------
    {parameter}

    Attributes
    ----------
    {attributes}
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import {name}
    {example}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {{
        {constraint}
    }}

    def __init__(self, *, {argument}) -> None:
        self.{field} = {field}

    @all_or_nothing
    def fit(self, X: Any, y: Any{optional}) -> Self:
        """Fit the model according to the given training data; return self."""
        self._validate_params()
        {fit}
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """{predicts}"""
        check_is_fitted(self)
        X = checks.rows(self, X, order="C", accept_sparse=False)
        {predict}


ROW = Row(
    "{name}",
    page="{module}.md",
    compare=(
        Candidate(
            "{words}",
            "replace this: when to choose it",{grid}
        ),
    ),
)
'''

TEST = '''\
"""{words}."""

import numpy as np

from rosenblatt import {name}

X = np.array([[0.0, 1.0], [1.0, 0.0], [8.0, 9.0], [9.0, 8.0]])


def test_{module}_{tested}():
    {test}
'''

PAGE = """\
# {title}

`{name}`: replace this sentence by the rule, its equation and when to use it.

```python
>>> from rosenblatt import {name}
{example}

```
"""

KINDS = {
    "classifier": {
        "mixin": "ClassifierMixin",
        "home": "linear_model",
        "summary": "Classifier that predicts the class with the nearest mean.",
        "parameter": "shrinkage : float, default=0.0\n"
        "        Fraction by which class means move toward the mean of all rows.",
        "attributes": "means_ : ndarray of shape (K, d)\n        Mean of each class.\n"
        "    classes_ : ndarray of shape (K,)\n        Class labels.",
        "example": '>>> {name}().fit([[0.0], [1.0], [8.0]], ["a", "a", "b"]).predict([[2.0]])\n'
        "{indent}array(['a'], dtype='<U1')",
        "constraint": '"shrinkage": [Interval(Real, 0, 1, closed="both")],',
        "argument": "shrinkage: float = 0.0",
        "optional": "",
        "fit": """X = checks.rows(self, X, reset=True, order="C", accept_sparse=False)
        classes, codes = checks.classes(y, X.shape[0])
        means = np.stack([X[codes == k].mean(axis=0) for k in range(len(classes))])
        means += X.dtype.type(self.shrinkage) * (X.mean(axis=0) - means)
        self.means_, self.classes_ = means, classes""",
        "predicts": "Return the class (n,) of each row.",
        "predict": """distances = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return np.asarray(self.classes_[distances.argmin(axis=1)])""",
        "grid": '\n            {"shrinkage": (0.0, 0.1, 0.5)},',
        "tested": "predicts_the_nearest_class",
        "test": """model = {name}().fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.means_, [[0.5, 0.5], [8.5, 8.5]])
    np.testing.assert_array_equal(model.predict([[2, 2], [7, 7]]), [0, 1])""",
    },
    "regressor": {
        "mixin": "RegressorMixin",
        "home": "linear_model",
        "summary": "Least squares with a penalty on the squared weights.",
        "parameter": "alpha : float, default=1e-3\n        Penalty on the squared weights.",
        "attributes": "coef_ : ndarray of shape (d,)\n        Weights of the columns.\n"
        "    intercept_ : float\n        Prediction for a row of zeros.",
        "example": ">>> {name}(alpha=0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])"
        ".predict([[3.0]]).round(6)\n{indent}array([7.])",
        "constraint": '"alpha": [Interval(Real, 0, None, closed="left")],',
        "argument": "alpha: float = 1e-3",
        "optional": "",
        "fit": """X, y = checks.validate_data(
            self, X, y, dtype=checks.FLOATS, order="C", y_numeric=True
        )
        middle, mean = X.mean(axis=0), X.dtype.type(y.mean())
        centered = X - middle
        gram = centered.T @ centered + X.dtype.type(self.alpha) * np.eye(X.shape[1], dtype=X.dtype)
        coef = np.linalg.lstsq(gram, centered.T @ (y - mean).astype(X.dtype), rcond=None)[0]
        self.coef_, self.intercept_ = coef, mean - middle @ coef""",
        "predicts": "Return the prediction (n,) of each row.",
        "predict": "return np.asarray(X @ self.coef_ + self.intercept_)",
        "grid": '\n            {"alpha": (1e-3, 0.1, 10.0)},',
        "tested": "finds_a_line",
        "test": """model = {name}(alpha=0).fit(X, X @ [2, -1] + 3)
    np.testing.assert_allclose(model.coef_, [2, -1])
    np.testing.assert_allclose(model.intercept_, 3)""",
    },
    "clusterer": {
        "mixin": "ClusterMixin",
        "home": "cluster",
        "summary": "Clusterer whose centers are rows, each the farthest from those before it.",
        "parameter": "n_clusters : int, default=2\n        Number of clusters.",
        "attributes": "cluster_centers_ : ndarray of shape (K, d)\n        Centers.\n"
        "    labels_ : ndarray of shape (n,)\n        Cluster of each training row.",
        "example": ">>> {name}().fit([[0.0], [1.0], [8.0]]).labels_\n{indent}array([0, 0, 1])",
        "constraint": '"n_clusters": [Interval(Integral, 1, None, closed="left")],',
        "argument": "n_clusters: int = 2",
        "optional": " = None",
        "fit": """X = checks.rows(self, X, reset=True, order="C", accept_sparse=False)
        centers = X[:1]
        while len(centers) < min(self.n_clusters, len(X)):
            distances = ((X[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
            centers = np.vstack([centers, X[distances.argmax()]])
        self.cluster_centers_ = centers
        self.labels_ = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)""",
        "predicts": "Return the cluster (n,) of each row.",
        "predict": """distances = ((X[:, None] - self.cluster_centers_) ** 2).sum(axis=2)
        return np.asarray(distances.argmin(axis=1))""",
        "grid": "",
        "tested": "finds_two_groups",
        "test": """model = {name}().fit(X)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict([[2, 2], [7, 7]]), [0, 1])""",
    },
}


def files(name: str, kind: str, home: str) -> dict[str, str]:
    """The path and text of each file of a new estimator."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    module = words.lower().replace(" ", "_")
    cells = {**KINDS[kind], "name": name, "module": module, "words": words.lower()}
    cells |= {"title": words, "field": KINDS[kind]["argument"].partition(":")[0]}
    cells["test"] = cells["test"].format(name=name)
    number = "Integral" if "Integral" in cells["constraint"] else "Real"
    written = {}
    for path, template, indent in (
        (f"src/rosenblatt/{home}/{module}.py", MODULE, "    "),
        (f"tests/{home}/test_{module}.py", TEST, ""),
        (f"docs/{module}.md", PAGE, ""),
    ):
        example = KINDS[kind]["example"].format(name=name, indent=indent)
        written[path] = template.format(**{**cells, "example": example})
    source = f"src/rosenblatt/{home}/{module}.py"
    written[source] = written[source].replace(
        "from typing import", f"from numbers import {number}\nfrom typing import", 1
    )
    return written


def main() -> None:
    """Write the files, then those that follow from the registry."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="of the class: NearestThing")
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("home", nargs="?", help="the package: neighbors")
    options = parser.parse_args()
    if not re.fullmatch(r"[A-Z]\w*", options.name):
        parser.error(f"the name of a class starts with a capital letter; got {options.name!r}.")
    home = options.home or KINDS[options.kind]["home"]
    if not (ROOT / "src" / "rosenblatt" / home / "__init__.py").exists():
        parser.error(f"there is no package rosenblatt.{home}.")
    written = files(options.name, options.kind, home)
    taken = [path for path in written if (ROOT / path).exists()]
    if taken:
        parser.error(f"{', '.join(taken)} exists already.")
    for path, text in written.items():
        (ROOT / path).write_text(text, encoding="utf-8")
        print(path, flush=True)
    subprocess.run([sys.executable, str(ROOT / "tools" / "from_registry.py")], check=True)


if __name__ == "__main__":
    main()

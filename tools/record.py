"""Record fitted attributes and predictions of every registered estimator, and compare recordings.

``python tools/record.py save FILE [NAME ...]`` fits every estimator of the registry, or those
named, with its contract settings to fixed tables: dense and CSR, float64 and float32, with and
without sample weights, in batches, and with sizes at which algorithms switch.

``python tools/record.py compare OLD NEW [--within 1e-12] [--all]`` prints the largest difference of
each attribute that has other bits, relative to the largest number in it. The exit code is 1 if
something differs (by more than `--within`). Messages of errors and names of nested classes count
as notes.

A recording is an .npz file of two arrays: JSON text with the attributes of each case, and the bytes
of all arrays. Every estimator runs in its own process; a crash is recorded like an error.
"""

import argparse
import hashlib
import inspect
import json
import multiprocessing
import os
import re
import sys
import time
import warnings
from functools import cache, partial
from types import GeneratorType

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

import rosenblatt as rb
from rosenblatt import registry

# Rows, columns and classes of each table. Small ones come in all forms, the others in a few.
SMALL = {"two": (120, 5, 2), "three": (120, 5, 3)}
LARGER = {"long": (3000, 40, 3), "wide": (60, 400, 2), "classes": (1500, 12, 15)}
LARGE = {"large": (26_000, 40, 3), "wider": (80, 2200, 2)}
# Estimators whose work grows with the square of the number of rows.
PAIRS = ("KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors", "SVC", "SVR",
         "KernelPerceptron", "KernelLogisticRegression", "KernelRidge",
         "AgglomerativeClustering", "ConsensusClustering")  # fmt: skip
TOO_SLOW = {  # (estimator, table): more than five seconds
    ("TreeAugmentedNB", "wide"),
    ("LeastSquaresClassifier", "wider"),
    ("PocketPerceptron", "large"),
    ("KernelLogisticRegression", "long"),
    *((name, "large") for name in PAIRS),
}

# Called with the rows, or without arguments, on models that have them.
OF_ROWS = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
           "decision_function", "score_samples", "transform", "kneighbors", "radius_neighbors",
           "apply", "vote_shares", "staged_predict", "staged_decision_function", "aic",
           "bic")  # fmt: skip
OF_MODEL = ("get_covariance", "get_precision", "get_depth", "get_n_leaves",
            "get_feature_names_out", "votes")  # fmt: skip
CLOCK = re.compile("time|seconds")  # attributes that hold durations
MANY = 5000  # numbers: of larger arrays, a digest and about so many numbers are stored


def extra_settings(name):
    """Return settings that the contract does not have."""
    ridge, logistic, tree = rb.Ridge(), rb.LogisticRegression(), rb.DecisionTreeClassifier()
    kernel, metric = {"kernel": "precomputed"}, {"metric": "precomputed"}
    return {
        "NearestNeighbors": ({"radius": 2.0}, {"metric": "manhattan", "radius": 2.0}, metric),
        "KNeighborsClassifier": (metric,),
        "KNeighborsRegressor": (metric,),
        "AgglomerativeClustering": ({**metric, "linkage": "average"},),
        "SVC": (kernel,),
        "SVR": (kernel,),
        "KernelPerceptron": ({**kernel, "max_updates": 200},),
        "KernelLogisticRegression": (kernel,),
        "KernelRidge": (kernel,),
        "BaggingClassifier": ({"estimator": tree, "n_estimators": 3},),
        "BaggingRegressor": ({"estimator": ridge, "n_estimators": 3},),
        "VotingClassifier": ({"estimators": [("a", logistic), ("b", tree)], "voting": "soft"},),
        "GridSearchCV": ({"estimator": logistic, "param_grid": {"C": [0.1, 1.0]}, "cv": 3},),
        "MiniBatchKMeans": ({"n_clusters": 3, "n_init": 3},),
        "Perceptron": ({"fit_intercept": False}, {"pick": "first", "max_updates": 20}),
        "PocketPerceptron": ({"pick": "first", "max_updates": 20},),
        "DecisionTreeClassifier": ({"search": "optimal", "max_depth": 2},),
        "BasisExpansion": ({"basis": "spline"},),
        "HistGradientBoostingClassifier": ({"max_iter": 10},),
        "HistGradientBoostingRegressor": ({"max_iter": 10},),
        "CountVectorizer": ({}, {"stop_words": "english", "ngram_range": (1, 2)}),
        "HashingVectorizer": ({"n_features": 512},),
        "TfidfTransformer": ({}, {"sublinear_tf": True, "norm": "l1"}),
        "TfidfVectorizer": ({}, {"min_df": 2}),
    }.get(name, ())


@cache
def table(kind, task, n, d, n_classes):
    """Return rows and targets; kinds are those of `tables_of`."""
    rng = np.random.RandomState(n + d)
    labels = rng.randint(n_classes, size=n)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n_classes, d))[labels]
    X[:, 0] *= 3
    y = np.array(["a", "b", "c"])[labels] if n_classes <= 3 else labels
    if task == "regression":
        y = X[:, :3] @ [1, -2, 0.5] + 3 + rng.standard_normal(n)
        if (n, n_classes) == (120, 3):  # two targets
            y = np.column_stack([y, X[:, 1] + rng.standard_normal(n)])
    if "counts" in kind:
        X = np.floor(np.clip(np.exp(X / 2), 0, 9))
    if "gaps" in kind:
        X[rng.random_sample(X.shape) < 0.1] = np.nan
    if kind in ("mixed", "words"):
        words = np.array(["red", "green", "blue"])[np.clip(X, 0, 2).astype(int)]
        X = pd.DataFrame({"a": words[:, 0], "b": words[:, 1], "c": words[:, 2]})
        if kind == "mixed":
            X["size"] = rng.standard_normal(n) + labels
    if kind == "text":
        words = np.array([f"w{i}ab" for i in range(2000)] + ["The", "and", "don't", "Über"])
        X = [" ".join(words[(len(words) * rng.random_sample(d) ** 3).astype(int)]) for _ in y]
    return X, y


def cases_of(row):
    """Yield the name of each case, and a function that returns a fitted model and its rows."""
    for settings in (*(row.contract.settings if row.contract else ()), *extra_settings(row.name)):
        words = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        model = getattr(rb, row.name)(**settings)
        if "random_state" not in settings and "random_state" in model.get_params():
            model.set_params(random_state=0)
        for name, kind, shape in tables_of(row, model):
            for form in forms_of(model, name, kind):
                title = " ".join([f"{row.name}({words})", name, *form])
                yield title, partial(fitted, model, kind, row.task, shape, form)


def tables_of(row, model):
    """Yield the name, kind and shape of each table that suits the estimator."""
    kind, sizes = "numbers", SMALL | LARGER | LARGE
    if "text" in row.inputs:
        kind = "text"
    elif "counts" in row.inputs or row.name == "TfidfTransformer":
        kind = "counts"
    elif "precomputed" in (getattr(model, "kernel", ""), getattr(model, "metric", "")):
        kind, sizes = "kernel" if hasattr(model, "kernel") else "distances", SMALL
    elif row.name == "MixedNB":
        kind = "mixed"
    if "missing" in row.inputs:
        yield "gaps", "gaps in counts" if kind == "counts" else "gaps", SMALL["two"]
    if "categorical" in row.inputs:
        yield "words", "words" if kind == "counts" else "mixed", SMALL["two"]
    classifier = get_tags(model).classifier_tags
    is_binary = classifier is not None and not classifier.multi_class
    left_out = {"classes"} if is_binary else set()
    left_out |= set() if hasattr(model, "fit_intercept") else {"wider"}
    for name, (n, d, n_classes) in sizes.items():
        if name not in left_out and (row.name, name) not in TOO_SLOW:
            n = 2100 if row.name in PAIRS and name == "long" else n
            yield name, kind, (n, d, 2 if is_binary else n_classes)


def forms_of(model, name, kind):
    """Return the forms of a table: storage and precision, then "weights" or a way of fitting."""
    has_weights = "sample_weight" in inspect.signature(model.fit).parameters
    weights = ((), ("weights",))[: 1 + has_weights]
    if kind in ("mixed", "words", "text"):
        return [("plain", *w) for w in weights]
    is_square = kind in ("kernel", "distances")
    storages = ("dense", "csr")[: 1 + (get_tags(model).input_tags.sparse and not is_square)]
    if name in LARGE:
        return [("dense", "float64"), (storages[-1], "float32", *weights[-1])]
    if name in LARGER:
        found = [("dense", "float32"), *(("dense", "float64", *w) for w in weights)]
        return [*found, *((storage, "float64") for storage in storages[1:])]
    dtypes = ("float64", "float32", "int64")[: 2 + (kind == "counts")]
    found = [(storage, dtype, *w) for storage in storages for dtype in dtypes for w in weights]
    ways = [way for way, method in WAYS.items() if hasattr(model, method)]
    return [*found, *((storage, "float64", way) for storage in storages for way in ways)]


WAYS = {"batches": "partial_fit", "merged": "merge"}  # of fitting, and the methods they need


def fitted(model, kind, task, shape, form):
    """Return a copy of the model that was fitted to the table in this form, and the rows."""
    is_square = kind in ("kernel", "distances")
    X, y = table("numbers" if is_square else kind, task, *shape)
    if kind == "kernel":
        X = X @ X.T
    elif kind == "distances":
        X = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    if form[0] == "csr":
        filled = 0.5 if X.size < 1000 else 0.05
        X = sp.csr_matrix(X * (np.random.RandomState(1).random_sample(X.shape) < filled))
    if form[0] != "plain":
        X = X.astype(form[1])
    model = clone(model)
    np.random.seed(0)
    if form[-1] == "batches":
        needs_classes = "classes" in inspect.signature(model.partial_fit).parameters
        model.partial_fit(X[:50], y[:50], **({"classes": np.unique(y)} if needs_classes else {}))
        model.partial_fit(X[50:], y[50:])
    elif form[-1] == "merged":
        other = clone(model).fit(X[60:], y[60:])
        model.fit(X[:60], y[:60]).merge(other).forget(X[:20], y[:20])
    elif form[-1] == "weights":
        model.fit(X, y, sample_weight=np.random.RandomState(2).randint(0, 4, len(y)) / 2)
    else:
        model.fit(X, y)
    return model, X


class Leaves:
    """The numbers and texts of one case by their path, and the bytes of its arrays."""

    def __init__(self):
        self.found, self.data = {}, {}

    def add(self, path, read):
        """Add the value that `read` returns, or its error."""
        try:
            value = read()
            self.reduce(path, list(value) if isinstance(value, GeneratorType) else value, 0)
        except Exception as error:
            self.found[path] = ["error", type(error).__name__, str(error)]

    def add_model(self, model, X):
        """Add the fitted attributes and what public methods return."""
        self.reduce("", model, 0)
        for name in OF_ROWS:
            if hasattr(model, name):
                self.add(f"{name}()", lambda name=name: getattr(model, name)(X))
        for name in OF_MODEL:
            if hasattr(model, name):
                self.add(f"{name}()", getattr(model, name))
        if hasattr(model, "sample"):
            self.add("sample()", lambda: model.sample(5, random_state=0))

    def reduce(self, path, value, depth):
        """Add a value, with all that it holds."""
        if isinstance(value, np.ndarray) and value.dtype == object:
            value = value.tolist()
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            value = as_array(value)
        if depth > 8 or CLOCK.search(path):
            return
        if isinstance(value, bool | int | float | np.generic | np.ndarray):
            self.found[path] = self.array(np.asarray(value))
        elif value is None or isinstance(value, str | bytes | np.dtype):
            self.found[path] = ["text", str(value)]
        elif isinstance(value, dict) and value and set(map(type, value.values())) <= {int, float}:
            self.reduce(f"{path}.keys", list(value), depth + 1)
            self.reduce(f"{path}.values", list(value.values()), depth + 1)
        elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            for i, item in enumerate(value):
                self.reduce(f"{path}[{i}]", item, depth + 1)
        elif isinstance(value, dict):
            for key, item in value.items():
                self.reduce(f"{path}[{key!r}]", item, depth + 1)
        elif sp.issparse(value):
            csr = value.tocsr()
            self.found[f"{path}.class"] = ["text", value.format]
            for name in ("shape", "data", "indices", "indptr"):
                self.reduce(f"{path}.{name}", getattr(csr, name), depth + 1)
        else:
            self.found[f"{path}.class".lstrip(".")] = ["class", type(value).__name__]
            for name in public_names(value):
                self.add_attribute(f"{path}.{name}".lstrip("."), value, name, depth)

    def add_attribute(self, path, owner, name, depth):
        """Add an attribute or property, if it has a value here and is not a method."""
        try:
            value = getattr(owner, name)
        except AttributeError:
            return
        except Exception as error:
            self.found[path] = ["error", type(error).__name__, str(error)]
            return
        if not callable(value) or isinstance(value, BaseEstimator):
            self.reduce(path, value, depth + 1)

    def array(self, values):
        """Store the bytes of an array; return what the index holds of it."""
        key = hashlib.blake2b(values.tobytes(), digest_size=12).hexdigest()
        self.data[values.dtype.str + key] = values.ravel()[:: 1 + values.size // MANY].tobytes()
        return ["array", values.dtype.str, list(values.shape), key]


def as_array(values):
    """Return a list of equally many numbers or texts as an array; other lists as they are."""
    try:
        found = np.array(values)
    except ValueError:
        return values
    return found if found.dtype.kind in "biufU" and len(values) else values


def public_names(value):
    """Return the names of a value's public data: fitted attributes of an estimator."""
    names = [name for name in dir(value) if not name.startswith("_")]
    if isinstance(value, BaseEstimator):
        return [name for name in names if name.endswith("_")]
    return [] if isinstance(value, np.random.RandomState | np.random.Generator | type) else names


def run(row, skip, connection):
    """Send the results of an estimator's cases, after the first `skip` of them."""
    warnings.simplefilter("ignore")
    os.environ["ROSENBLATT_NUM_THREADS"] = "1"
    threadpool_limits(1)
    for title, fit in list(cases_of(row))[skip:]:
        connection.send((title, {}, {}))  # the case to blame for a crash
        leaves = Leaves()
        try:
            leaves.add_model(*fit())
        except Exception as error:
            leaves.found["fit()"] = ["error", type(error).__name__, str(error)]
        connection.send((title, leaves.found, leaves.data))


def record(row, index, data):
    """Add the cases of an estimator, run in a fork, and in another after a crash."""
    done, exit_code = 0, None
    while exit_code != 0:
        receiving, sending = multiprocessing.Pipe(duplex=False)
        fork = multiprocessing.get_context("fork")
        child = fork.Process(target=run, args=(row, done, sending))
        child.start()
        sending.close()
        title = None
        try:
            while True:
                title, found, arrays = receiving.recv()
                index[title] = found
                data |= arrays
                done += bool(found)
        except EOFError:
            child.join()
        exit_code = child.exitcode
        if exit_code:
            index[title or row.name] = {"fit()": ["error", "Crash", f"exit code {exit_code}"]}
            done += 1
            if title is None:  # no case was reached
                return


def save(file, names):
    """Write a recording of all estimators, or of those named."""
    index, data, start = {}, {}, time.perf_counter()
    for row in registry.ROWS:
        if row.name in names or not names:
            before, n_before = time.perf_counter(), len(index)
            record(row, index, data)
            seconds = time.perf_counter() - before
            print(f"{row.name}: {len(index) - n_before} cases, {seconds:.1f} s", flush=True)
    ends = np.cumsum([len(content) for content in data.values()]).tolist()
    text = json.dumps({"cases": index, "ends": dict(zip(data, ends, strict=True))})
    with open(file, "wb") as out:
        content = np.frombuffer(b"".join(data.values()), np.uint8)
        np.savez(out, index=np.frombuffer(text.encode(), np.uint8), data=content)
    print(f"{len(index)} cases in {time.perf_counter() - start:.0f} s: {file}")


class Recording:
    """A file that `save` wrote."""

    def __init__(self, file):
        with np.load(file) as arrays:
            index, self.data = json.loads(arrays["index"].tobytes()), arrays["data"].tobytes()
        self.cases, ends = index["cases"], index["ends"]
        self.starts = dict(zip(ends, [0, *ends.values()], strict=False))
        self.ends = ends

    def numbers(self, leaf):
        """Return the stored numbers of an array."""
        _, dtype, _, key = leaf
        return np.frombuffer(self.data[self.starts[dtype + key] : self.ends[dtype + key]], dtype)


def difference(old, new, a, b):
    """Return the size of a difference of two leaves, and a text; a note has the size None."""
    if a is None or b is None:
        return np.inf, f"only in {'OLD' if b is None else 'NEW'}"
    if a[0] == b[0] == "class" or (a[0] == b[0] == "error" and a[1] == b[1]):
        return None, f"{a[-1]!r} is now {b[-1]!r}"
    if a[:3] != b[:3] or a[0] != "array" or a[1][1] not in "biuf":
        return np.inf, f"{a[:3]} is now {b[:3]}"
    x, z = old.numbers(a).astype(float), new.numbers(b).astype(float)
    known = np.isfinite(x)
    if not np.array_equal(x[~known], z[~known], equal_nan=True) or not np.isfinite(z[known]).all():
        return np.inf, "NaN or infinite in other places"
    gap = np.abs(x - z)[known].max(initial=0)
    if gap == 0 and np.prod(a[2]) > MANY:  # -0.0 and 0.0 have a gap of 0 in any array
        return np.inf, "differs outside the stored sample"
    size = gap and gap / max(np.abs(x[known]).max(), np.abs(z[known]).max())
    return size, f"{size:.2g}"


def compare(old_file, new_file, within=0.0, show_all=False):
    """Print the differences of two recordings; return the number of cases that differ."""
    old, new = Recording(old_file), Recording(new_file)
    notes, largest, n_equal, n_failed = set(), {}, 0, 0
    titles = dict.fromkeys([*old.cases, *new.cases])
    for title in titles:
        a, b = (recording.cases.get(title) for recording in (old, new))
        if a is None or b is None:
            n_failed += 1
            print(f"{title}: only in {'OLD' if b is None else 'NEW'}")
            continue
        failed, estimator = False, title.partition("(")[0]
        for path in dict.fromkeys([*a, *b]):
            if a.get(path) == b.get(path):
                continue
            size, text = difference(old, new, a.get(path), b.get(path))
            name = f"{estimator} {re.sub('[0-9]+', 'i', path)}"
            if size is None:
                notes.add(f"{name}: {text}")
                continue
            largest[name] = max(size, largest.get(name, 0.0))
            failed |= size > within or within == 0
            print(f"{title}: {path}: {text}")
        n_equal += a == b
        n_failed += failed
        if a == b and show_all:
            print(f"{title}: equal bits")
    for heading, lines in (
        ("Largest relative differences:", [f"{name}: {largest[name]:.2g}" for name in largest]),
        ("Notes:", sorted(notes)),
    ):
        if lines:
            print("\n".join(["", heading, *lines]))
    print(f"\n{len(titles)} cases: {n_equal} with equal bits, {n_failed} differ.")
    return n_failed


def main(arguments=None):
    """Save or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("save")
    command.add_argument("file")
    command.add_argument("names", nargs="*", help="estimators; all if none is given")
    command = commands.add_parser("compare")
    command.add_argument("old")
    command.add_argument("new")
    command.add_argument("--within", type=float, default=0.0, help="allowed relative difference")
    command.add_argument("--all", action="store_true", help="also list cases with equal bits")
    options = parser.parse_args(arguments)
    if options.command == "compare":
        return int(compare(options.old, options.new, options.within, options.all) > 0)
    save(options.file, options.names)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""N1: the search is exact, by every method and metric; votes, paths, rows added and removed."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.neighbors as theirs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV as TheirSearch

import rosenblatt
from rosenblatt import (
    GridSearchCV,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    certify,
)
from rosenblatt.neighbors import search
from rosenblatt.neighbors.search import QuantizedPoints
from rosenblatt.runtime import threads

METRICS = [{}, {"p": 1}, {"p": 3}, {"p": 1.5}, {"metric": "chebyshev"}, {"metric": "cosine"}]
IRIS = load_iris(return_X_y=True)


def tables(n=400, m=40, d=7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


@pytest.mark.parametrize("metric", [*METRICS, {"metric": "hamming"}], ids=str)
@pytest.mark.parametrize("d", [3, 30])
def test_it_finds_what_scikit_learn_finds(metric, d):
    X, Q = tables(d=d)
    if metric == {"metric": "hamming"}:
        X, Q = np.round(X), np.round(Q)
    ours = NearestNeighbors(n_neighbors=6, **metric).fit(X)
    other = theirs.NearestNeighbors(n_neighbors=6, algorithm="brute", **metric).fit(X)
    for rows in (Q, None):
        (distances, found), (expected, places) = ours.kneighbors(rows), other.kneighbors(rows)
        np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-9)
        if metric != {"metric": "hamming"}:  # no two distances are equal
            np.testing.assert_array_equal(found, places)


@given(
    arrays(np.int8, st.tuples(st.integers(2, 60), st.just(3)), elements=st.integers(-2, 2)),
    st.integers(1, 60),
    st.sampled_from([{}, {"p": 1}, {"metric": "chebyshev"}, {"p": 3}]),
)
def test_of_rows_at_one_distance_those_stored_first_come_first(X, k, metric):
    k = min(k, len(X))
    _, found = NearestNeighbors(n_neighbors=k, **metric).fit(X).kneighbors(X)
    norm = (metric == {"p": 1} and 1) or (metric == {"p": 3} and 3) or (np.inf if metric else 2)
    gaps = np.abs(X[:, None].astype(int) - X[None].astype(int)).astype(float)
    size = gaps.max(-1) if norm == np.inf else (gaps**norm).sum(-1)
    np.testing.assert_array_equal(found, np.argsort(size, axis=1, kind="stable")[:, :k])


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1.0, 1e12, 1e150])
def test_numbers_of_any_size_and_far_from_the_origin(scale):
    X, Q = tables()
    expected = theirs.NearestNeighbors().fit(X).kneighbors(Q, return_distance=False)
    found = NearestNeighbors().fit(X * scale).kneighbors(Q * scale, return_distance=False)
    np.testing.assert_array_equal(found, expected)
    far = NearestNeighbors().fit(X + 1e6).kneighbors(Q + 1e6, return_distance=False)
    assert np.mean(far == expected) > 0.99


def test_a_query_that_is_far_away_and_points_that_are_equal():
    X = np.zeros((50, 2))
    X[0] = 1e-3
    distances, found = NearestNeighbors(n_neighbors=2).fit(X).kneighbors([[1e30, 0.0]])
    assert found[0].tolist() == [0, 1]
    assert distances[0] == pytest.approx([1e30, 1e30])


def test_long_tables_of_few_columns_are_searched_in_a_tree(monkeypatch):
    X, Q = tables(n=500, d=2)
    expected = NearestNeighbors().fit(X).kneighbors(Q)
    monkeypatch.setattr(search, "MANY_POINTS", 100)
    for a, b in zip(NearestNeighbors().fit(X).kneighbors(Q), expected, strict=True):
        np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda r: np.exp(-r)])
@pytest.mark.parametrize("outputs", [1, 2])
def test_votes_and_means_are_scikit_learns(weights, outputs):
    X, Q = tables()
    Q = np.vstack([Q, X[:3]])  # rows that are stored
    y = np.random.default_rng(1).integers(0, 3, (len(X), outputs)).squeeze()
    ours = KNeighborsClassifier(weights=weights).fit(X, y)
    other = theirs.KNeighborsClassifier(weights=weights).fit(X, y)
    np.testing.assert_array_equal(ours.predict(Q), other.predict(Q))
    np.testing.assert_allclose(ours.predict_proba(Q), other.predict_proba(Q))
    mean = KNeighborsRegressor(weights=weights).fit(X, y).predict(Q)
    np.testing.assert_allclose(
        mean, theirs.KNeighborsRegressor(weights=weights).fit(X, y).predict(Q)
    )


def test_a_kernel_as_wide_as_the_farthest_neighbour():
    model = KNeighborsRegressor(2, weights="kernel").fit([[0.0], [3.0]], [0.0, 1.0])
    a, b = np.exp(-0.5 * (1 / 2) ** 2), np.exp(-0.5)
    assert model.predict([[1.0]]) == pytest.approx(b / (a + b))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_one_search_serves_every_k(weights, monkeypatch):
    X, y = IRIS
    grid = {"n_neighbors": [1, 4, 9, 30]}
    other = TheirSearch(theirs.KNeighborsClassifier(weights=weights), grid, cv=4).fit(X, y)
    asked = []
    nearest = search.Points.nearest
    monkeypatch.setattr(
        search.Points, "nearest", lambda self, Q, k: asked.append(k) or nearest(self, Q, k)
    )
    ours = GridSearchCV(KNeighborsClassifier(weights=weights), grid, cv=4).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    )
    assert asked == [31] * 4  # one search for each fold


def test_rows_are_added_merged_and_forgotten():
    X, y = IRIS
    labels = np.array(["a", "b", "c"])[y]
    whole = KNeighborsClassifier().fit(X, labels)
    parts = KNeighborsClassifier().fit(X[:60], labels[:60])
    parts.partial_fit(X[60:100], labels[60:100])
    parts.merge(KNeighborsClassifier().fit(X[100:], labels[100:]))
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    parts.forget(X[100:], labels[100:])
    assert parts.n_samples_fit_ == 100
    assert parts.classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"Row 0 is not stored, so it cannot be forgotten"):
        parts.forget(X[100:101], labels[100:101])
    assert parts.n_samples_fit_ == 100


def test_sparse_rows_and_functions_go_to_scikit_learn():
    X, Q = tables()
    X[np.abs(X) < 1], Q[np.abs(Q) < 1] = 0, 0
    expected, _ = NearestNeighbors().fit(X).kneighbors(Q)
    sparse, _ = NearestNeighbors().fit(sp.csr_array(X)).kneighbors(sp.csr_array(Q))
    np.testing.assert_allclose(sparse, expected)
    by_hand, _ = NearestNeighbors(metric=lambda a, b: np.linalg.norm(a - b)).fit(X).kneighbors(Q)
    np.testing.assert_allclose(by_hand, expected)


def test_bad_input_is_refused():
    X, y = IRIS
    with pytest.raises(ValueError, match="n_neighbors = 200, n_samples_fit = 150"):
        KNeighborsClassifier(200).fit(X, y).predict(X)
    for rows in (np.eye(4, 3), sp.csr_array(np.eye(4, 3))):
        with pytest.raises(ValueError, match="Row 3 is all zeros: its cosine distance"):
            NearestNeighbors(metric="cosine").fit(rows)
        with pytest.raises(ValueError, match="Row 3 is all zeros: its cosine distance"):
            NearestNeighbors(metric="cosine").fit(rows[:3]).kneighbors(rows, 1)
    with pytest.raises(ValueError, match="n_neighbors"):
        KNeighborsClassifier(0).fit(X, y)
    with pytest.raises(ValueError, match="Negative values"):
        NearestNeighbors(metric="precomputed").fit(-np.ones((3, 3)))


# The certificate.


@pytest.mark.parametrize("package", [NearestNeighbors, theirs.NearestNeighbors])
def test_a_search_without_labels_is_certified_and_tampering_is_found(package):
    X, _ = IRIS
    search = package().fit(X)
    certificate = certify(search, X)
    assert certificate.holds
    assert certificate["nearest"].grade == "checked"
    assert not certify(package().fit(X[::-1] + 1.0), X).holds


@pytest.mark.parametrize("package", ["ours", "theirs"])
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_fits_are_certified_and_tampering_is_found(package, metric):
    X, y = IRIS
    Model = KNeighborsClassifier if package == "ours" else theirs.KNeighborsClassifier
    model = Model(**metric).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate.holds, str(certificate)
    moved = X.copy()
    moved[:, 0] = np.roll(moved[:, 0], 1)
    assert not certify(model, moved, y).holds
    other = certify(model, X, (y + 1) % 3)
    assert not other["votes"].holds


def test_the_row_left_out_is_scikit_learns_leave_one_out():
    X = IRIS[0]
    model = KNeighborsRegressor().fit(X[:, :3], X[:, 3])
    certificate = certify(model, X[:, :3], X[:, 3])
    assert certificate.holds, str(certificate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left = model.predict(None)
    assert certificate["left out"].value == pytest.approx(np.mean((left - X[:, 3]) ** 2))


def test_another_number_of_rows_is_refused():
    X, y = IRIS
    with pytest.raises(ValueError, match="The model stores 150 rows, and 149 were given"):
        certify(KNeighborsClassifier().fit(X, y), X[1:], y[1:])


def distances_of(n=6):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return np.linalg.norm(X[:, None] - X, axis=2)


@pytest.mark.parametrize(
    ("settings", "X", "words"),
    [
        ({"n_neighbors": 7}, np.eye(6), r"n_neighbors = 7, n_samples_fit = 6"),
        ({"metric": "haversine"}, np.eye(6), "Haversine|haversine"),
        ({"metric": "cosine"}, np.zeros((6, 2)), "Row 0 is all zeros"),
        ({}, np.full((6, 2), np.nan), "Input X contains NaN"),
        ({"metric": "precomputed"}, distances_of() - 1, "[Nn]egative"),
        ({"metric": "precomputed"}, np.triu(distances_of()), "must be symmetric; got X"),
        ({"metric": "precomputed"}, distances_of()[:, :4], "square"),
        ({"metric": "elsewhere"}, np.eye(6), "'metric' parameter of"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_clear_error(settings, X, words):
    with pytest.raises(ValueError, match=words):
        KNeighborsClassifier(**settings).fit(X, np.arange(6) % 2).predict(X)


def test_models_fitted_to_frames_are_merged_with_their_names():
    frame = pd.DataFrame(IRIS[0], columns=list("abcd"))
    model = KNeighborsClassifier().fit(frame[:75], IRIS[1][:75])
    model.merge(KNeighborsClassifier().fit(frame[75:], IRIS[1][75:]))
    assert list(model.feature_names_in_) == list("abcd")
    whole = KNeighborsClassifier().fit(frame, IRIS[1])
    np.testing.assert_array_equal(model.predict(frame), whole.predict(frame))
    with pytest.raises(ValueError, match="got 4 and 2"):
        model.merge(KNeighborsClassifier().fit(frame[["a", "b"]], IRIS[1]))


@given(
    arrays(np.int8, st.tuples(st.integers(4, 25), st.just(2)), elements=st.integers(-3, 3)),
    st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
    st.sampled_from([KNeighborsClassifier, theirs.KNeighborsClassifier]),
    st.integers(1, 3),
    st.sampled_from(["right", "labels", "rows"]),
)
def test_no_certificate_of_neighbours_is_false(X, metric, kind, k, wrong):
    """Distances of whole numbers are compared in integers: what is claimed is so."""
    y = np.arange(len(X)) % 2
    model = kind(k, metric=metric, algorithm="brute").fit(X.astype(float), y)
    rows = X.astype(float) + (wrong == "rows") * np.arange(len(X))[:, None]
    labels = 1 - y if wrong == "labels" else y
    certificate = certify(model, rows, labels)
    whole = np.abs(rows[:, None] - rows).astype(np.int64)
    exact = {"euclidean": (whole**2).sum(axis=2), "manhattan": whole.sum(axis=2),
             "chebyshev": whole.max(axis=2)}[metric]  # fmt: skip
    said, found = model.kneighbors(rows)
    own = np.take_along_axis(exact, found, axis=1)
    size = np.sqrt(own) if metric == "euclidean" else own
    right = np.allclose(size, said, atol=1e-6 * exact.max(initial=1))
    nearest = (np.sort(exact, axis=1)[:, :k] == np.sort(own, axis=1)).all()
    if certificate.holds:
        assert right
        assert nearest
    if wrong == "right":
        assert certificate.holds, str(certificate)


def real_table(folder, name):
    """The numbers and classes of a table; of categories, their places."""
    if name == "mnist10k":
        with np.load(folder / name / "mnist10k.npz") as file:
            return [file[key] for key in sorted(file.files, key=lambda key: file[key].ndim)][::-1]
    frame = pd.read_csv(next((folder / name).glob(f"{name}.csv*")))
    target = {"letter": "letter", "spambase": "class", "car": "class", "zoo": "type"}[name]
    target = target if target in frame else frame.columns[-1]
    columns = frame.drop(columns=[target, *frame.columns.intersection(["animal"])])
    codes = columns.apply(lambda c: c if c.dtype.kind in "if" else pd.factorize(c)[0])
    return codes.to_numpy(float), frame[target].to_numpy()


@pytest.mark.parametrize("name", ["letter", "mnist10k", "spambase", "car", "zoo"])
def test_real_tables_are_answered_as_scikit_learn_answers(data_folder, name):
    X, y = real_table(data_folder, name)
    X, y = X.reshape(len(X), -1).astype(float), y.ravel().astype(str)
    some = np.random.default_rng(0).permutation(len(X))[:2000]
    (X, Q), (y, t) = (np.split(v[some], [len(some) * 4 // 5]) for v in (X, y))
    metric = "hamming" if name in ("car", "zoo") else "euclidean"
    ours = KNeighborsClassifier(5, metric=metric).fit(X, y)
    other = theirs.KNeighborsClassifier(5, metric=metric, algorithm="brute").fit(X, y)
    expected, _ = other.kneighbors(Q)
    np.testing.assert_allclose(ours.kneighbors(Q)[0], expected, atol=1e-6 * expected.max())
    ties = 0.1 if metric == "hamming" else 0.02  # of rows at one distance ours takes the first
    assert abs(ours.score(Q, t) - other.score(Q, t)) <= ties
    assert certify(ours, X, y, effort=0).holds


@pytest.mark.parametrize("kind", ["even", "one far away", "two clusters", "far from the origin"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_a_search_in_bytes_finds_the_same_to_the_last_bit(metric, kind):
    X, Q = tables(n=search.MANY_POINTS + 5, m=13, d=11)
    if kind == "two clusters":  # within which bytes tell no rows apart
        X[::2, 0] += 1e6
    elif kind == "one far away":
        X[7] = 1e9
    elif kind == "far from the origin":
        X, Q = X + 1e7, Q + 1e7
    points = search.Points(X, metric)
    (distances, found), singles = points._quantized_or_float32(Q, 6), points._by_float32(Q[:3], 6)
    np.testing.assert_array_equal(found[:3], singles[1])
    np.testing.assert_array_equal(distances[:3], singles[0])
    if metric != "cosine":
        assert bool(len(points._quantized.nearest(Q, 6)[2])) == (kind == "two clusters")
        gaps = np.abs(Q[:, None] - X)
        expected = (gaps if metric == "manhattan" else gaps**2).sum(axis=2)
        np.testing.assert_array_equal(found, np.argsort(expected, axis=1, kind="stable")[:, :6])


def test_rows_of_nearly_one_direction_and_queries_of_another():
    X, Q = tables(n=60, d=4)
    X += 1e7
    Q[0] = [-1, 2, 3, 5]
    distances, _ = NearestNeighbors(metric="cosine").fit(X).kneighbors(Q)
    A, B = (Z / np.linalg.norm(Z, axis=1)[:, np.newaxis] for Z in (X, Q))
    expected = np.sort(((B[:, np.newaxis] - A) ** 2).sum(axis=2) / 2, axis=1)[:, :5]
    np.testing.assert_allclose(distances, expected, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "hamming"])
def test_long_tables_have_the_same_neighbours_on_any_number_of_threads(metric):
    X, Q = tables(n=search.MANY_POINTS, m=1_100, d=7)
    X, Q = (np.round(Z) if metric == "hamming" else Z for Z in (X, Q))
    model = NearestNeighbors(metric=metric).fit(X)
    found = []
    for n_threads in (1, 2, 3):
        with threads.limit(n_threads):
            found.append(model.kneighbors(Q))
    for distances, points in found[1:]:
        np.testing.assert_array_equal(distances, found[0][0])
        np.testing.assert_array_equal(points, found[0][1])


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_sums_of_cubes_in_single_precision_pass_over_no_near_point(offset):
    X, Q = tables(n=300, d=6)
    X, Q = (np.round(Z, 2) * [1, 1, 1, 1e-6, 1e-3, 1e3] + offset for Z in (X, Q))
    Q[0, 0] = 1e12  # too far for single precision
    model = NearestNeighbors(n_neighbors=9, p=3).fit(X)
    for rows in (Q[1:], Q):
        cubes = (np.abs(rows[:, None] - X) ** 3).sum(axis=2)
        nearest = np.sort(cubes, axis=1)[:, :9] ** (1 / 3)
        np.testing.assert_allclose(model.kneighbors(rows)[0], nearest, rtol=1e-12)


@given(
    arrays(np.float64, (70, 9), elements=st.floats(-9, 9) | st.sampled_from([0.0, 1e5, -1e-5])),
    st.integers(1, 5),
    st.booleans(),
)
def test_no_near_point_is_passed_over_in_bytes(rows, k, manhattan):
    X, Q = rows[:50], rows[50:]
    points = QuantizedPoints(X, manhattan)
    if not points.fits:
        return
    found, _, left = points.nearest(Q, k)
    gaps = np.abs(Q[:, None] - X)
    expected = np.sort((gaps if manhattan else gaps**2).sum(axis=2), axis=1)[:, :k]
    kept = np.setdiff1d(np.arange(len(Q)), left)
    np.testing.assert_allclose(found[kept], expected[kept], rtol=1e-12)


@pytest.mark.parametrize(("d", "constant"), [(12, 0), (90, 0), (90, 89)])
def test_long_tables_of_zeros_and_ones_are_counted_in_bytes(d, constant):
    rng = np.random.default_rng(0)
    X, Q = (rng.integers(4, 6, (n, d)).astype(float) for n in (search.MANY_POINTS, 9))
    X[:, :constant] = Q[:, :constant] = 4  # half of the rows are at one distance
    expected = (Q[:, None] != X).mean(axis=2)
    distances, found = NearestNeighbors(n_neighbors=5, metric="hamming").fit(X).kneighbors(Q)
    np.testing.assert_array_equal(found, np.argsort(expected, axis=1, kind="stable")[:, :5])
    np.testing.assert_array_equal(distances, np.take_along_axis(expected, found, axis=1))


@pytest.mark.parametrize("most", [1, 9, 200, 3e9], ids=["two values", "bytes", "large", "floats"])
@pytest.mark.parametrize("d", [3, 70, 300])
def test_columns_that_differ_are_counted_in_any_code(most, d):
    rng = np.random.default_rng(0)
    X, Q = (np.floor(rng.uniform(0, most + 1, (n, d))) - 3 for n in (150, 9))
    expected = (Q[:, None] != X).mean(axis=2)
    distances, found = NearestNeighbors(n_neighbors=150, metric="hamming").fit(X).kneighbors(Q)
    np.testing.assert_allclose(distances, np.take_along_axis(expected, found, axis=1), atol=1e-12)
    np.testing.assert_array_equal(found, np.argsort(expected, axis=1, kind="stable"))
    strange = NearestNeighbors(n_neighbors=1, metric="hamming").fit(X).kneighbors(Q + 0.5)
    assert (strange[0] == 1).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-300, 1e160, 1e200])
@pytest.mark.parametrize("metric", [{}, {"p": 1}, {"p": 3}, {"metric": "chebyshev"}], ids=str)
@pytest.mark.parametrize("n", [200, 4_000])
def test_numbers_whose_squares_are_out_of_range_are_scaled(scale, metric, n):
    X, Q = tables(n=n, d=3)
    ours, other = (NearestNeighbors(n_neighbors=3, **metric).fit(Z) for Z in (X * scale, X))
    (distances, found), (expected, places) = ours.kneighbors(Q * scale), other.kneighbors(Q)
    np.testing.assert_array_equal(found, places)
    np.testing.assert_allclose(distances, expected * scale, rtol=1e-9)
    assert certify(ours, X * scale).holds


def test_distances_beyond_what_a_double_holds_are_refused():
    X, _ = tables(d=3)
    with pytest.raises(ValueError, match="rescale the columns"):
        NearestNeighbors().fit(X).kneighbors(X * 1e200)


@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e8, 1.0), (0.0, 1e-200), (0.0, 1e200)])
def test_a_radius_holds_the_rows_within_it_far_from_the_origin_too(offset, scale):
    Z = (tables(n=200, d=3)[0] + offset) * scale
    model = NearestNeighbors(radius=0.5 * scale).fit(Z)
    near, found = model.radius_neighbors(Z, sort_results=True)
    apart = np.sqrt((((Z[:, None] - Z) / scale) ** 2).sum(axis=2))
    assert sum(map(len, found)) == np.count_nonzero(apart <= 0.5)
    assert all(d[0] == 0 for d in near)
    assert [len(f) + 1 for f in model.radius_neighbors(return_distance=False)] == list(
        map(len, found)
    )
    assert model.radius_neighbors_graph(Z).sum() == np.count_nonzero(apart <= 0.5)
    assert certify(model, Z).holds


def test_a_search_by_radius_that_misses_rows_is_found():
    X, _ = tables(n=200, d=3)

    class Short(NearestNeighbors):
        def radius_neighbors(self, *rows, **more):
            return [found[1:] for found in super().radius_neighbors(*rows, **more)]

    model = Short().fit(X)
    model.__class__.__name__ = "NearestNeighbors"
    assert not certify(model, X)["radius"].holds


@pytest.mark.parametrize(
    "Z", [tables(30, d=3)[0] + 1e8, np.ones((30, 3)), np.ones((30, 3)) * 1e-200]
)
def test_directions_that_hardly_differ_are_certified(Z):
    y = np.arange(30) % 3
    model = KNeighborsClassifier(3, metric="cosine", weights="distance").fit(Z, y)
    assert certify(model, Z, y).holds


def frame_of(**columns):
    return pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6.0) % 2 + 1}).assign(**columns)


@pytest.mark.parametrize("metric", ["minkowski", "cosine", "hamming"])
def test_columns_of_dates_and_words_are_named(metric):
    model, y = KNeighborsClassifier(2, metric=metric), np.arange(6) % 2
    with pytest.raises(TypeError, match="Column 'day' holds dates"):
        model.fit(frame_of(day=pd.date_range("2020-01-01", periods=6)), y)
    for words in (["x", "y"] * 3, pd.Categorical(["x", "y"] * 3)):
        with pytest.raises(ValueError, match=r"metric='gower'.*Column 'word' has 6 words"):
            model.fit(frame_of(word=words), y)


@pytest.mark.parametrize("value", [-1.0, np.nan])
def test_a_function_that_returns_no_distance_is_refused(value):
    X, _ = tables(n=30)

    def metric(a, b):
        return value if b is not a and a[0] == X[0, 0] and b[0] == X[3, 0] else 1.0

    with pytest.raises(ValueError, match=f"of rows 0 and 3 it returns {value}"):
        NearestNeighbors(metric=metric).fit(X)


def test_a_number_of_neighbours_is_needed():
    X, y = IRIS
    with pytest.raises(ValueError, match="n_neighbors of the model is None"):
        KNeighborsClassifier(None).fit(X, y).predict(X)


def by_hand(X, Q, distance, k):
    """The numbers of the k nearest rows, the first of those at one distance."""
    far = np.array([[distance(x, q) for x in X] for q in Q])
    return np.argsort(far, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize(("metric", "power"), [("euclidean", 2), ("manhattan", 1)])
def test_rows_stored_first_come_first_where_a_tree_searches(metric, power):
    X = np.random.default_rng(0).integers(0, 6, (search.MANY_POINTS, 2)).astype(float)
    model = NearestNeighbors(n_neighbors=5, metric=metric).fit(X)
    assert model._points._in_tree
    distances, found = model.kneighbors(X[:40])
    gaps = (np.abs(X[:40, np.newaxis] - X) ** power).sum(axis=2)
    np.testing.assert_array_equal(found, np.argsort(gaps, axis=1, kind="stable")[:, :5])
    np.testing.assert_allclose(distances, np.sort(gaps, axis=1)[:, :5] ** (1 / power))


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_mixed_columns_that_are_as_far_and_far_from_zero(offset):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (300, 3)) * 2.0**-20 + offset
    ranges = np.ptp(X, axis=0)
    found = NearestNeighbors(n_neighbors=10, metric="gower").fit(X).kneighbors(X[:30])[1]

    def gower(a, b):
        return sum(abs(a - b) / ranges) / 3

    np.testing.assert_array_equal(found, by_hand(X, X[:30], gower, 10))


def test_a_range_that_no_number_holds_is_refused():
    with pytest.raises(ValueError, match="range of column 0 is too large"):
        NearestNeighbors(metric="gower").fit([[-1.7e308], [1.7e308]])


@pytest.mark.parametrize("p", [9, 50, 1000])
def test_large_powers_of_small_differences(p):
    rows = [[0.0, 1.0], [1e-7, 1.0], [3e-8, 1.0], [1.9, 0.0]]
    distances, found = (
        NearestNeighbors(n_neighbors=4, metric="minkowski", p=p).fit(rows).kneighbors([[0.0, 1.0]])
    )
    assert found.tolist() == [[0, 2, 1, 3]]
    np.testing.assert_allclose(distances, [[0, 3e-8, 1e-7, np.linalg.norm([1.9, 1.0], p)]])


def test_squares_of_distances_far_from_the_origin():
    X, Q = (Z + 1e8 for Z in tables(n=80, d=3))
    ours, plain = (NearestNeighbors(metric=name).fit(X) for name in ("sqeuclidean", "euclidean"))
    (squares, found), (distances, numbers) = ours.kneighbors(Q), plain.kneighbors(Q)
    np.testing.assert_array_equal(found, numbers)
    np.testing.assert_allclose(squares, distances**2)
    squares, found = ours.radius_neighbors(Q[:1], 4.0, sort_results=True)
    distances, numbers = plain.radius_neighbors(Q[:1], 2.0, sort_results=True)
    np.testing.assert_array_equal(found[0], numbers[0])
    np.testing.assert_allclose(squares[0], distances[0] ** 2)
    assert certify(ours, X).holds


def test_what_happens_to_a_table_after_the_fit_does_not_matter():
    X, Q = tables(n=100, d=6)
    model = NearestNeighbors().fit(X)
    expected = model.kneighbors(Q)[1]
    X += 1.0
    np.testing.assert_array_equal(model.kneighbors(Q)[1], expected)


def test_models_along_a_path_see_that_rows_have_changed():
    X, Q = tables(n=100, d=3)
    y = (X[:, 0] > 0).astype(int)
    model = KNeighborsClassifier().fit_path((X, y), "n_neighbors", [1, 3])[0]
    alone = KNeighborsClassifier(1).fit(X, y)
    np.testing.assert_array_equal(model.predict(Q), alone.predict(Q))
    Q *= -1
    np.testing.assert_array_equal(model.predict(Q), alone.predict(Q))
    more = KNeighborsClassifier(9).fit(X, y).predict(Q)
    np.testing.assert_array_equal(model.set_params(n_neighbors=9).predict(Q), more)


def test_hardly_a_number_is_not_a_whole_number():
    model = NearestNeighbors(n_neighbors=1, metric="hamming").fit([[-1.0], [0.0], [1.0]])
    assert model.kneighbors([[1e-20]])[0] == 1.0


def test_directions_of_rows_of_any_length():
    X = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    for size in (4e307, 1e-320):
        distances, _ = NearestNeighbors(n_neighbors=1, metric="cosine").fit(size * X).kneighbors(X)
        np.testing.assert_allclose(distances, 0.0, atol=1e-12)


def test_votes_by_the_smallest_distances():
    X, q = [[0.0], [1.3e-308]], [[0.65e-308]]
    shares = KNeighborsClassifier(2, weights="distance").fit(X, [0, 1]).predict_proba(q)
    np.testing.assert_allclose(shares, [[0.5, 0.5]])


@pytest.mark.parametrize("package", [rosenblatt, theirs])
@pytest.mark.parametrize("name", ["KNeighborsClassifier", "KNeighborsRegressor"])
def test_one_changed_row_or_label_is_seen(package, name):
    X, _ = tables(n=2_000, d=4)
    y = np.random.default_rng(0).integers(0, 2, len(X))
    for change in ("_fit_X", "_y"):
        model = getattr(package, name)().fit(X.copy(), y.copy())
        assert certify(model, X, y, effort=0).holds
        getattr(model, change)[123] = 1 - getattr(model, change)[123]
        assert not certify(model, X, y, effort=0).holds


def test_classes_in_another_order_fail_a_claim():
    X, _ = tables(n=50, d=4)
    y = (X[:, 0] > 0).astype(int)
    model = KNeighborsClassifier().fit(X, y)
    model.classes_ = model.classes_[::-1]
    assert not certify(model, X, y).holds


def test_rows_without_labels_are_refused_by_models_that_need_them():
    X, _ = tables(n=30, d=3)
    model = KNeighborsClassifier().fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="pass the y of these rows"):
        model.partial_fit(X)
    with pytest.raises(TypeError, match="another KNeighborsClassifier only"):
        model.merge(NearestNeighbors().fit(X))


def test_models_of_other_columns_or_parameters_are_not_merged():
    X, _ = tables(n=30, d=2)
    a, b = pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(X, columns=["b", "a"])
    with pytest.raises(ValueError, match="first that differ are 'a' and 'b'"):
        NearestNeighbors().fit(a).merge(NearestNeighbors().fit(b))
    with pytest.raises(ValueError, match="p is 2 here and 1 there"):
        NearestNeighbors().fit(X).merge(NearestNeighbors(p=1).fit(X))


@pytest.mark.parametrize("package", [NearestNeighbors, theirs.NearestNeighbors])
def test_one_far_row_excuses_no_wrong_neighbour(package):
    X = np.append(np.arange(20.0), 1e9)[:, np.newaxis]
    model = package(n_neighbors=2).fit(X)
    assert certify(model, X).holds
    search = model.kneighbors

    def one_too_far(Q, k):
        distances, found = search(Q, 6)
        return distances[:, [0, 5]], found[:, [0, 5]]

    model.kneighbors = one_too_far
    assert not certify(model, X)["nearest"].holds

"""Model files hold all that a prediction needs, and nothing that runs."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import rosenblatt
from rosenblatt import SVC, RandomForestClassifier
from rosenblatt.data import Table, TableError, read_table
from rosenblatt.workbench import model_file
from rosenblatt.workbench.comparison import compare
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.known_columns import rows_for
from rosenblatt.workbench.model_catalogue import named_families
from rosenblatt.workbench.model_file import SavedModel, load_model, save_model
from rosenblatt.workbench.trusted_types import ALLOWED, trusted_types
from tests.workbench.models import fitted, table_for

pytestmark = pytest.mark.usefixtures("unconverged")
EVERY = named_families()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.mark.filterwarnings("ignore:.*stands in for kernels above")  # on few rows
@pytest.mark.filterwarnings("ignore:n_components > n_samples")
@pytest.mark.parametrize("family", EVERY, ids=lambda family: family.name)
def test_every_family_predicts_the_same_bits_after_a_round_trip(family, path):
    table = table_for(family)
    saved = fit_table(table, "target", family.name, certificate=False)
    save_model(saved, path)
    again = load_model(path)
    others = table_for(family, seed=7)
    X = rows_for(again, others)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(saved.model, method):
            before = getattr(saved.model, method)(rows_for(saved, others))
            assert np.array_equal(getattr(again.model, method)(X), before)


@pytest.mark.parametrize("name", ["multinomial naive Bayes", "logistic regression"])
def test_models_of_matrices_without_names_too(name, path):
    X, y = (rows[:200] for rows in load_digits(return_X_y=True))
    table = Table(pl.DataFrame({"target": y}), "digits", sp.csr_matrix(X))
    save_model(fit_table(table, "target", name, certificate=False), path)
    again = load_model(path)
    assert (again.width, again.columns) == (64, ())
    assert again.model.predict(rows_for(again, table)).shape == y.shape


def test_the_file_says_what_the_model_was_fitted_to(path):
    save_model(fitted("Ridge", ["alpha=10"]), path)
    again = load_model(path)
    assert [(c.name, c.kind, c.dtype) for c in again.columns] == [
        ("age", "numeric", "Float64"),
        ("visits", "numeric", "Int64"),
        ("town", "categorical", "String"),
        ("member", "boolean", "String"),
        ("since", "date", "Date"),
    ]
    assert (again.family, again.target, again.task) == ("ridge regression", "target", "regression")
    assert (again.n_rows, again.split, again.seed) == (120, "all rows", None)
    assert {"rosenblatt", "scikit-learn", "numpy"} <= set(again.versions)
    assert again.certificate["holds"]
    assert again.certificate["claims"][0]["statement"]
    assert again.metric == "r2"


def test_the_model_that_a_comparison_chose_goes_into_a_file_too(path):
    found = compare(
        "iris",
        target="species",
        families=["Gaussian naive Bayes"],
        metric="f1_macro",
        random_state=3,
        ledger=path.with_name("ledger"),
    )
    found.save(path)
    again = load_model(path)
    assert (again.n_rows, again.split, again.seed) == (120, "stratified", 3)
    assert again.metric == "f1_macro"
    X = read_table("iris").frame
    assert np.array_equal(again.model.predict_proba(X), found.best.predict_proba(X))


def test_anybody_can_read_what_it_says_of_itself(path):
    save_model(fitted("Ridge"), path)
    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read("rosenblatt.json"))
    assert about["format"] == model_file.FORMAT
    assert about["target"] == "target"


def test_a_failure_leaves_the_old_file(path, monkeypatch):
    save_model(fitted("Ridge"), path)
    before = path.read_bytes()

    def no_room(self, content):
        with self.open("wb") as file:
            file.write(content[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", no_room)
    with pytest.raises(OSError, match="No space"):
        save_model(fitted("Lasso"), path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["model.skops"]


def test_what_could_not_be_read_again_is_not_written(path):
    saved = fitted("GaussianNB")
    model = Pipeline([("features", FunctionTransformer()), ("model", saved.model[-1])])
    other = SavedModel(model, "x", "y", "classification", "z", 3)
    with pytest.raises(ValueError, match=r"cannot hold sklearn.*FunctionTransformer"):
        save_model(other, path)
    assert not path.exists()


def changed(path, change, about=None):
    """The model file with its tree changed."""
    content = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(content, "w") as new:
        for name in old.namelist():
            member = old.read(name)
            if name == "schema.json":
                tree = json.loads(member)
                change(tree)
                member = json.dumps(tree)
            elif name == "rosenblatt.json":
                member = json.dumps({**json.loads(member), **(about or {})})
            new.writestr(name, member)
    path.write_bytes(content.getvalue())


def attributes(tree):
    """The attributes of the model at the end of the pipeline."""
    steps = tree["content"]["content"]["steps"]["content"]
    return steps[1]["content"][1]["content"]["content"]


class Payload:
    """What a pickle would run."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_is_refused_and_runs_nothing(path):
    harm = path.with_name("harm")
    path.write_bytes(pickle.dumps(Payload(harm)))
    with pytest.raises(TableError, match="not a model file or is damaged"):
        load_model(path)
    assert not harm.exists()


def node(loader, module, name, content):
    return {"__loader__": loader, "__module__": module, "__class__": name, "content": content}


def words(*values):
    items = [node("JsonNode", "builtins", "str", json.dumps(v)) | {"is_json": True} for v in values]
    return node("TupleNode", "builtins", "tuple", items)


def attacks(harm):
    """Nodes that would run something, or bring in what no model is made of."""
    command = words(f"touch {harm}")
    yield "a function", node("FunctionNode", "os", "system", None)
    yield "a call", node("ConstructorFromReduceNode", "os", "system", command)
    yield (
        "a call of ours",
        node(
            "ConstructorFromReduceNode",
            "rosenblatt.workbench.column_parts",
            "Numbers",
            command,
        ),
    )
    yield "an operator", node("OperatorFuncNode", "operator", "methodcaller", {"attrs": command})
    yield "a list of another type", node("ListNode", "os", "system", [])
    yield "an object of another package", node("ObjectNode", "subprocess", "Popen", None)
    yield "a module of ours' import", node("ObjectNode", "rosenblatt.trace.recorder", "Path", None)
    yield "a function of ours", node("FunctionNode", "rosenblatt.statistics.files", "save", None)
    yield (
        "a class of ours that no model holds",
        node("ObjectNode", "rosenblatt.trace.recorder", "Inbox", None),
    )
    yield "a type as key", node("TypeNode", "subprocess", "Popen", None)
    yield "no loader", {"__module__": "os", "__class__": "system"}
    yield "a loader that is none", node(["ObjectNode"], "os", "system", None)
    yield (
        "another estimator",
        node(
            "ObjectNode", "sklearn.preprocessing._function_transformer", "FunctionTransformer", None
        ),
    )


@pytest.mark.parametrize("place", range(13))
def test_a_file_with_anything_else_in_it_is_refused_and_runs_nothing(path, place):
    harm = path.with_name("harm")
    name, attack = list(attacks(harm))[place]
    save_model(fitted("GaussianNB", certificate=False), path)
    changed(path, lambda tree: attributes(tree).update(epsilon_=attack))
    with pytest.raises(TableError, match="was not loaded"):
        load_model(path)
    assert not harm.exists(), name


def test_that_is_all_of_them(tmp_path):
    assert len(list(attacks(tmp_path))) == 13


def test_an_older_protocol_with_older_loaders_is_refused(path):
    save_model(fitted("GaussianNB", certificate=False), path)
    changed(path, lambda tree: tree.update(protocol=0))
    with pytest.raises(TableError, match="not read here"):
        load_model(path)


def test_the_list_is_of_classes_defined_where_they_say():
    ours = [name for name in trusted_types() if name.startswith("rosenblatt.")]
    assert "rosenblatt.naive_bayes.gaussian.GaussianNB" in ours
    assert "rosenblatt.workbench.column_parts.Numbers" in ours
    assert not [name for name in ours if ".cli." in name or ".trace." in name or ".data." in name]
    others = {name.partition(".")[0] for name in trusted_types()} - {"rosenblatt"}
    assert others == {"builtins", "numpy", "scipy", "sklearn"}
    assert "builtins.type" not in ALLOWED["TypeNode"]


def test_a_pipeline_of_other_steps_is_refused(path):
    save_model(fitted("GaussianNB", certificate=False), path)
    first = lambda tree: tree["content"]["content"]["steps"]["content"].pop()  # noqa: E731
    changed(path, first)
    with pytest.raises(TableError, match="damaged"):
        load_model(path)


def test_a_newer_format_is_refused_in_one_sentence(path):
    save_model(fitted("Ridge", certificate=False), path)
    changed(path, lambda tree: None, {"format": 99, "versions": {"rosenblatt": "9.1"}})
    with pytest.raises(TableError) as caught:
        load_model(path)
    assert str(caught.value) == (
        f"{path} has format 99 (rosenblatt 9.1), but this version reads format "
        f"{model_file.FORMAT}: update rosenblatt, or fit the model again."
    )


@pytest.mark.parametrize(
    "about", [{"format": "1"}, {"columns": 3}, {"format": None}, {"metric": 7}, {"metric": ""}]
)
def test_what_it_says_of_itself_must_make_sense(path, about):
    save_model(fitted("Ridge", certificate=False), path)
    changed(path, lambda tree: None, about)
    with pytest.raises(TableError, match="damaged"):
        load_model(path)


def test_a_file_of_skops_that_is_not_ours_is_refused(path):
    skops.io.dump(fitted("Ridge").model, path)
    with pytest.raises(TableError, match="was not written by rosenblatt"):
        load_model(path)


def test_a_damaged_file_is_refused_wherever_it_is_cut(path):
    save_model(fitted("Ridge", certificate=False), path)
    whole = path.read_bytes()
    for n in np.linspace(0, len(whole) - 1, 23).astype(int):
        path.write_bytes(whole[:n])
        with pytest.raises(TableError, match="damaged"):
            load_model(path)


def test_changed_bytes_are_noticed_or_do_not_matter(path):
    table = table_for(EVERY[0])
    saved = fit_table(table, "target", EVERY[0].name, certificate=False)
    save_model(saved, path)
    whole, noticed = path.read_bytes(), 0
    X = rows_for(saved, table)
    for place in np.linspace(0, len(whole) - 1, 61).astype(int):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            again = load_model(path)
        except TableError:
            noticed += 1
        else:
            assert np.array_equal(again.model.predict_proba(X), saved.model.predict_proba(X))
    assert noticed > 30


def test_a_file_that_is_not_there_is_asked_after(path):
    save_model(fitted("Ridge", certificate=False), path)
    with pytest.raises(TableError, match=r"There is no file .*modle.skops. Did you mean .*model"):
        load_model(path.with_name("modle.skops"))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_estimators=5, random_state=0),
        rosenblatt.Ridge(),
        rosenblatt.KMeans(3, random_state=0),
        rosenblatt.ConjunctionClassifier(max_terms=1),
        rosenblatt.HistGradientBoostingClassifier(max_iter=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_plain_model_is_saved_and_predicts_the_same(model, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    model.fit(X, X[:, 0] > 0)
    rosenblatt.save_model(model, tmp_path / "m.skops")
    saved = rosenblatt.load_model(tmp_path / "m.skops")
    assert (saved.family, saved.n_rows, saved.width) == (type(model).__name__, 0, 4)
    assert type(saved.model[-1]) is type(model)
    np.testing.assert_array_equal(saved.model.predict(X), model.predict(X))
    rosenblatt.save_model(saved, tmp_path / "again.skops")


class Orders:
    """What a pickle would run."""

    def __reduce__(self):
        return os.mkdir, ("orders_were_obeyed",)


def test_a_kernel_that_is_a_function_is_named(tmp_path):
    X = np.array([[0.0], [1.0], [4.0], [5.0]])
    model = SVC(kernel=lambda U, V: U @ V.T).fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="cannot hold a function, and kernel=<function"):
        rosenblatt.save_model(model, tmp_path / "m.skops")


def test_what_a_file_cannot_hold_is_refused_and_nothing_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    model = RandomForestClassifier(n_estimators=2).fit(X, y)
    model.hidden_ = Orders()
    with pytest.raises(ValueError, match="A model file cannot hold"):
        rosenblatt.save_model(model, "m.skops")
    with pytest.raises(TypeError, match="takes a fitted classifier"):
        rosenblatt.save_model(rosenblatt.Standardizer().fit(X), "m.skops")
    with pytest.raises(NotFittedError):
        rosenblatt.save_model(RandomForestClassifier(), "m.skops")
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_machine_with_probabilities_is_refused_with_the_way_out(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = SVC(probability=True, random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"comes of probability=True.*decision_fun"):
        save_model(model, tmp_path / "svc.skops")
    assert not any(tmp_path.iterdir())

"""Model files that are damaged, or made to do harm, are refused in a sentence that names them."""

import io
import json
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data import TableError
from rosenblatt.workbench import model_file
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.known_columns import rows_for
from rosenblatt.workbench.model_catalogue import family_named
from rosenblatt.workbench.model_file import load_model, save_model
from tests.cli.commands import refused, run
from tests.workbench.models import fitted, table_for

N_MUTATIONS = 500


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a real file."""
    place = tmp_path_factory.mktemp("whole") / "model.skops"
    save_model(fitted("GaussianNB", certificate=False), place)
    return place.read_bytes()


def rewritten(whole, path, **members):
    """The file with some members changed by functions of their bytes, others added."""
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(path, "w", 8) as new:
        for name in old.namelist():
            change = members.pop(name.partition(".")[0], None)
            new.writestr(name, old.read(name) if change is None else change(old.read(name)))
        for name, content in members.items():
            new.writestr(name, content)


def saying(about):
    """A change of what a file says: values by name, None to take one out."""

    def change(content):
        known = json.loads(content) | about
        return json.dumps({name: value for name, value in known.items() if value != "gone"})

    return change


AGE = {"name": "age", "kind": "numeric", "dtype": "Float64", "notation": ""}


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"family": 7}, "its family should be a word, and is 7"),
        ({"target": None}, "its target should be a word, and is None"),
        ({"target": "age"}, "or one has that of the target"),
        ({"columns": "gone"}, "it lacks 'columns'"),
        ({"columns": 3}, "its columns should be a list, and is 3"),
        ({"columns": [3]}, "its columns should be a list of columns, and is 3"),
        ({"columns": [{"name": "age"}]}, "a column should have a name, a kind, a dtype"),
        ({"columns": [AGE | {"name": 7}]}, "its name of a column should be a word, and is 7"),
        ({"columns": [AGE | {"kind": "odd"}]}, "its kind of column 'age' should be one of numeric"),
        ({"columns": [AGE | {"kind": []}]}, "its kind of column 'age' should be one of numeric"),
        ({"columns": [AGE, AGE]}, "two of its columns have one name"),
        ({"columns": [AGE]}, "the columns it names are not those that its model reads"),
        ({"columns": []}, "with names or without, and has both or none"),
        ({"width": 4}, "with names or without, and has both or none"),
        ({"columns": [], "width": 5}, "the columns it names are not those that its model reads"),
        ({"width": -1}, "its width should be a count of columns, and is -1"),
        (
            {"task": "sorting"},
            "its task should be classification, regression or clustering, and is 'sorting'",
        ),
        ({"task": ["regression"]}, "its task should be classification, regression or clustering"),
        ({"task": "regression"}, "it is said to be for regression, and its model is not"),
        ({"n_rows": True}, "its n_rows should be a count of rows, and is True"),
        ({"n_rows": "many"}, "its n_rows should be a count of rows, and is 'many'"),
        ({"seed": 1.5}, "its seed should be a whole number or nothing, and is 1.5"),
        ({"split_by": 7}, "its split_by should be the name of a column or nothing, and is 7"),
        ({"digest": "abc"}, "its digest should be 64 hexadecimal digits or nothing"),
        ({"certificate": [1]}, "its certificate should be claims or nothing, and is [1]"),
        ({"versions": 1}, "its versions should be names and numbers, and is 1"),
        ({"format": True}, "it should say its format, and says True"),
    ],
)
def test_what_it_says_of_the_model_must_be_possible(whole, path, about, why):
    rewritten(whole, path, rosenblatt=saying(about))
    sentence = refused("explain", path, "iris", "--row", "0")
    assert sentence.startswith(f"{path} is damaged (")
    assert why in sentence
    assert sentence.endswith("): fit the model again.")


@pytest.mark.parametrize("content", [b"[]", b"7", b"{", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_of_ours_is_damage_too(whole, path, content):
    for member in ("rosenblatt", "schema"):
        rewritten(whole, path, **{member: lambda _: content})
        with pytest.raises(TableError, match=r"model.skops (is damaged|holds a form of skops)"):
            load_model(path)


def changed_attribute(name, value, family="GaussianNB"):
    """A model with an attribute of another value; ... takes it out."""
    saved = fitted(family, certificate=False)
    if value is ...:
        delattr(saved.model[-1], name)
    else:
        setattr(saved.model[-1], name, value)
    return saved


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theta_", ...),
        ("theta_", np.zeros((3, 2))),
        ("theta_", "oops"),
        ("classes_", ...),
        ("classes_", np.array(["low", "low"])),
        ("classes_", np.array([["low", "high"]])),
        ("var_", np.full((2, 11), np.nan)),
    ],
)
def test_numbers_that_do_not_fit_each_other_show_when_it_is_read(path, name, value):
    save_model(changed_attribute(name, value), path)
    with pytest.raises(TableError, match=r"model\.skops is damaged \("):
        load_model(path)


@pytest.mark.parametrize("value", [..., "oops", 7, np.zeros(1)])
def test_those_that_no_prediction_needs_show_where_they_are_needed(path, value):
    table = table_for(family_named("GaussianNB"))
    rows = path.with_name("t.parquet")
    table.frame.write_parquet(rows)
    save_model(changed_attribute("statistics_", value), path)
    result = run("certify", path, rows)
    assert result.exit_code in (0, 1, 2)
    assert result.exception is None
    save_model(changed_attribute("class_log_prior_", value, "MixedNB"), path)
    result = run("explain", path, rows, "--row", "0")
    assert result.exit_code == 2
    assert f"{path} " in result.stderr


def test_a_cut_anywhere_is_refused(whole, path):
    for n in range(0, len(whole), 7):
        path.write_bytes(whole[:n])
        with pytest.raises(TableError, match=r"model\.skops is (not a model file or is )?damaged"):
            load_model(path)


def mutated(whole, rng):
    """Bytes with something changed, cut out, doubled or put in."""
    content = bytearray(whole)
    start = int(rng.integers(len(whole)))
    stop = min(len(whole), start + int(rng.integers(1, 60)))
    kind = rng.integers(5)
    if kind == 0:
        content[start] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        content[start:stop] = rng.bytes(stop - start)
    elif kind == 2:
        content[start:stop] = b""
    elif kind == 3:
        content[start:start] = content[start:stop]
    else:
        content[start:stop] = bytes(stop - start)
    return bytes(content)


def test_random_damage_is_told_or_does_not_matter(path):
    family = family_named("GaussianNB")
    table = table_for(family)
    saved = fit_table(table, "target", family.name, certificate=False)
    save_model(saved, path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    X = rows_for(saved, table)
    told = saved.model.predict_proba(X)
    refusals = []
    for _ in range(N_MUTATIONS):
        path.write_bytes(mutated(whole, rng))
        try:
            again = load_model(path)
        except TableError as error:
            refusals.append(str(error))
        else:
            assert np.array_equal(again.model.predict_proba(rows_for(again, table)), told)
            assert again.about() == saved.about()
    assert len(refusals) > N_MUTATIONS / 2
    assert all(sentence.startswith(f"{path} ") for sentence in refusals)


# Archives that are more than they seem.


def test_a_small_file_that_would_fill_the_memory_is_refused_before_it_is_inflated(whole, path):
    rewritten(whole, path, **{"123.npy": bytes(model_file.MOST_BYTES // 64)})
    assert load_model(path)  # much, but not too much
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file, file.open("7.npy", "w") as big:
        for _ in range(65):
            big.write(bytes(2**24))
    assert path.stat().st_size < 2_000_000
    tracemalloc.start()
    sentence = refused("predict", path, "iris")
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()
    assert sentence.startswith(f"{path} has ")
    assert "1.0 GiB of memory" in sentence
    assert "--large" in sentence
    assert load_model(path, large=True)  # which no node of the tree asks for


def test_the_description_of_the_model_counts_before_it_is_inflated(whole, path):
    """A file of 3 MB took 6.5 GB: `rosenblatt.json` was read before the sizes were checked."""
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(path, "w", 8) as new:
        for name in set(old.namelist()) - {model_file.ABOUT}:
            new.writestr(name, old.read(name))
        with new.open(model_file.ABOUT, "w") as big:
            for _ in range(65):
                big.write(b" " * 2**24)
    tracemalloc.start()
    with pytest.raises(TableError, match="GiB of memory, which no model of that size should"):
        load_model(path)
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("descr", "shape", "why"),
    [
        ("<U0", (2**29,), "declares 536,870,912 values without width"),
        ("|V0", (2**40,), "values without width"),
        ("<f8", (2**40,), "its header declares another number"),
        ("<f8", (-1,), "its header declares another number"),
    ],
)
def test_a_header_that_declares_more_than_there_is_is_refused(whole, path, descr, shape, why):
    """Strings of no width, 5 KB as a file, took 4.5 GB."""
    header = io.BytesIO()
    declared = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, declared)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".npy"))
    rewritten(whole, path, **{name.partition(".")[0]: lambda _: header.getvalue()})
    tracemalloc.start()
    with pytest.raises(TableError, match=why):
        load_model(path)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_an_array_counts_as_often_as_it_is_brought_in(whole, path, monkeypatch):
    monkeypatch.setattr(model_file, "MOST_BYTES", 2**24)
    name = "900.npy"
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(2**16))

    def many(content):
        tree = json.loads(content)
        node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
                "type": "numpy", "file": name}  # fmt: skip
        tree["more"] = [node | {"__id__": i} for i in range(1000)]
        return json.dumps(tree)

    rewritten(whole, path, schema=many, **{name: buffer.getvalue()})
    with pytest.raises(ValueError, match=r"would take over .* of memory"):
        load_model(path)


def test_archives_in_archives_count_too(whole, path, monkeypatch):
    monkeypatch.setattr(model_file, "MOST_BYTES", 2**24)
    name, buffer = "900.npz", io.BytesIO()
    sp.save_npz(buffer, sp.csr_matrix((np.zeros(2**21), np.zeros(2**21, int), [0, 2**21])))

    def more(content):
        tree = json.loads(content)
        tree["more"] = {"__class__": "csr_matrix", "__module__": "scipy.sparse._csr", "file": name,
                        "__loader__": "SparseMatrixNode", "type": "scipy"}  # fmt: skip
        return json.dumps(tree)

    rewritten(whole, path, schema=more, **{name: buffer.getvalue()})
    assert path.stat().st_size < 2**18
    with pytest.raises(ValueError, match=r"would take over .* of memory"):
        load_model(path)


@pytest.mark.parametrize("name", ["../../1.npy", "/etc/1.npy", "code.py", "1.npy/", "a\x1b.npy"])
def test_members_that_no_model_file_has_are_refused(whole, path, name):
    rewritten(whole, path, **{name: b""})
    assert "which no model file has" in refused("explain", path, "iris", "--row", "0")


def test_members_that_are_there_twice_are_refused(whole, path):
    path.write_bytes(whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(path, "a") as file:
            file.writestr("schema.json", "{}")
    assert "it holds 'schema.json' 2 times" in refused("explain", path, "iris", "--row", "0")


def test_other_ways_to_pack_are_refused(whole, path):
    path.write_bytes(whole)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_LZMA) as file:
        file.writestr("77.npy", b"0")
    assert "packed in a way of others" in refused("explain", path, "iris", "--row", "0")


def test_a_file_that_would_be_refused_says_so_when_it_is_written(path, monkeypatch):
    monkeypatch.setattr(model_file, "MOST_BYTES", 1000)
    with pytest.warns(UserWarning, match=r"large=True"):
        save_model(fitted("GaussianNB", certificate=False), path)


def test_numbers_that_would_fill_the_memory_are_found_before_they_do(path):
    saved = fitted("GaussianNB", certificate=False)
    saved.model[0].n_features_out_ = 10**12
    save_model(saved, path)
    with pytest.raises(TableError, match="its columns make 11 numbers, and should 1000000000000"):
        load_model(path)
    saved = fitted("ridge on products", certificate=False)
    saved.model[1]._fitted[0].basis.degree = 30
    save_model(saved, path)
    with pytest.raises(TableError, match=r"its expansion makes .* numbers, and its model reads 77"):
        load_model(path)

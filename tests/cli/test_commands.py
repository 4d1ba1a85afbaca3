"""Each command on small tables, and what it answers to bad input."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from rosenblatt.data import Table, read_batches, read_table
from rosenblatt.data.files import form_of
from rosenblatt.data.reading import write_table
from rosenblatt.workbench.comparison import compare
from rosenblatt.workbench.model_file import load_model
from tests.cli.commands import done, refused, run
from tests.workbench.models import mixed_frame

QUICK = ("--families", "logreg,nb")  # where it is not the families that are tested
COMMANDS = [
    "compare",
    "cluster",
    "fit",
    "predict",
    "explain",
    "certify",
    "trace",
    "split",
    "models",
    "doctor",
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A file of a model of mixed columns, and the table it was fitted to."""
    folder = tmp_path_factory.mktemp("model")
    frame = mixed_frame()
    label = pl.when(pl.col("visits") > 2).then(pl.lit("often")).otherwise(pl.lit("seldom"))
    frame.with_columns(label.alias("how")).write_csv(folder / "people.csv")
    done("fit", folder / "people.csv", "--target", "how", "--model", "GaussianNB",
         "-o", folder / "people.skops")  # fmt: skip
    return folder / "people.skops"


@pytest.fixture
def table(model):
    return model.with_name("people.csv")


def examples():
    """The examples that the help of each command gives, in an order that they can be run in."""
    found = []
    for command in COMMANDS:
        text = done(command, "--help")
        lines = re.findall(r"^ +(rosenblatt .*)$", text, flags=re.M)
        assert lines, f"{command} has no example"
        found += lines
    return found


def test_the_examples_of_help_work(here):
    for example in examples():
        done(*shlex.split(example)[1:])
    assert {"report.html", "iris.skops", "predictions.csv", "run.html", "parts"} <= set(
        os.listdir(here)
    )


def test_warm_has_an_example_whose_options_there_are(monkeypatch):
    [line] = re.findall(r"^ +(rosenblatt .*)$", done("warm", "--help"), flags=re.M)
    monkeypatch.setattr("rosenblatt.cli.warm.warm", lambda jobs: print(f"in {jobs}"))
    assert "in 2" in done(*shlex.split(line)[1:])


def test_help_of_a_command_imports_nothing_heavy():
    script = (
        "import sys\n"
        "sys.argv = ['rosenblatt', 'fit', '--help']\n"
        "from rosenblatt.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'sklearn', 'polars', 'skops', 'rosenblatt.workbench'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_errors_of_polars_are_sentences_too(here, monkeypatch):
    def broken(*words, **options):
        raise pl.exceptions.InvalidOperationError("this cannot be cast")

    monkeypatch.setattr("rosenblatt.cli.tables.read_table", broken)
    words = ("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    assert refused(*words) == "this cannot be cast"


def test_an_explanation_that_is_refused_prints_no_half_of_it(here):
    done("fit", "diabetes", "--target", "progression", "--model", "ridge on products",
         "-o", "m.skops")  # fmt: skip
    result = run("explain", "m.skops", "diabetes", "--row", "0")
    assert (result.exit_code, result.stdout) == (2, "")


def test_standard_input_cannot_be_scored_as_it_is_read_once(model):
    assert "needs a file" in refused("predict", model, "-", "--score")


# fit


def test_fit_says_what_it_did_and_what_is_next(here):
    text = done("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    assert "Gaussian naive Bayes fitted to 150 rows and 4 columns: m.skops" in text
    assert re.search(r"Certificate: (\d+) of \1 claims hold", text)
    assert "rosenblatt predict m.skops" in text


def test_fit_sets_parameters(here):
    done("fit", "diabetes", "--target", "progression", "--model", "Ridge", "--set", "alpha=3.5",
         "--set", "solver=svd", "--no-certificate", "-o", "m.skops")  # fmt: skip
    saved = load_model("m.skops")
    assert (saved.model[-1].alpha, saved.model[-1].solver) == (3.5, "svd")
    assert saved.certificate is None


def test_fit_leaves_out_rows_without_a_target_and_says_so(here):
    frame = read_table("iris").frame.with_row_index("i")
    holes = frame.with_columns(pl.when(pl.col("i") > 9).then("species").alias("species")).drop("i")
    holes.write_csv("iris.csv")
    result = run("fit", "iris.csv", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    assert result.exit_code == 0
    assert "10 rows without species were ignored." in result.stderr
    assert load_model("m.skops").n_rows == 140


def test_a_fit_that_stops_short_is_a_warning_in_one_line(here):
    result = run("fit", "breast_cancer", "--target", "diagnosis", "--model", "LogisticRegression",
                 "--set", "max_iter=1", "--no-certificate", "-o", "m.skops")  # fmt: skip
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: ")


def test_numbers_may_be_predicted_though_they_are_few(here):
    done("fit", "digits", "--target", "digit", "--model", "Ridge", "--no-certificate",
         "-o", "m.skops")  # fmt: skip
    assert load_model("m.skops").task == "regression"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("irs --target species --model Ridge", "There is no file irs. Did you mean iris?"),
        ("iris --target specis --model Ridge", "no column 'specis'. Did you mean species?"),
        ("iris --target species --model gausian", "There is no model 'gausian'."),
        ("iris --target species --model Ridge", "species holds 'setosa', which is not a number"),
        (
            "diabetes --target progression --model GaussianNB",
            "Gaussian naive Bayes is for classification, and progression asks for regression",
        ),
        (
            "iris --target species --model GaussianNB --set var_smothing=1",
            "Gaussian naive Bayes has no parameter 'var_smothing'. Did you mean var_smoothing?",
        ),
        ("iris --target species --model FisherDiscriminant", "There are 3 classes"),
        ("iris --target species --model GaussianNB --task sorting", "task must be"),
        ("diabetes --target progression --model Ridge --set alpha=-1", "The 'alpha' parameter"),
    ],
)  # fmt: skip
def test_fit_refuses(here, words, message):
    assert message in refused("fit", *shlex.split(words), "-o", "m.skops")
    assert not os.listdir(here)


def test_a_model_that_does_not_suit_is_fitted_with_a_warning(here):
    result = run("fit", "iris", "--target", "species", "--model", "MultinomialNB",
                 "--no-certificate", "-o", "m.skops")  # fmt: skip
    assert result.exit_code == 0
    assert "needs counts; column 'sepal_length' has negative or fractional" in result.stderr


def test_fit_refuses_a_folder_that_is_not_there_before_a_traceback(here):
    assert "does not exist" in refused(
        "fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "no/m.skops"
    )


# predict


def test_predictions_stand_alone_in_a_csv(model, table):
    text = done("predict", model, table)
    lines = text.splitlines()
    assert lines[0] == "prediction"
    assert len(lines) == 121
    assert set(lines[1:]) <= {"often", "seldom"}


def test_probabilities_and_columns_on_request(model, table, here):
    done("predict", model, table, "--proba", "--keep", "-o", "out.csv")
    out = pl.read_csv("out.csv")
    names = pl.read_csv(table).columns
    assert out.columns == [*names, "prediction", "P(often)", "P(seldom)"]
    assert np.allclose(out["P(often)"] + out["P(seldom)"], 1)


def test_batches_say_the_same_as_the_whole(model, table, monkeypatch):
    whole = done("predict", model, table, "--proba")

    def few(*words, **options):
        return read_batches(*words, rows=17, **options)

    monkeypatch.setattr("rosenblatt.cli.tables.read_batches", few)
    assert done("predict", model, table, "--proba") == whole


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_the_same_from_every_kind_of_file(model, table, here, suffix):
    write_table(read_table(str(table)), Path(f"new.{suffix}"), form_of(f"new.{suffix}"))
    assert done("predict", model, f"new.{suffix}") == done("predict", model, table)


def test_extra_columns_are_ignored_with_a_word(model, table, here):
    pl.read_csv(table).with_columns(pl.lit(1).alias("shoe")).drop("how").write_csv("new.csv")
    result = run("predict", model, "new.csv")
    assert result.exit_code == 0
    assert result.stderr.startswith("Columns not used by the model: shoe.\n")


def test_words_where_numbers_were_leave_nothing_behind(model, table, here):
    lines = table.read_text().splitlines()
    first = lines[0].split(",").index("visits")
    cells = lines[60].split(",")
    cells[first] = "many"
    lines[60] = ",".join(cells)
    (here / "new.csv").write_text("\n".join(lines))
    sentence = refused("predict", model, "new.csv", "-o", "out.csv")
    assert "must hold numbers, but holds 'many' in row 59" in sentence
    assert os.listdir(here) == ["new.csv"]


def test_words_far_down_a_long_table_are_found_too(here):
    x = np.random.default_rng(0).integers(0, 9, 30_000)
    pl.DataFrame({"x": x, "y": x > 4}).write_csv("a.csv")
    done("fit", "a.csv", "--target", "y", "--model", "GaussianNB", "--no-certificate", "-o", "m")
    lines = (here / "a.csv").read_text().splitlines()
    (here / "b.csv").write_text("\n".join([*lines, "1.5,true"]))
    assert done("predict", "m", "b.csv").count("\n") == 30_002
    (here / "b.csv").write_text("\n".join([*lines, "six,true"]))
    assert "of b.csv must hold numbers, but holds 'six' in row 30000" in refused(
        "predict", "m", "b.csv", "-o", "out.csv"
    )


def test_scores_are_told_beside_the_predictions(model, table):
    result = run("predict", model, table, "--score")
    told = r"accuracy 0\.\d+ on 120 rows of .*people.csv \(the training rows: "
    assert re.match(told, result.stderr.splitlines()[-1])
    assert result.stdout.startswith("prediction\n")


def test_predict_refuses(model, table, here):
    (here / "empty.csv").write_text("")
    (here / "header.csv").write_text("age,visits,town,member,since\n")
    (here / "ragged.csv").write_text("age,visits,town,member,since\n1,2,Rome,yes,2020-01-01\n1,2\n")
    assert "is empty" in refused("predict", model, "empty.csv")
    assert "has no rows" in refused("predict", model, "header.csv")
    assert "Line 3 of ragged.csv has 2 values" in refused("predict", model, "ragged.csv")
    assert "lacks the columns 'age'" in refused("predict", model, "iris")
    assert "There is no file" in refused("predict", "no.skops", "iris")
    assert "not a model file or is damaged" in refused("predict", table, "iris")
    assert "has no column 'how'" in refused("predict", model, "iris", "--score")
    pl.read_csv(table).with_columns(pl.lit(1).alias("prediction")).write_csv("p.csv")
    assert "already has a column 'prediction'" in refused("predict", model, "p.csv", "--keep")
    done("fit", "diabetes", "--target", "progression", "--model", "Ridge", "-o", "r.skops")
    assert "does not give probabilities" in refused("predict", "r.skops", "diabetes", "--proba")


def test_debug_shows_where_an_error_comes_from(model):
    result = run("predict", model, "iris", "--debug")
    assert result.exit_code == 1
    assert type(result.exception).__name__ == "TableError"


# explain and certify


def test_explain_names_columns_with_their_values(model, table):
    text = done("explain", model, table, "--row", "5")
    visits = pl.read_csv(table)["visits"][5]
    assert text.startswith("Row 5 of ")
    assert f"visits = {visits}" in text
    assert "log-odds" in text


@pytest.mark.parametrize("family", ["GaussianNB", "MixedNB", "gower"])
def test_predict_counts_categories_never_seen_and_empty_cells(family, here, monkeypatch):
    """The wrong column under the right name was predicted for without a word."""
    towns = pl.DataFrame({"town": ["Rome", "Bonn"] * 30, "x": [0.5, 1.5, 2.5] * 20,
                          "y": ["a", "b"] * 30})  # fmt: skip
    towns.write_csv("t.csv")
    done("fit", "t.csv", "--target", "y", "--model", family, "-o", "m.skops")
    assert "never seen" not in run("predict", "m.skops", "t.csv").stderr
    other = pl.concat([towns.head(10), towns.head(50).with_columns(town=pl.lit("Oslo"))])
    other.write_csv("new.csv")
    said = run("predict", "m.skops", "new.csv")
    assert said.stderr == (
        "note: town: 50 of 60 values were never seen when the model was fitted, as 'Oslo'\n"
    )
    towns.with_columns(x=pl.when(pl.col("x") > 1).then("x")).write_csv("gaps.csv")
    assert run("predict", "m.skops", "gaps.csv").stderr == "note: Empty cells: x 20\n"


def first_line(*words):
    return done("explain", *words).splitlines()[0]


def test_explain_tells_what_is_predicted_from_what_the_table_says(here):
    """A wrong prediction was told as what the row is."""
    done("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    told = first_line("m.skops", "iris", "--row", 70)
    assert told == "Row 70 of iris: predicted species = virginica (true value: versicolor)"
    told = first_line("m.skops", "iris", "--row", 0)
    assert told == "Row 0 of iris: predicted species = setosa (correct)"
    bare = read_table("iris").frame.drop("species")
    bare.write_csv("bare.csv")
    told = first_line("m.skops", "bare.csv", "--row", 70)
    assert told == "Row 70 of bare.csv: predicted species = virginica"
    bare.with_columns(species=pl.lit("")).write_csv("gap.csv")
    assert first_line("m.skops", "gap.csv", "--row", 70).endswith("predicted species = virginica")


def test_explain_tells_numbers_and_truth_from_files_of_words(here):
    done("fit", "diabetes", "--target", "progression", "--model", "Ridge", "-o", "m.skops")
    read_table("diabetes").frame.write_csv("d.csv")
    for table in ("diabetes", "d.csv"):
        assert first_line("m.skops", table, "--row", 0).endswith(" (true value: 151)")
    for labels in ([0, 1], [False, True]):
        y = [labels[k] for k in (0, 0, 1, 0, 1, 1)]
        table = pl.DataFrame({"x": [0.1, 0.2, 0.9, 0.3, 0.8, 0.7] * 10, "y": y * 10})
        table.write_csv("t.csv")
        done("fit", "t.csv", "--target", "y", "--model", "GaussianNB", "-o", "t.skops")
        told = first_line("t.skops", "t.csv", "--row", 2)
        assert told == f"Row 2 of t.csv: predicted y = {labels[1]} (correct)"


def test_explain_refuses(model, table, here):
    assert "has 120 rows, counted from 0; row 120 does not exist" in refused(
        "explain", model, table, "--row", 120
    )
    done("fit", "iris", "--target", "species", "--model", "KernelPerceptron", "--no-certificate",
         "-o", "k.skops")  # fmt: skip
    sentence = refused("explain", "k.skops", "iris", "--row", 0)
    assert sentence.startswith("kernel perceptron cannot say what each column adds")


def test_certify_prints_the_claims_and_holds(model, table):
    text = done("certify", model, table)
    assert re.search(r"GaussianNB: (\d+) of \1 claims hold", text)


def test_certify_of_other_rows_fails_and_says_whose_they_are(model, table, here):
    pl.read_csv(table).head(60).write_csv("half.csv")
    result = run("certify", model, "half.csv")
    assert result.exit_code == 1
    assert "fitted to 120 rows" in result.stderr
    assert "NO" in result.stdout


def test_certify_finds_the_rows_that_a_comparison_learned_from(here):
    done("compare", "wine", "--target", "cultivar", *QUICK, "--save", "m.skops", "--seed", 3)
    result = run("certify", "m.skops", "wine")
    assert result.exit_code == 0, result.output
    assert (
        "fitted to 142 of these 178 rows (the training part, split stratified, seed 3)"
        in result.stderr
    )
    assert "142 rows" in result.stdout
    read_table("wine").frame.reverse().write_csv("reversed.csv")  # other rows come out of the split
    result = run("certify", "m.skops", "reversed.csv")
    assert "but the table has 178 other rows" in result.stderr


# trace


def test_trace_writes_a_page_with_the_names_of_columns(here):
    text = done("trace", "iris", "--target", "species", "--model", "averaged perceptron",
                "--every", "update", "-o", "run.html")  # fmt: skip
    assert re.match(r"\d+ steps of averaged perceptron on iris: run.html", text)
    page = (here / "run.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "petal_width" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--model GaussianNB -o r.html",
            "Gaussian naive Bayes is fitted in one step and cannot be traced",
        ),
        (
            "--model Perceptron --every day -o r.html",
            "--every must be pass, update or visit; got 'day'",
        ),
        ("--model Perceptron -o no/r.html", "does not exist"),
    ],
)
def test_trace_refuses(here, words, message):
    assert message in refused("trace", "iris", "--target", "species", *shlex.split(words))


# split


def parts(stem, suffix="csv"):
    return [f"{stem}.{part}.{suffix}" for part in ("train", "dev", "test")]


def test_split_puts_every_row_into_one_part(here, table):
    frame = pl.read_csv(table).with_row_index("i")
    frame.write_csv("people.csv")
    text = done("split", "people.csv", "--target", "how", "--seed", "3")
    read = [read_table(name).frame for name in parts("people")]
    assert [len(part) for part in read] == [72, 24, 24]
    assert sorted(pl.concat([part["i"] for part in read]).to_list()) == list(range(120))
    shares = [(part["how"] == "often").mean() for part in read]
    assert max(shares) - min(shares) < 0.05
    assert "24 rows  people.test.csv" in text
    assert "rosenblatt fit people.train.csv --target how" in text


@pytest.mark.parametrize("suffix", ["tsv", "parquet", "arrow", "jsonl", "csv.gz", "libsvm"])
def test_split_keeps_the_kind_of_file(here, suffix):
    whole = read_table("iris")
    if suffix == "libsvm":
        X = sp.csr_matrix(whole.frame.drop("species").to_numpy())
        whole = Table(pl.DataFrame({"target": np.arange(150) % 3}), "iris", X)
    write_table(whole, Path(f"t.{suffix}"), form_of(f"t.{suffix}"))
    done("split", f"t.{suffix}")
    assert [len(read_table(name)) for name in parts("t", suffix)] == [90, 30, 30]


def test_split_by_group_and_by_time(here):
    n = 200
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"who": rng.integers(0, 30, n), "when": rng.permutation(n), "x": 1.5})
    frame.write_csv("t.csv")
    done("split", "t.csv", "--group", "who", "--out", "groups")
    people = [set(read_table(f"groups/{name}").frame["who"]) for name in parts("t")]
    assert sum(map(len, people)) == len(set().union(*people)) == 30
    done("split", "t.csv", "--time", "when", "--out", "times")
    times = [read_table(f"times/{name}").frame["when"] for name in parts("t")]
    assert times[0].max() < times[1].min()
    assert times[1].max() < times[2].min()


def test_the_test_part_is_sealed_and_counts_who_looks(here):
    done("split", "iris", "--target", "species")
    done("fit", "iris.train.csv", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    assert (here / "iris.test.csv.openings.jsonl").read_text() == ""
    dev = run("predict", "m.skops", "iris.dev.csv", "--score", "-o", "p.csv")
    assert "sealed" not in dev.stderr
    first = run("predict", "m.skops", "iris.test.csv", "--score", "-o", "p.csv")
    assert "; this evaluation is recorded in iris.test.csv.openings.jsonl" in first.stderr
    assert "Warning" not in first.stderr
    second = run("predict", "m.skops", "iris.test.csv", "--score", "-o", "p.csv")
    assert "Warning: This test set of 30 rows was opened before" in second.stderr
    again = done("split", "iris", "--target", "species", "--force")
    assert "(2 so far)" in again


def test_split_says_when_there_is_little_to_split(here):
    read_table("iris").frame.gather_every(11).write_csv("few.csv")
    result = run("split", "few.csv")
    assert result.exit_code == 0, result.output
    assert "few.csv has only 14 rows; a score on 3 test rows is very uncertain" in result.stderr
    assert not run("split", "iris").stderr


def test_split_refuses(here):
    done("split", "iris")
    assert "iris.train.csv exists; use --force to overwrite it." in refused("split", "iris")
    assert "not both" in refused("split", "iris", "--group", "species", "--time", "species")
    assert "no column 'specis'" in refused("split", "wine", "--target", "specis")
    assert "no column 'day'" in refused("split", "wine", "--time", "day")
    assert not [name for name in os.listdir(here) if name.startswith("wine")]


def test_the_ledger_of_a_comparison_seals_no_whole_table(here):
    read_table("iris").frame.write_csv("iris.csv")
    (here / "iris.csv.openings.jsonl").write_text("")
    done("fit", "iris.csv", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    result = run("predict", "m.skops", "iris.csv", "--score", "-o", "p.csv")
    assert "sealed" not in result.stderr
    assert (here / "iris.csv.openings.jsonl").read_text() == ""


def test_a_table_without_names_of_columns(here):
    read_table("iris").frame.write_csv("iris.csv", include_header=False)
    words = ("iris.csv", "--no-header")
    *_, petal_length, _, species = read_table("iris.csv", header=False).frame.columns
    done("fit", *words, "--target", species, "--model", "GaussianNB", "-o", "m.skops")
    assert done("predict", "m.skops", *words).count("setosa") == 50
    assert f"{petal_length} = 1.4" in done("explain", "m.skops", *words, "--row", 0)
    done("certify", "m.skops", *words)
    done("split", *words, "--target", species)
    assert len(read_table("iris.test.csv")) == 30


# models


def test_models_lists_them_and_says_more_of_one():
    assert "Gaussian naive Bayes (GaussianNB)" in done("models")
    assert "C=1.0" in done("models", "LogisticRegression")
    assert "Did you mean" in refused("models", "lasssso")
    sentence = refused("models", "logistic")
    assert "Did you mean logistic regression or LogisticRegressionCV?" in sentence
    assert "such as logistic regression" in refused("models", "nosuch")


def test_models_go_to_a_file_and_with_verbose_with_all_their_parameters(here):
    assert "n_neighbors=5" not in done("models")
    assert "n_neighbors=5" in done("models", "--verbose")
    assert done("models", "Ridge", "--out", "ridge.txt") == ""
    assert "alpha=1.0" in (here / "ridge.txt").read_text()


# real tables, as users have them


@pytest.mark.parametrize("name", ["mixed naive Bayes", "linear discriminant analysis"])
def test_a_real_table_from_fit_to_score(data_folder, here, name):
    adult = data_folder / "adult"
    done("fit", adult / "adult_train.csv.gz", "--target", "income", "--model", name,
         "--no-certificate", "-o", "adult.skops")  # fmt: skip
    result = run("predict", "adult.skops", adult / "adult_test.csv.gz", "--score", "-o", "p.csv")
    assert result.exit_code == 0, result.output
    assert len(pl.read_csv("p.csv")) == 16_281
    assert float(re.search(r"accuracy (\S+) on", result.stderr)[1]) > 0.8


def test_a_real_table_without_names_of_columns(data_folder, here):
    a9a = sorted((data_folder / "a9a").glob("a9a*"))
    done("fit", a9a[0], "--format", "libsvm", "--target", "target", "--model", "BernoulliNB",
         "-o", "a9a.skops")  # fmt: skip
    text = done("predict", "a9a.skops", a9a[-1], "--format", "libsvm")
    assert set(text.split()) == {"prediction", "-1", "1"}


def test_compare_keeps_the_chosen_model_and_checks_places_first(here):
    assert "does not exist" in refused(
        "compare", "iris", "--target", "species", "--save", "no/best.skops"
    )
    done("compare", "wine", "--target", "cultivar", *QUICK, "--seed", 5, "--save", "best.skops")
    assert load_model("best.skops").seed == 5
    assert done("predict", "best.skops", "wine").count("class_") == 178


def test_compare_does_not_write_over_its_table_and_takes_names_as_they_are(tmp_path):
    table = tmp_path / "a[b].csv"
    rows = "\n".join(f"{i % 7},{(i * 37) % 11},{'u' if i % 3 else 'v [/x]'}" for i in range(60))
    table.write_text(f"x[/b],y,z\n{rows}\n")
    before = table.read_text()
    done = run("compare", str(table), "--target", "z", "--out", str(table))
    assert done.exit_code == 2
    assert table.read_text() == before
    out = tmp_path / "report.html"
    done = run("compare", str(table), "--target", "z", *QUICK, "--out", str(out))
    assert done.exit_code == 0
    assert "a[b].csv" in done.output
    assert out.exists()


def test_no_command_writes_over_what_it_reads(here, model, table):
    for file in (model, table):
        (here / file.name).write_bytes(file.read_bytes())
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    (here / "link.csv").symlink_to("people.csv")
    fit = ("people.csv", "--target", "how", "--model", "GaussianNB")
    for words in (
        ("fit", *fit, "-o", "people.csv"),
        ("trace", "people.csv", "--target", "how", "--model", "perceptron", "-o", "people.csv"),
        ("predict", "people.skops", "people.csv", "-o", "people.csv"),
        ("predict", "people.skops", "people.csv", "-o", "people.skops"),
        ("compare", "link.csv", "--target", "how", "--out", "people.csv"),
        ("compare", "people.csv", "--target", "how", "--out", "r.html", "--save", "r.html"),
    ):
        assert "would be overwritten" in refused(*words)
    assert {name: (here / name).read_bytes() for name in before} == before


def test_names_give_the_terminal_no_orders(here):
    odd = "y\x1b]0;owned\x07"
    pl.DataFrame({"x": range(40), odd: ["a", "b"] * 20}).write_csv("t.csv")
    said = refused("compare", "t.csv", "--target", "z")
    assert "\\x1b" in said
    assert "\x1b" not in said
    assert "\x1b" not in done("compare", "t.csv", "--target", odd, *QUICK)
    assert "\x1b" not in Path("report.html").read_text()


@pytest.mark.parametrize("index", ["999999999999", "2000000000"])
def test_numbers_of_features_beyond_all_memory_are_refused(here, index):
    Path("t.libsvm").write_text(f"1 1:2\n-1 {index}:3\n" * 20)
    assert "t.libsvm" in refused("compare", "t.libsvm", "--target", "target")


def test_compare_says_the_kinds_of_columns_and_what_was_left_out(here):
    rows = "\n".join(f"{i},{i % 7}.5,{'ab'[i % 3 > 0]},{'u' if i % 2 else 'v'}" for i in range(60))
    Path("a.csv").write_text(f"id,size,town,z\n{rows}\n")
    said = " ".join(done("compare", "a.csv", "--target", "z", *QUICK).split())
    assert "Columns not used: id (identifier: every row has" in said
    assert said.index("Report: report.html") < said.index("┏")  # the answer stands first
    said = done("compare", "a.csv", "--target", "z", "--groups", "size", "--families", "logreg,nb")
    said = " ".join(said.split())
    assert "not used: size (groups: keeps rows together, and is no feature), id" in said
    assert "logistic regression" in said
    assert "Gaussian naive Bayes" in said
    assert "keeps rows together, and is no feature" in Path("report.html").read_text()


def test_certify_says_what_it_lacks_to_find_rows_that_were_split_by_given_groups(here):
    frame = read_table("iris").frame
    frame.write_csv("t.csv")
    groups = np.arange(150) // 5
    found = compare("t.csv", "species", groups=groups, families=["Gaussian naive Bayes"])
    found.save("m.skops")
    said = run("certify", "m.skops", "t.csv").stderr
    assert "split by column 'groups', which t.csv lacks: add this column" in said
    frame.with_columns(groups=pl.Series(groups)).write_csv("t.csv")
    result = run("certify", "m.skops", "t.csv")
    assert result.exit_code == 0, result.output
    assert "of these 150 rows" in result.stderr


def test_scores_on_rows_that_the_model_was_fitted_to_say_so(here):
    done("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "all.skops")
    own = run("predict", "all.skops", "iris", "--score", "-o", "p.csv").stderr
    assert "on 150 rows of iris (the training rows: this score is too optimistic)" in own
    compare_iris = ("compare", "iris", "--target", "species", *QUICK)
    done(*compare_iris, "--save", "some.skops", "--ledger", "o.jsonl")
    own = run("predict", "some.skops", "iris", "--score", "-o", "p.csv").stderr
    assert "on 150 rows of iris (120 of them training rows: " in own


def test_fit_names_the_columns_that_nothing_is_learned_from(here):
    lines = ["id,x,y", *(f"r{i},{i % 7},{'ab'[i % 7 > 3]}" for i in range(40))]
    (here / "t.csv").write_text("\n".join(lines))
    said = run("fit", "t.csv", "--target", "y", "--model", "GaussianNB", "-o", "m.skops").stderr
    assert "Columns not used by Gaussian naive Bayes: id." in said


def test_models_is_another_word_for_families(here):
    done("compare", "iris", "--target", "species", "--models", "GaussianNB", "--ledger", "o.jsonl")
    assert "Gaussian naive Bayes" in (here / "report.html").read_text()


def test_options_that_people_try_work_in_every_command(here):
    """The target by another name, several settings in one word, a file for what is printed."""
    iris = read_table("iris").frame
    iris.rename({"species": "kind"}).write_csv("t.csv")
    done("fit", "iris", "-t", "species", "-m", "LogisticRegression", "--set", "C=10,max_iter=500",
         "-o", "m.skops", "-v")  # fmt: skip
    assert "setosa (correct)" in done("explain", "m.skops", "t.csv", "-t", "kind")
    scored = run("predict", "m.skops", "t.csv", "-t", "kind", "--score", "-o", "p.csv", "-v")
    assert scored.stderr.splitlines()[-1].startswith("accuracy 0.9")
    assert done("certify", "m.skops", "t.csv", "-t", "kind", "-o", "proof.txt") == ""
    assert "LogisticRegression" in Path("proof.txt").read_text()
    assert "t.csv has no column 'kin'" in refused("explain", "m.skops", "t.csv", "-t", "kin")


def test_one_label_of_two_may_be_named(here):
    rows = "\n".join(f"{i % 9},{'Yes' if i % 9 > 5 else 'no'}" for i in range(90))
    Path("t.csv").write_text(f"a,won\n{rows}\n7,yes\n8,yes\n8,yes\n8,yes\n")
    words = ("compare", "t.csv", "-t", "won", "--families", "GaussianNB", "--metric", "f1")
    assert "--positive" in refused(*words, "--clean-labels")
    assert "'Yes' = 'yes'" in done(*words[:-2])
    said = " ".join(done(*words, "--clean-labels", "--positive", "Yes").split())
    assert "were merged: 'Yes' = 'yes'" in said
    assert "f1 of Yes" in said
    assert "Did you mean Yes" in refused(*words, "--clean-labels", "--positive", "yess")


@pytest.mark.parametrize(
    ("name", "here_called"), [("CatBoost", "gradient boosting"), ("linear model", "least")]
)
def test_names_of_other_libraries_get_the_name_of_here(name, here_called):
    words = ("fit", "iris", "-t", "species", "-m", name, "-o", "m.skops")
    assert f"Did you mean {here_called}" in refused(*words)
    assert f"Did you mean {here_called}" in refused("compare", "iris", "-t", "species",
                                                    "--families", name)  # fmt: skip


def test_a_rule_is_printed_when_it_is_fitted_and_explained_row_by_row(here):
    (here / "t.csv").write_text("age,town,bought\n" + "20,Rome,no\n50,Rome,yes\n50,Oslo,no\n" * 9)
    fitted = done("fit", "t.csv", "-t", "bought", "--model", "ConjunctionClassifier", "-o", "m")
    assert "Rule: yes if age > 35 and not town = Oslo, else no\n" in fitted
    told = done("explain", "m", "t.csv", "--row", 1)
    assert "rule: yes if age > 35 and not town = Oslo, else no" in told
    assert "the rule fires: 2 of 2 tests hold, 2 needed" in told
    assert "does not fire" in done("explain", "m", "t.csv", "--row", 0)
    done("fit", "t.csv", "-t", "bought", "--model", "decision tree", "-o", "tree")
    assert "because\n" in done("explain", "tree", "t.csv")

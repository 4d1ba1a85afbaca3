"""Time is shared among families, and Ctrl-C leaves an answer whenever it is pressed."""

import json
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_info

import rosenblatt
from rosenblatt.data import read_table
from rosenblatt.runtime import deadline
from rosenblatt.runtime.deadline import OutOfTime
from rosenblatt.workbench import conclusions, schedule, search
from rosenblatt.workbench.clock import Clock
from rosenblatt.workbench.contestants import contestant
from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.fitting import learned_rows
from rosenblatt.workbench.problem import problem_of

QUICK = ["logistic regression", "Gaussian naive Bayes", "least squares classifier"]


@pytest.fixture
def openings(tmp_path):
    return tmp_path / "openings.jsonl"


@pytest.fixture
def folded():
    return search.FoldedProblem(problem_of(read_table("iris"), "species"), "accuracy")


def named(*names):
    known = {family.name: family for family in FAMILIES}
    return [known[name] for name in names]


def test_models_of_sums_come_first_and_the_order_of_families_is_kept(folded):
    tried = []
    found, dropped = schedule.search_families(
        folded, named(*QUICK), Clock(None), lambda found, name, clock: tried.append(name)
    )
    assert tried[:3] == [QUICK[1], QUICK[2], QUICK[0]]
    assert [family.name for family, _ in found] == QUICK
    assert not dropped


def test_one_family_does_not_eat_the_time_of_those_after_it(folded, monkeypatch):
    def slow(folded, family):
        while family.name == QUICK[1]:  # the first to be tried
            deadline.check()
            time.sleep(0.01)
        return candidates(folded, family)

    candidates = search.FoldedProblem.candidates
    schedule.search_families(folded, named(*QUICK), Clock(None), None)  # compiles
    monkeypatch.setattr(search.FoldedProblem, "candidates", slow)
    clock = Clock(6.0)
    found, [late] = schedule.search_families(folded, named(*QUICK), clock, None)
    assert {family.name for family, _ in found} == {QUICK[0], QUICK[2]}
    assert late.family == QUICK[1]
    assert "took more than its share of the time" in late.reason
    assert clock.stopped == "budget"


def test_settings_are_given_up_when_folds_would_take_too_long(folded):
    [family] = named("logistic regression")
    folded.end = time.perf_counter()
    entry = contestant(folded, family, folded.candidates(family))
    [candidate] = entry.candidates
    assert len(candidate.scores) == len(folded.folds)
    assert entry.note == "5 of 6 settings were tried on one fold alone, for want of time"
    folded.end = np.inf
    every = {c.parameters["C"]: c.scores for c in folded.candidates(family)}
    np.testing.assert_array_equal(candidate.scores, every[candidate.parameters["C"]])


def test_without_the_time_to_retrain_the_model_of_the_training_part_is_tested(
    openings, monkeypatch
):
    def slow(problem, family, *rest):
        while family.takes != "rows":
            deadline.check()
            time.sleep(0.01)
        return fitted_to(problem, family, *rest)

    fitted_to = conclusions.fitted_to
    monkeypatch.setattr(conclusions, "fitted_to", slow)
    found = rosenblatt.compare(
        "iris", target="species", budget=6, ledger=openings, families=QUICK[1:2]
    )
    assert found.findings.protocol.stopped == "budget"
    assert not found.findings.retrained
    assert "no time to fit the chosen model" in " ".join(found.findings.notes)
    assert found.findings.opening.score > 0.8
    assert found._saved.n_rows == found.findings.protocol.n_train


def test_the_best_model_of_the_training_part_is_kept(folded):
    found, _ = schedule.search_families(folded, named(*QUICK), Clock(None), None)
    best = max(found, key=lambda pair: pair[1].mean)
    assert folded.fitted(best[0]) is not None
    assert sum(folded.fitted(family) is not None for family, _ in found) == 1


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_within_a_budget_blas_has_one_thread(openings):
    """Several, on a busy machine, waited for each other long after the time was over."""
    before, seen = blas_threads(), []
    for budget in (None, 60):
        rosenblatt.compare(
            "iris", target="species", budget=budget, ledger=openings, families=QUICK[1:2],
            progress=lambda *_: seen.append(blas_threads()),
        )  # fmt: skip
    assert seen == [before, before, [1] * len(before), [1] * len(before)]
    assert blas_threads() == before


def too_slow_for(most, monkeypatch):
    """A search that comes to no end with more rows."""

    def slow(folded, family):
        while len(folded.y) > most and family.takes != "rows":
            deadline.check()
            time.sleep(0.01)
        return candidates(folded, family)

    candidates, shares = search.FoldedProblem.candidates, iter([0.2])
    monkeypatch.setattr(search.FoldedProblem, "candidates", slow)
    monkeypatch.setattr(schedule, "share", lambda *_: next(shares, 60.0))


def test_without_the_time_for_all_rows_there_is_an_answer_from_some(openings, monkeypatch):
    too_slow_for(500, monkeypatch)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    y[:10] = "odd"  # a rare class stays
    found = rosenblatt.compare(X, y, budget=300, ledger=openings, families=QUICK[1:2])
    findings = found.findings
    assert not findings.nothing_fitted
    assert findings.protocol.n_train == 451  # an eighth of each class
    assert len(findings.baseline.scores) == len(findings.contestants[0].scores) == 5
    assert findings.retrained
    said = "no time for all 3,600 training and 1,200 development rows: 451 and 152 of them"
    assert said in " ".join(findings.notes)
    assert findings.opening.score > 0.8
    # What the table has and what was used of it are told apart.
    page = " ".join(found.report(openings.parent / "page.html").read_text().split())
    n_used = findings.protocol.n_used
    assert f"Classification, {n_used:,} of 6,000 rows" in page
    seen = "For want of time the search saw 451 of 3,600 training rows (12.5%)"
    assert f"{seen}. A longer search may find a better model." in page
    assert f"{seen}; the chosen model was fitted to {findings.protocol.n_fitted:,} rows." in page
    assert findings.protocol.n_fitted == 4_800  # all but those to test on


@pytest.mark.parametrize("expected", ["soon", "too long", "runs out"])
def test_the_chosen_model_of_some_rows_is_fitted_to_all_if_there_is_time_left(
    expected, openings, monkeypatch
):
    too_slow_for(500, monkeypatch)
    sizes = []

    def fit(problem, family, parameters, rows, before=None):
        sizes.append(len(rows)) if family.takes != "rows" else None
        if expected == "runs out" and len(rows) == 4_800 and family.takes != "rows":
            raise OutOfTime
        return fitted_to(problem, family, parameters, rows, before)

    fitted_to = conclusions.fitted_to
    monkeypatch.setattr(conclusions, "fitted_to", fit)
    if expected == "too long":
        monkeypatch.setattr(conclusions, "PATIENCE", 1e9)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    found = rosenblatt.compare(X, y, budget=300, ledger=openings, families=QUICK[1:2])
    said = "the chosen model was fitted again to all 4,800 of them"
    verdicts = " ".join(found.findings.notes)
    assert "no time for all 3,600 training and 1,200 development rows" in verdicts
    assert (said in verdicts) == (expected == "soon")
    assert sizes == ([602] if expected == "too long" else [602, 4_800])
    assert found._saved.n_rows == (4_800 if expected == "soon" else 602)
    assert sum(found.best[-1].class_count_) == found._saved.n_rows
    assert found.findings.opening.score > 0.8


def test_rows_are_taken_away_until_there_is_time_and_no_further(monkeypatch):
    too_slow_for(10, monkeypatch)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=20_000), "y": rng.normal(size=20_000)})
    folded = search.FoldedProblem(problem_of(read_table(frame), "y"), "r2")
    monkeypatch.setattr(schedule, "share", lambda *_: 0.05)
    monkeypatch.setattr(schedule, "FEWEST_SECONDS", 0.01)
    found, [late, _] = schedule.search_families(
        folded, named("least squares", "ridge regression"), Clock(100.0), None
    )
    assert not found
    assert "took more than its share" in late.reason
    assert len(folded.y) == 188  # of an eighth of them one would learn little


def test_all_rows_are_given_up_as_soon_as_they_would_take_too_long(monkeypatch):
    frame = pl.DataFrame({"x": np.arange(4_000.0), "y": np.arange(4_000.0) % 7})
    folded = search.FoldedProblem(problem_of(read_table(frame), "y", task="regression"), "r2")
    monkeypatch.setattr(folded, "_together", lambda family: None)
    folds = []

    def counted(family, settings, fold, *places):
        folds.append(fold)
        return search_fold(family, settings, fold, *places)

    search_fold = folded._search_fold
    monkeypatch.setattr(folded, "_search_fold", counted)
    least_squares, ridge = named("least squares", "ridge regression")
    folded.end = time.perf_counter()
    with pytest.raises(OutOfTime):  # there is one setting, and no answer yet
        folded.candidates(least_squares)
    assert folds == [0]
    with pytest.raises(OutOfTime):  # one setting is left after the first fold
        folded.candidates(ridge)
    assert folds == [0, 0, 1]
    folded.end = np.inf
    contestant(folded, ridge, folded.candidates(ridge))
    folded.end = time.perf_counter()
    assert len(folded.candidates(least_squares)[0].scores) == 5  # there is one


def test_a_model_of_some_rows_finds_them_again(openings, monkeypatch, tmp_path):
    too_slow_for(500, monkeypatch)
    monkeypatch.setattr(conclusions, "PATIENCE", 1e9)  # too long for all rows
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=6_000), "day": np.arange(6_000) // 7})
    frame = frame.with_columns(y=pl.col("x") * 2.0 + rng.normal(size=6_000))
    found = rosenblatt.compare(
        frame, target="y", time="day", budget=300, ledger=openings, families=["least squares"]
    )
    _, y = learned_rows(found._saved, read_table(frame))
    assert len(y) == found._saved.n_rows < 3_000


MOMENTS = {
    "hints": ("comparison", "hints_of"),
    "the search": ("schedule", "contestant"),
    "retraining": ("conclusions", "fitted_to"),
    "the opening": ("conclusions", "open_test"),
    "the learning curve": ("contestants", "fitted_with_features"),
    "the certificate": ("conclusions", "proof_of"),
}
PROGRAM = """
    import json, sys, time
    import rosenblatt
    import rosenblatt.workbench.{module} as module

    calls, works = [], module.{name}

    def waits(*args, **named):
        calls.append(1)
        if len(calls) <= {times}:
            print("now", flush=True)
            while True:
                time.sleep(0.01)
        return works(*args, **named)

    module.{name} = waits
    found = rosenblatt.compare("iris", target="species", families={families}, ledger={ledger!r})
    findings = found.findings
    print(json.dumps([findings.protocol.stopped, len(findings.contestants),
                      findings.opening is not None, findings.contestants[0].family,
                      findings.retrained]))
"""


def run(moment, openings, times=1):
    module, name = MOMENTS[moment]
    program = textwrap.dedent(PROGRAM).format(
        module=module, name=name, families=QUICK[1:], ledger=str(openings), times=times
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("moment", MOMENTS)
def test_control_c_reports_what_is_there(moment, openings):
    process = run(moment, openings)
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGINT)
    said, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    stopped, n_families, opened, family, retrained = json.loads(said.splitlines()[-1])
    assert stopped == "interrupt"
    searched = moment not in ("hints", "the search")
    assert family in QUICK if searched else "always" in family
    assert n_families == (2 if searched else 1)
    assert opened == (searched and moment != "the opening")
    assert openings.exists() == opened
    assert retrained == (moment != "retraining")


def test_a_second_control_c_ends_it(openings):
    process = run("retraining", openings, 2)
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGINT)
    # The baseline of the opening is fitted next, by the same function.
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in error
    assert not openings.exists()


def test_folds_read_together_score_as_folds_read_one_by_one(monkeypatch):
    rng = np.random.default_rng(0)
    n = 400
    town, age = rng.choice(["Rome", "Oslo"], n), rng.normal(50, 10, n)
    frame = pl.DataFrame(
        {"age": age, "size": rng.normal(1e4, 1.0, n), "town": town, "same": np.ones(n)}
    ).with_columns(y=pl.Series(np.where(age + 20 * (town == "Rome") > 60, "u", "v")))
    problem = problem_of(read_table(frame), "y", kinds={"same": "numeric"})
    together, apart = (
        search.FoldedProblem(problem, "accuracy"),
        search.FoldedProblem(problem, "accuracy"),
    )
    monkeypatch.setattr(apart, "_together", lambda family: None)
    families = named("Gaussian naive Bayes", "linear discriminant analysis", QUICK[2])
    for family in families:
        assert together._together(family) is not None
        for one, other in zip(together.candidates(family), apart.candidates(family), strict=True):
            np.testing.assert_allclose(one.scores, other.scores)
    [logistic] = named(QUICK[0])  # which does not learn by sums
    assert together._together(logistic) is None


def test_more_columns_than_rows_are_read_fold_by_fold():
    """Five thousand columns of few rows: their products took longer than any budget."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(60, 50)), schema=[f"x{j}" for j in range(50)])
    [ridge] = named("ridge regression")
    for width, together in ((50, False), (20, True)):
        some = frame[:, :width].with_columns(y=frame["x0"] * 2)
        folded = search.FoldedProblem(problem_of(read_table(some), "y"), "r2")
        assert len(folded.y) == 36
        assert (folded._together(ridge) is not None) == together


def test_folds_that_differ_by_more_than_a_scale_are_read_one_by_one():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"age": rng.normal(size=200), "town": ["Rome", "Oslo"] * 100})
    frame = frame.with_columns(y=pl.Series(rng.normal(size=200)))
    problem = problem_of(read_table(frame), "y")
    row = int(problem.train[0])
    age, town = frame["age"].to_list(), frame["town"].to_list()
    age[row], town[row] = None, "Bonn"  # a number that is missing, a category met once
    for column in (pl.Series("age", age), pl.Series("town", town)):
        other = problem_of(read_table(frame.with_columns(column)), "y")
        [ridge] = named("ridge regression")
        assert search.FoldedProblem(problem, "r2")._together(ridge) is not None
        assert search.FoldedProblem(other, "r2")._together(ridge) is None


def test_of_texts_models_of_counts_come_first():
    words = ["good red apple", "bad green pear", "good green apple", "bad red pear"] * 20
    text = [f"{some} number{i} word{i % 7} of many" for i, some in enumerate(words)]
    frame = pl.DataFrame({"text": text, "y": [some.split()[0] for some in words]})
    problem = problem_of(read_table(frame), "y", kinds={"text": "text"})
    tried = []
    families = named("Gaussian naive Bayes", "logistic regression", "multinomial naive Bayes")
    schedule.search_families(
        search.FoldedProblem(problem, "accuracy"), families, Clock(None),
        lambda found, trying, clock: tried.append(trying),
    )  # fmt: skip
    assert tried[:3] == ["multinomial naive Bayes", "Gaussian naive Bayes", "logistic regression"]


def test_what_chooses_columns_comes_first_where_there_are_more_of_them_than_rows():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(60, 50)), schema=[f"x{j}" for j in range(50)])
    families = named("ridge regression", "lasso")
    for width, first in ((50, "lasso"), (20, "ridge regression")):
        some, tried = frame[:, :width].with_columns(y=frame["x0"] * 2), []
        schedule.search_families(
            search.FoldedProblem(problem_of(read_table(some), "y"), "r2"), families, Clock(None),
            lambda found, trying, clock, tried=tried: tried.append(trying),
        )  # fmt: skip
        assert tried[0] == first


@pytest.mark.parametrize("succeeds", [True, False])
def test_time_that_is_left_goes_to_a_family_that_was_cut_off(folded, monkeypatch, succeeds):
    tries = []

    def slow(folded, family):
        if family.name == "nearest neighbors":
            tries.append(folded.end - time.perf_counter())
            while len(tries) == 1 or not succeeds:
                deadline.check()
                time.sleep(0.01)
        return candidates(folded, family)

    candidates = search.FoldedProblem.candidates
    names = [QUICK[1], "nearest neighbors", QUICK[0]]
    schedule.search_families(folded, named(*names), Clock(None), None)  # compiles
    monkeypatch.setattr(search.FoldedProblem, "candidates", slow)
    shares = iter([5.0, 0.3, 5.0])
    monkeypatch.setattr(schedule, "share", lambda *_: next(shares, 1.0))
    clock = Clock(60.0)
    found, dropped = schedule.search_families(folded, named(*names), clock, None)
    assert len(tries) == 2
    assert tries[0] < tries[1]
    if succeeds:
        assert [family.name for family, _ in found] == names
        assert not dropped
    else:
        assert [drop.family for drop in dropped] == ["nearest neighbors"]
    assert clock.stopped == ("" if succeeds else "budget")


def test_planes_of_many_texts_take_turns_by_their_price_and_sort_settings_out_on_few_rows(
    monkeypatch,
):
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(200)])
    texts = [" ".join(rng.choice(words, 12)) for _ in range(90)]
    table = pl.DataFrame({"text": texts, "y": [f"c{i % 3}" for i in range(90)]})
    folded = search.FoldedProblem(problem_of(read_table(table), "y"), "accuracy")
    assert "text" in folded.problem.used.values()
    planes = ["averaged perceptron", "linear support vector machine"]
    planes += ["perceptron", "logistic regression"]
    families = named(*reversed(planes), "multinomial naive Bayes")
    queue = schedule.in_turn(folded, families)
    assert [family.name for family in queue] == ["multinomial naive Bayes", *planes]

    def halved():
        return [schedule.with_few_rows_first(folded, family).halve for family in queue]

    assert halved() == [""] * 5
    monkeypatch.setattr(schedule, "MANY_TEXTS", 100)
    assert halved() == ["", "", "rows", "", "rows"]

"""The saved page, without a browser: what it holds, how much of it, and how it is written."""

import json
import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import Perceptron, Trace
from rosenblatt.trace import page_data
from rosenblatt.trace.run import sampled, strided


def data_of(path):
    text = path.read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found)


@pytest.fixture
def save(tmp_path):
    def write(trace, **options):
        trace.save(tmp_path / "run.html", **options)
        return tmp_path / "run.html"

    return write


def test_a_page_stands_alone(watch, save):
    text = save(watch()[0]).read_text(encoding="utf-8")
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in text
    assert not re.search(r'\b(src|href)="(?!data:)', text)
    assert '<link rel="icon" href="data:,">' in text


def test_a_page_holds_the_exact_numbers(watch, save):
    trace, _ = watch()
    data = data_of(save(trace))
    assert len(data["steps"]) == len(trace)
    for step in data["steps"]:
        state, model = data["states"][step["state"]], trace[step["step"]].estimator
        assert state["coef"] == model.coef_.tolist()
        assert state["intercept"] == model.intercept_.tolist()


def test_right_visits_share_a_state(watch, save):
    trace, model = watch("visit")
    data = data_of(save(trace))
    assert len(data["states"]) == 1 + model.n_updates_


def test_hollow_points_are_those_predicted_wrongly(watch, save, five):
    # With boundary="positive" the last model passes exactly through a point, and is right there.
    trace, model = watch(boundary="positive")
    data = data_of(save(trace))
    assert model.score(*five) == 1
    assert data["states"][data["steps"][-1]["state"]]["wrong"] == "00"
    wrong = trace[1].estimator.predict(five[0]) != five[1]
    assert data["states"][data["steps"][1]["state"]]["wrong"] == np.packbits(wrong).tobytes().hex()


def test_labels_cannot_break_out_of_the_page(save):
    trace = Trace()
    y = ["</script><script>alert(1)</script>", "<!--"]
    Perceptron(tol=None).set_callbacks(trace).fit([[0.0, 0.0], [1.0, 1.0]], y)
    path = save(trace)
    assert data_of(path)["classes"] == sorted(y)
    assert "alert(1)</script>" not in path.read_text(encoding="utf-8")


def test_many_steps_and_points_are_thinned_and_stay_below_5_mb(save):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) + 1 / 3
    y = rng.integers(2, size=3000)
    trace = Trace("visit")
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=2, tol=None).set_callbacks(trace).fit(X, y)
    path = save(trace)
    data = data_of(path)
    assert path.stat().st_size < 5_000_000
    assert data["n_steps"] == len(trace) == 6001
    assert len(data["steps"]) == 2000
    assert [data["steps"][0]["step"], data["steps"][-1]["step"]] == [0, 6000]
    assert data["points"]["sampled"] == 2000
    assert {step.get("row") for step in data["steps"][1:]} <= set(data["points"]["row"])


def test_a_wide_model_of_many_classes_stays_below_5_mb(save):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 300)), np.arange(300) % 60
    trace = Trace("visit")
    Perceptron(tol=None).set_callbacks(trace).fit(X, y)
    path = save(trace)
    data = data_of(path)
    assert 4_000_000 < path.stat().st_size < 5_000_000
    assert len(data["steps"]) < len(trace) == data["n_steps"]
    assert data["steps"][-1]["step"] == len(trace) - 1


def test_thinning_keeps_the_ends_and_repeats_itself():
    assert strided(5, 5) == [0, 1, 2, 3, 4]
    assert strided(10_000, 2000)[:2] == [0, 5]
    assert strided(10_000, 2000)[-1] == 9_999
    assert len(set(strided(10_000, 2000))) == 2000
    assert sampled(9, 3) == sampled(9, 3)
    assert len(set(sampled(10_000, 2000))) == 2000


def test_what_json_cannot_say_becomes_null(save, five):
    trace = Trace()
    Perceptron(tol=None, shuffle=False).set_callbacks(trace).fit(*five)
    trace[-1].estimator.coef_[:] = np.inf
    data = data_of(save(trace))
    assert data["states"][-1]["coef"] == [[None, None]]


def test_a_page_is_written_whole_or_not_at_all(watch, save, monkeypatch, tmp_path):
    path = save(watch()[0])
    before = path.read_bytes()
    monkeypatch.setattr(page_data, "payload_of", lambda *_: {"x": object()})
    with pytest.raises(TypeError):
        save(watch()[0])
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]


def test_another_run_can_be_saved(five, save):
    trace = Trace()
    model = Perceptron(shuffle=False, tol=None).set_callbacks(trace)
    model.fit(*five).fit(five[0][:2], five[1][:2])
    assert data_of(save(trace, run="Perceptron"))["n_steps"] == len(trace.steps("Perceptron"))


def test_a_missing_folder_is_named(watch, tmp_path):
    said = f"There is no folder {str(tmp_path / 'gone')!r} to save the page in."
    with pytest.raises(FileNotFoundError, match=re.escape(said)):
        watch(max_iter=1)[0].save(tmp_path / "gone" / "run.html")


def test_a_tilde_is_the_home_of_the_user(watch, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    watch(max_iter=1)[0].save("~/run.html")
    assert (tmp_path / "run.html").exists()


def test_a_link_stays_a_link_and_a_file_keeps_its_mode(watch, tmp_path):
    target, link = tmp_path / "real.html", tmp_path / "link.html"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(target)
    watch(max_iter=1)[0].save(link)
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_huge_label_does_not_make_a_huge_page(save):
    trace = Trace()
    Perceptron().set_callbacks(trace).fit([[0.0, 0.0], [1.0, 1.0]], ["a" * 6_000_000, "b"])
    path = save(trace)
    assert path.stat().st_size < 100_000
    assert data_of(path)["classes"] == ["a" * 79 + "\u2026", "b"]


def test_names_of_features_can_be_given(watch, save):
    trace, _ = watch()
    assert data_of(save(trace, feature_names=["length", "width"]))["features"] == [
        "length",
        "width",
    ]
    said = r"feature_names must have 2 names, one per column of X; got 1\."
    with pytest.raises(ValueError, match=said):
        save(trace, feature_names=["length"])


def test_points_on_the_line_that_are_still_a_mistake_are_told_apart(watch, save, five):
    # Step 1 is [-1, 1, -1]: a score of 0 for the second point, a "+", which counts as wrong.
    trace, _ = watch()
    data = data_of(save(trace))
    told = 0
    for step in data["steps"]:
        state, model = data["states"][step["state"]], trace[step["step"]].estimator
        tied = (model.decision_function(five[0]) == 0) & (five[1] == -1)
        told += tied.any()
        expected = np.packbits(tied).tobytes().hex() if tied.any() else None
        assert state.get("tied") == expected
    assert told > 0
    assert not any("tied" in s for s in data_of(save(watch(boundary="negative")[0]))["states"])


def test_one_feature_is_drawn_on_a_line(save):
    trace = Trace("update")
    Perceptron(tol=None).set_callbacks(trace).fit([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    data = data_of(save(trace))
    assert data["points"]["at"] == [[0, 0], [1, 0], [3, 0]]
    assert data["states"][-1]["wrong"] == "00"

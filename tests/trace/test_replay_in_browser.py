"""The saved page as a reader meets it: opened from disk in Chromium, with the network off."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import Perceptron, Trace
from tests.browser import Browser
from tests.trace.replay import read, slide

pytestmark = pytest.mark.browser


def agrees(browser, trace, k):
    """Whether the page shows step k as the trace has it, digit for digit."""
    frame = trace.to_frame(trace.runs[-1])
    assert read(browser, "step") == k
    assert read(browser, "coef") == trace[k].estimator.coef_.tolist()
    assert read(browser, "intercept") == trace[k].estimator.intercept_.tolist()
    assert read(browser, "error") == frame.error[k]
    assert read(browser, "objective") == frame.objective[k]
    assert read(browser, "n_updates") == trace[k].n_updates
    return True


def test_the_page_shows_the_exact_numbers_of_every_step(watch, show):
    trace, model = watch()
    page = show(trace)
    for k in (0, 1, 57, model.n_iter_):
        slide(page, k)
        assert agrees(page, trace, k)


def test_the_address_leads_to_a_step(watch, show):
    trace, _ = watch()
    page = show(trace, "#step=3")
    assert agrees(page, trace, 3)
    page.run("location.hash = '#step=8'")
    page.wait("rosenblatt.model.get('step') === 8")
    assert agrees(page, trace, 8)
    page.press("ArrowRight")
    page.wait("location.hash === '#step=9'")


def test_the_keyboard_steps_plays_and_jumps(watch, show):
    trace, model = watch("visit")
    page = show(trace, "#step=0")
    page.press("ArrowRight")
    page.press("ArrowRight")
    assert agrees(page, trace, 2)
    assert (read(page, "row"), read(page, "score"), read(page, "right")) == (1, -1, False)
    page.press("ArrowLeft")
    assert agrees(page, trace, 1)
    page.press("End")
    assert agrees(page, trace, 5 * model.n_iter_)
    page.press("Home")
    assert agrees(page, trace, 0)
    page.press(" ")
    page.wait("rosenblatt.model.get('step') >= 3")
    assert page.run("rosenblatt.model.get('playing')") is True
    page.press(" ")
    assert page.run("rosenblatt.model.get('playing')") is False
    assert agrees(page, trace, read(page, "step"))


def test_the_slider_has_the_focus_and_obeys_the_keys_once(watch, show):
    trace, _ = watch()
    page = show(trace, "#step=0")
    page.run("document.querySelector('input').focus()")
    page.press("ArrowRight")
    assert agrees(page, trace, 1)
    spoken = page.run("document.querySelector('input').getAttribute('aria-valuetext')")
    assert spoken.startswith("step 1 of ")


def test_buttons_step_and_play_to_the_end(watch, show):
    trace, _ = watch(max_iter=2)
    page = show(trace, "#step=0")
    page.run("document.querySelector('[data-action=forward]').click()")
    assert agrees(page, trace, 1)
    page.run("document.querySelector('[data-action=back]').click()")
    assert agrees(page, trace, 0)
    page.run("rosenblatt.model.set('speed', 64)")
    page.run("document.querySelector('[data-action=play]').click()")
    page.wait("rosenblatt.model.get('step') === 2 && !rosenblatt.model.get('playing')")


def test_a_page_opens_at_the_end_and_plays_from_the_start(watch, show):
    trace, model = watch()
    page = show(trace)
    assert agrees(page, trace, model.n_iter_)
    page.press(" ")
    page.wait("0 < rosenblatt.model.get('step') && rosenblatt.model.get('step') < 20")
    page.press(" ")


def test_the_mistakes_of_a_pass_are_its_own(watch, show):
    trace, _ = watch()
    page = show(trace, "#step=9")
    frame = trace.to_frame()
    assert (read(page, "mistakes"), read(page, "n_updates")) == (
        frame.mistakes[9], frame.n_updates[9],
    )  # fmt: skip
    label = "document.querySelector('.numbers .{} dt').textContent"
    assert page.run(label.format("mistakes")) == "mistakes"
    assert page.run(label.format("n_updates")) == "so far"
    page = show(watch("visit")[0])
    assert page.run(label.format("n_updates")) == "mistakes so far"
    assert page.run("document.querySelector('.numbers .mistakes')") is None


def test_what_rounding_left_over_is_shown_as_0_and_kept_exact(show, five):
    trace = Trace("visit")
    Perceptron(eta0=0.1, shuffle=False, tol=None).set_callbacks(trace).fit(*five)
    trace[-1].estimator.intercept_[:] = 0.1 + 0.1 + 0.1 - 0.3
    page = show(trace)
    assert read(page, "intercept") == [0.1 + 0.1 + 0.1 - 0.3]
    assert page.run("document.querySelector('[data-quantity=intercept]').textContent") == "0"
    k = next(k for k, s in enumerate(trace) if 0 < np.abs(s.estimator.coef_).min() < 1e-14)
    slide(page, k)
    assert read(page, "coef") == trace[k].estimator.coef_.tolist()
    assert "e" not in page.run("document.querySelector('[data-quantity=coef]').textContent")


def test_a_click_on_a_curve_goes_there(watch, show):
    trace, _ = watch()
    page = show(trace)
    page.wait("Boolean(document.querySelector('.curve'))")
    box = page.run("document.querySelector('.curve').getBoundingClientRect().toJSON()")
    page.click(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    at = read(page, "step")
    assert 0.4 * len(trace) < at < 0.7 * len(trace)
    assert agrees(page, trace, at)


def test_the_boundary_drawn_is_the_models(watch, show):
    trace, model = watch()
    page = show(trace, f"#step={model.n_iter_}")
    page.wait("document.querySelectorAll('.boundary path').length === 1")
    assert page.run("document.querySelectorAll('.marks path').length") == 5
    assert page.run("document.querySelectorAll('.marks path.wrong').length") == 0
    # The line in pixels, put through the places of the points, is where the score is zero.
    numbers = """(d) => d.match(/-?[\\d.]+/g).map(Number)"""
    line = page.run(f"({numbers})(document.querySelector('.boundary path').getAttribute('d'))")
    places = "[...document.querySelectorAll('.marks path')].map((m) => m.getAttribute('transform'))"
    marks = page.run(f"{places}.map({numbers})")
    points = np.array(page.run("rosenblatt.data.points.at"))
    to_data = np.linalg.lstsq(np.c_[marks, np.ones(5)], points, rcond=None)[0]
    ends = np.c_[np.reshape(line, (2, 2)), np.ones(2)] @ to_data
    np.testing.assert_allclose(
        model.decision_function(ends) / np.linalg.norm(model.coef_), 0, atol=1e-3
    )


def test_the_page_says_when_there_is_no_line_and_marks_points_on_it(watch, show):
    trace, _ = watch()
    page = show(trace, "#step=0")
    page.wait("document.querySelector('.lineless')?.textContent === 'w = 0: no line yet'")
    lead = "document.querySelector('header').innerText"  # of what is visible
    assert "all weights are zero, so there is no line, and every point is predicted as “-1”" in (
        page.run(lead)
    )
    assert "The line is where" not in page.run(lead)
    page.press("End")
    assert "Half-filled points are exactly on the line" in page.run(lead)
    assert "Nothing is learnt yet" not in page.run(lead)
    ruler = trace._run(None).ruler
    tied = next(k for k, step in enumerate(trace) if ruler.tied(step.estimator).any())
    slide(page, tied)
    n_tied = ruler.tied(trace[tied].estimator).sum()
    assert page.run("document.querySelectorAll('.marks path.tied').length") == n_tied
    page.run("new Promise((done) => setTimeout(done, 300))")
    assert page.run("document.querySelector('.lineless').textContent") == ""


def test_one_feature_is_replayed_on_a_line(show):
    trace = Trace("update")
    Perceptron(tol=None).set_callbacks(trace).fit([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    page = show(trace, f"#step={len(trace) - 1}")
    page.wait("document.querySelectorAll('.boundary path').length === 1")
    assert page.run("document.querySelectorAll('.marks path').length") == 3


def test_three_classes_and_many_features_are_replayed(show, three_classes):
    X, y = three_classes
    for data in (X, np.hstack([X, X**2, X**3])):
        trace = Trace("update")
        with pytest.warns(ConvergenceWarning):
            Perceptron(max_iter=2, tol=None).set_callbacks(trace).fit(data, y)
        page = show(trace)
        for k in (0, 5, len(trace) - 1):
            slide(page, k)
            assert agrees(page, trace, k)
        page.wait("Boolean(document.querySelector('.region, .bars'))")


def test_a_thinned_page_says_so(show):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2500, 2)), rng.integers(2, size=2500)
    trace = Trace("visit")
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=1, tol=None).set_callbacks(trace).fit(X, y)
    page = show(trace)
    notes = page.run("document.querySelector('footer').textContent")
    assert "Of 2501 steps, an even selection of 2000 is shown" in notes
    assert "Of 2500 points, a fixed random sample of 2000 is drawn" in notes
    assert agrees(page, trace, 2500)
    page.press("Home")
    assert agrees(page, trace, 0)


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_sticks_out_at_any_width(watch, show, width):
    page = show(watch("visit")[0], "#step=2")
    try:
        page.resize(width, 800)
        page.wait(f"document.documentElement.clientWidth <= {width}")
        assert page.run(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    finally:
        page.resize(1280, 900)


def test_text_keeps_its_contrast_by_day_and_by_night(watch, show):
    page = show(watch()[0])
    contrast = """(selector) => {
        const light = (node, name) => {
            const [r, g, b] = getComputedStyle(node)[name].match(/[\\d.]+/g).map((c) => {
                const v = c / 255;
                return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const paper = light(document.querySelector(".rosenblatt"), "backgroundColor");
        const node = document.querySelector(selector);
        const ink = light(node, node.namespaceURI.endsWith("svg") ? "fill" : "color");
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    }"""
    page.wait("Boolean(document.querySelector('.axes text'))")
    for scheme in ("light", "dark"):
        page.prefer(color_scheme=scheme)
        for selector in ("h1", "header p", ".numbers dt", ".axes text", "footer p"):
            assert page.run(f"({contrast})({selector!r})") >= 4.5, (scheme, selector)
        for k in range(2):
            assert page.run(f"({contrast})('.legend li:nth-child({k + 1}) path')") >= 3, scheme
    page.prefer()


def test_every_control_has_a_name_and_can_be_reached(watch, show):
    page = show(watch()[0])
    named = "[...document.querySelectorAll('button, input, select')].every((n) => n.ariaLabel)"
    assert page.run(named)
    reached = set()
    for _ in range(5):
        page.press("Tab")
        reached.add(page.run("document.activeElement.ariaLabel"))
    assert {"One step back", "Play", "One step forward", "Step", "Steps a second"} <= reached


def test_still_pages_move_at_once(watch, show):
    trace, _ = watch()
    page = show(trace, "#step=0")
    page.prefer(reduced_motion="reduce")
    page.press("ArrowRight")
    page.press("ArrowRight")
    drawn = page.run("document.querySelector('.boundary').innerHTML")
    page.run("new Promise((done) => setTimeout(done, 300))")
    assert page.run("document.querySelector('.boundary').innerHTML") == drawn
    page.prefer()


def test_without_chromium_tests_are_skipped_but_fail_in_ci(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="Chromium is not installed"):
        Browser()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="Chromium is not installed"):
        Browser()

"""Errors and warnings name what is wrong in the words of who reads them."""

import numpy as np
import pytest
from sklearn import naive_bayes as theirs

from rosenblatt import CategoricalNB, GaussianNB, MixedNB, Perceptron
from rosenblatt.estimation import multinomial_mle
from rosenblatt.information import entropy

X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])


def test_a_row_too_far_out_is_not_cured_by_an_alpha_that_is_not_there():
    model = GaussianNB().fit(X, y)
    with pytest.warns(UserWarning, match=r"probability zero in every class.*too far out") as record:
        model.predict_proba([[1e200]])
    assert "alpha" not in str(record[0].message)


def test_a_wrong_count_is_not_called_infinite():
    model = MixedNB(kinds=["count"])
    with pytest.raises(ValueError, match=r"^In X, column 0 is count .* >= 0; got -1.0 in row 0"):
        model.fit(-X, y)
    with pytest.raises(ValueError, match=r"^Input X contains infinity: column 0 is count"):
        model.fit(np.where(X == 2, np.inf, X), y)


@pytest.mark.parametrize("model", [GaussianNB(), Perceptron()])
@pytest.mark.parametrize("missing", [None, np.nan, "NA"])
@pytest.mark.parametrize("label", ["Adelie", 7])
def test_a_missing_label_is_called_missing(model, missing, label):
    pandas = pytest.importorskip("pandas")
    missing = pandas.NA if missing == "NA" else missing
    labels = [label, label, missing, label]
    for given in (labels, np.array(labels, object), pandas.Series(labels)):
        with pytest.raises(ValueError, match=r"y contains NaN|y contains infinity or a value too"):
            model.fit(X, given)
    with pytest.raises(ValueError, match=r"the label of row 2 is missing. Leave it out"):
        model.fit(X, labels)


def test_a_model_of_another_library_is_named_in_full():
    with pytest.raises(TypeError, match=r"another GaussianNB only; got a sklearn\.naive_bayes\.Ga"):
        GaussianNB().fit(X, y).merge(theirs.GaussianNB().fit(X, y))


def test_values_of_another_type_are_not_called_classes():
    model = CategoricalNB().fit([["a"], ["b"]], [0, 1])
    with pytest.raises(TypeError, match=r"The values of feature 0 must be .* both 'a' and 1"):
        model.partial_fit([[1]], [0])


def test_counts_of_nothing_do_not_speak_of_a_parameter_that_is_not_there():
    with pytest.raises(ValueError, match=r"counts must hold a number > 0 .* laplace_smoothing"):
        multinomial_mle([0, 0])


@pytest.mark.parametrize("labels", [["a", np.nan], ["a", None], [1.0, np.nan]])
def test_a_missing_label_is_the_reason_why_there_is_no_entropy(labels):
    pandas = pytest.importorskip("pandas")
    for given in (np.array(labels, object), pandas.Series(labels)):
        with pytest.raises(ValueError, match=r"labels must hold no NaN or None: drop them"):
            entropy(labels=given)

"""Models and settings by the words people type."""

import numpy as np
import pytest

from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.model_catalogue import (
    class_of,
    families_named,
    family_named,
    goes_by,
    named_families,
    settings_of,
)


def test_every_family_goes_by_its_name_and_its_class():
    for family in named_families():
        assert family_named(family.name) is family or family not in FAMILIES
        if class_of(family):
            assert class_of(family_named(class_of(family).lower())) == class_of(family)


def test_names_are_one_family_each():
    names = [family.name.lower() for family in named_families()]
    assert len(set(names)) == len(names)


def test_short_names_are_those_of_families_and_of_no_other():
    short_names = {
        (word, family.task): family.name for family in FAMILIES for word in family.short_names
    }
    assert short_names["lda", "classification"] == "linear discriminant analysis"
    for (word, task), name in short_names.items():
        assert family_named(word, task).name == family_named(word.upper(), task).name == name
        same = [f.name for f in named_families() if goes_by(f, word) and f.task == task]
        assert same == [name]


@pytest.mark.parametrize(
    ("words", "classification", "regression"),
    [
        (["rf", "random forest", "forest"], "random forest", "random forest regression"),
        (["tree", "CART", "decision tree"], "decision tree", "regression tree"),
        (["extra trees", "ExtraTrees", "et"], "extra trees", "extra trees regression"),
    ],
)
def test_trees_go_by_one_name_for_both_tasks(words, classification, regression):
    for word in words:
        assert family_named(word, "classification").name == classification
        assert family_named(word, "regression").name == regression


def test_other_models_of_ours_go_by_their_class():
    assert family_named("perceptron").make().__class__.__name__ == "Perceptron"
    assert family_named("RidgeCV").task == "regression"


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("logistic regresion", "logistic regression"),
        ("logistic", "LogisticRegression"),
        ("Rigde", "Ridge"),
        ("laso", "lasso"),
    ],
)
def test_the_nearest_name_is_suggested(word, nearest):
    with pytest.raises(ValueError, match=f"There is no model '{word}'. Did you mean .*{nearest}"):
        family_named(word)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("VotingClassifier", "A vote is made of other models: VotingClassifier takes them in Pyt"),
        ("neural network", "There are no neural networks here"),
        ("svm classifier", "Did you mean support vector machine or linear s"),
    ],
)
def test_what_has_no_model_here_gets_the_hint_that_helps(word, hint):
    with pytest.raises(ValueError, match=f"There is no model '{word}'. {hint}"):
        family_named(word)


def test_bagging_is_that_of_the_task():
    assert family_named("bagging", "classification").name == "BaggingClassifier"
    assert family_named("bagging", "regression").name == "BaggingRegressor"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("alpha=0.1", {"alpha": 0.1}),
        ("alpha = 1e-3", {"alpha": 1e-3}),
        ("positive=True", {"positive": True}),
        ("solver=lbfgs", {"solver": "lbfgs"}),
        ("solver='svd'", {"solver": "svd"}),
        ("max_iter=None", {"max_iter": None}),
        ("alpha=inf", {"alpha": np.inf}),
        ("alpha=Infinity", {"alpha": np.inf}),
        ("alpha=np.inf", {"alpha": np.inf}),
        ("alpha=-math.inf", {"alpha": -np.inf}),
        ("solver=info", {"solver": "info"}),
    ],
)
def test_values_are_python_literals_or_words(word, value):
    assert settings_of(family_named("Ridge"), [word]) == value


def test_a_class_names_the_family_with_nothing_before_it():
    assert family_named("Ridge").name == "ridge regression"
    assert settings_of(family_named("ridge on splines"), ["alpha=3"]) == {"alpha": 3}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("alhpa=1", "ridge regression has no parameter 'alhpa'. Did you mean alpha?"),
        ("zzz=1", "ridge regression has no parameter 'zzz'. It has alpha, copy_X"),
        ("alpha", "A setting looks like alpha=0.1; got 'alpha'."),
        ("alpha=__import__('os')", "alpha must be a number, a word, or a list of them"),
    ],
)
def test_settings_that_are_none_are_refused(word, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        settings_of(family_named("Ridge"), [word])
    assert str(caught.value).startswith(message)


def test_nan_is_a_number_in_a_setting():
    assert np.isnan(settings_of(family_named("Ridge"), ["alpha=nan"])["alpha"])


@pytest.mark.parametrize(
    ("word", "family"),
    [
        ("linear machine", "linear support vector machine"),
        ("Linear-SVM", "linear support vector machine"),
        ("kernel ridge", "kernel ridge regression"),
        ("kernel-ridge-regression", "kernel ridge regression"),
        ("kernel-perceptron", "kernel perceptron"),
        ("random forest classifier", "random forest"),
        ("gaussian_nb", "Gaussian naive Bayes"),
    ],
)
def test_blanks_hyphens_and_capitals_do_not_count(word, family):
    assert family_named(word).name == family


def test_every_family_goes_by_its_names_with_hyphens_and_without_blanks():
    for family in named_families():
        for name in (family.name, *family.short_names):
            for word in (name.replace(" ", "-"), name.replace(" ", ""), name.upper()):
                assert family in families_named(word), word


@pytest.mark.parametrize("word", ["", " ", "-"])
def test_a_name_without_letters_names_no_model(word):
    with pytest.raises(ValueError, match="There is no model"):
        family_named(word)

"""Each class whose name scikit-learn has: same parameters, values, attributes and methods."""

import inspect
from pathlib import Path

import pytest
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import make_constraint

from tests.contract.estimators import ESTIMATORS, problem

THEIRS = dict(all_estimators())
SHARED = [estimator for estimator in ESTIMATORS if estimator.__name__ in THEIRS]
TABLE = Path(__file__).resolve().parents[2] / "docs" / "differences.md"

pytestmark = [
    pytest.mark.usefixtures("unconverged"),
    # What scikit-learn says of its own LogisticRegressionCV.
    pytest.mark.filterwarnings("ignore:The default value (for|of):FutureWarning"),
    pytest.mark.filterwarnings("ignore:Attribute `prob[AB]_` was deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The fitted attributes of LogisticRegressionCV"),
]


def listed(name):
    """(kind, name) of the differences that the documentation states for a class, with reasons."""
    found = set()
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[0] == name:
            assert all(cells), f"a cell of this row is empty: {line}"
            found.add((cells[1], cells[2]))
    return found


def signature(function):
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }


def accepted_values(Estimator, parameter):
    """What a class says it accepts for a parameter, option by option."""
    values = set()
    for constraint in map(make_constraint, Estimator._parameter_constraints[parameter]):
        # The words for a set of options come in any order.
        options = getattr(constraint, "options", None)
        values |= set(map(repr, options)) if options else {str(constraint)}
    return values


def public_names(Estimator):
    """Methods and attributes of a fitted model, parameters apart."""
    X, y = problem(3, estimator=Estimator())
    model = Estimator().fit(X, y)
    names = {name for name in dir(model) if not name.startswith("_")} - set(model.get_params())
    methods = {name for name in names if callable(getattr(model, name))}
    return methods, names - methods


def differences(ours, theirs):
    """Every (kind, name) in which our class is not exactly theirs."""
    my_parameters, their_parameters = signature(ours.__init__), signature(theirs.__init__)
    for name in my_parameters.keys() ^ their_parameters.keys():
        yield "parameter", name
    for name in my_parameters.keys() & their_parameters.keys():
        if my_parameters[name] != their_parameters[name]:
            yield "default", name
        if not accepted_values(theirs, name) <= accepted_values(ours, name):
            yield "values", name
    (my_methods, my_attributes), (methods, attributes) = public_names(ours), public_names(theirs)
    for name in my_methods ^ methods:
        yield "method", name
    for name in my_methods & methods:
        if list(signature(getattr(ours, name))) != list(signature(getattr(theirs, name))):
            yield "method", name
    for name in my_attributes ^ attributes:
        yield "attribute", name


@pytest.mark.parametrize("Estimator", SHARED)
def test_every_difference_from_scikit_learn_is_documented(Estimator):
    found = set(differences(Estimator, THEIRS[Estimator.__name__]))
    assert found <= listed(Estimator.__name__) | listed("any class"), (
        "list it in docs/differences.md, or mend it"
    )


@pytest.mark.parametrize("Estimator", SHARED)
def test_no_difference_is_documented_that_is_none(Estimator):
    found = set(differences(Estimator, THEIRS[Estimator.__name__]))
    stated = {row for row in listed(Estimator.__name__) if row[0] != "behaviour"}
    assert stated <= found


def test_rows_of_any_class_hold_for_several():
    found = [set(differences(ours, THEIRS[ours.__name__])) for ours in SHARED]
    for row in listed("any class"):
        assert sum(row in each for each in found) > 1, row

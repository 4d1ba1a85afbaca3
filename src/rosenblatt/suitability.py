"""Whether a statistic is one that a model can stand on."""

from typing import Any

from rosenblatt.statistics import Statistic


def taken_over(model: type[Any], statistic: Any) -> dict[str, Any]:
    """The parameters of a model that its statistic was counted with, such as `binarize`."""
    if not isinstance(statistic, Statistic):
        raise TypeError(
            f"{model.__name__}.from_statistics takes a statistic, such as the statistics_ of a "
            f"fitted model; got {type(statistic).__name__}."
        )
    names = model._get_param_names()
    return {name: value for name, value in statistic._options().items() if name in names}


def refuse_unsuitable(model: Any, statistic: Any) -> None:
    """Raise if a statistic is of another kind than a model stands on, or was counted otherwise."""
    name, (kind, options) = type(model).__name__, model._stands_on
    if not isinstance(statistic, kind):
        raise TypeError(
            f"{name} stands on {kind.__name__}, which the statistics_ of a {name} are; "
            f"got {type(statistic).__name__}."
        )
    counted, parameters = statistic._options(), model.get_params(deep=False)
    asked = {option: parameters[option] for option in counted if option in parameters} | options
    call = f"{kind.__name__}.of({', '.join(['X', 'y', *(f'{o}={v!r}' for o, v in asked.items())])})"
    for option, value in asked.items():
        if counted[option] == value:
            continue
        advice = f"Make them with {call}."
        if option == "full" and not value:
            advice = "Give it statistics.diagonal()."
        elif option in parameters:
            advice = f"Leave {option} out to take theirs over; or make others with {call}."
        raise ValueError(
            f"{name} stands on {kind.__name__} with {option}={value!r}; these were made with "
            f"{option}={counted[option]!r}. {advice}"
        )
    if not len(statistic):
        raise ValueError("There is nothing to learn from: this is the statistic of no rows.")

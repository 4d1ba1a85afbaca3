"""Least squares and ridge: fits, and searches for the penalty."""

from importlib import import_module

from benchmarks.data import kept
from benchmarks.regression_data import noisy_plane
from benchmarks.scenario import Contender, Data, Quality, Scenario


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    def table(n, d):
        return lambda: kept(noisy_plane, rows(n), d)

    r2 = Quality("R² on held-out rows", held_out_r2, slack=1e-9)
    return [
        Scenario(
            "LinearRegression fit, 1M x 50",
            "Least squares of 1,000,000 x 50 float64.",
            table(1_000_000, 50),
            fit("rosenblatt", "LinearRegression"),
            (fit("sklearn", "LinearRegression", 5),),
            r2,
            read_once,
            rounds=5,
        ),
    ]


def fit(package: str, model: str, wanted: float | None = None, **settings) -> Contender:
    """One fit of a model of one package."""

    def run(data: Data, seed: int):
        linear_model = import_module(f"{package}.linear_model")
        return getattr(linear_model, model)(**settings).fit(data.X, data.y)

    name = "scikit-learn" if package == "sklearn" else package
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return Contender(name, f"{model}({words}).fit", name, run, wanted)


def held_out_r2(model, data: Data) -> float:
    return float(model.score(data.X_test, data.y_test))


def read_once(data: Data) -> dict[str, float]:
    """The rows are read once to train."""
    return {"read": data.nbytes}

"""Fit and predict of naive Bayes on word counts."""

from importlib import import_module

from benchmarks.data import kept
from benchmarks.long_documents import long_documents
from benchmarks.scenario import Contender, Data, Quality, Scenario


def scenarios(scale: float) -> list[Scenario]:
    return [
        scenario("MultinomialNB", 2, 2.5, scale),
        scenario("MultinomialNB", 20, 2.5, scale),
        scenario("BernoulliNB", 2, 6, scale),
        scenario("BernoulliNB", 20, 3.5, scale),
    ]


def scenario(name: str, n_classes: int, wanted: float, scale: float) -> Scenario:
    n = int(100_000 * scale)
    return Scenario(
        name=f"{name}, CSR 100k x 60k, {n_classes} classes",
        job="Fit on 100,000 x 60,000 CSR counts in float64 with 15 million non-zeros, "
        f"{n_classes} classes, and predict the same rows.",
        data=lambda: kept(long_documents, n, 60_000, n_classes),
        ours=contender("rosenblatt", name),
        peers=(contender("sklearn", name, wanted),),
        quality=Quality("held-out accuracy", accuracy),
        limits=lambda data: {"read": 2 * data.nbytes, "gather": 2 * data.X.nnz},
        rounds=7,
        # Counts, log-probabilities and labels are what is returned.
        memory_wanted=0.05 + n_classes * 60_000 * 8 * 3 / (n * 150 * 12),
    )


def contender(package: str, name: str, wanted: float | None = None) -> Contender:
    def run(data: Data, seed: int):
        model = getattr(import_module(f"{package}.naive_bayes"), name)().fit(data.X, data.y)
        model.predict(data.X)
        return model

    distribution = "scikit-learn" if package == "sklearn" else package
    return Contender(distribution, f"{name}()", distribution, run, wanted)


def accuracy(model, data: Data) -> float:
    return float((model.predict(data.X_test) == data.y_test).mean())

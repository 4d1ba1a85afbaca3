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
        # 5%, and what is returned: the labels, the counts and one or two tables of logarithms.
        memory_wanted=0.05 + (n_classes * 60_000 * RETURNED[name] + n) * 8 / (n * 150 * 12),
        tried=TRIED,
    )


RETURNED = {"MultinomialNB": 2, "BernoulliNB": 3}

TRIED = (
    "Counting: a look at a row's numbers before they are added instead of after (30 ms instead of "
    "20 with two classes: memory is waited for twice), memory called for ahead (slower), tables in "
    "32 and 16 bits (presence takes 16). Predicting: one, two and four features at a time, "
    "tiles of four and ten classes, weights in 64 and 32 bits; four features and 32 bits won, with "
    "20 classes in 65 ms instead of 125, and the few rows that 32 bits cannot decide are decided "
    "in 64."
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

"""One table of the spam filter, bogofilter and scikit-learn: ``python -m benchmarks.spam_table``.

Messages a second, and the spam that is caught at three shares of ham lost, in ten folds and in the
order of time, with paired bootstrap intervals of the differences.
"""

import resource

import numpy as np

from benchmarks.data import CACHE
from benchmarks.scenario import Data
from benchmarks.scenarios.spam import bogofilter_learn, corpus, learn, sklearn_learn, text_messages

ROUNDS, DRAWS = 5, 1000
CONTENDERS = {"rosenblatt": learn, "bogofilter": bogofilter_learn, "scikit-learn": sklearn_learn}


def messages() -> tuple[list[str], list[bool]]:
    """Files with a message each of the SpamAssassin corpus, and which are spam."""
    data = corpus()
    paths, labels = np.concatenate([data.X, data.X_test]), np.concatenate([data.y, data.y_test])
    # In the order of `rosenblatt spam evaluate`, which draws the same folds then.
    pairs = sorted(zip(paths.tolist(), labels.tolist(), strict=True))
    return [path for path, _ in pairs], [label for _, label in pairs]


def blocks(files: list[str], labels: list[bool], protocol: str):
    """Training and test messages of each block, and the labels of all that are judged."""
    from rosenblatt.spam import mails
    from rosenblatt.spam.evaluation import blocks_of, examples_of_mails

    pairs = zip(files, labels, strict=True)
    examples = examples_of_mails((mail, int(y)) for path, y in pairs for mail in mails(path))
    for parts in blocks_of(examples, protocol):
        X, X_test = (np.array([example.name for example in part]) for part in parts)
        y, y_test = (np.array([example.label for example in part], bool) for part in parts)
        yield Data(X, y, X_test, y_test, CACHE)


def scores(blocks) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What each contender makes of every message that it has not learned, and which are spam."""
    found: dict[str, list] = {name: [] for name in CONTENDERS}
    truth = []
    for data in blocks:
        truth.append(data.y_test)
        for name, fit in CONTENDERS.items():
            found[name].append(np.asarray(fit(data, 0)(data)))
    return {name: np.concatenate(part) for name, part in found.items()}, np.concatenate(truth)


def points(score, is_spam) -> np.ndarray:
    """The shares of spam caught at three shares of ham lost, and the area under the curve."""
    from rosenblatt.spam.evaluation import HAM_LOST, area, caught

    return np.array([*(caught(score, is_spam, lost) for lost in HAM_LOST), area(score, is_spam)])


def interval(ours, theirs, is_spam) -> np.ndarray:
    """95% of the differences ours - theirs when messages are drawn again, the same for both."""
    rng, groups = np.random.RandomState(0), [np.flatnonzero(~is_spam), np.flatnonzero(is_spam)]
    draws = []
    for _ in range(DRAWS):
        i = np.concatenate([rng.choice(group, len(group)) for group in groups])
        draws.append(points(ours[i], is_spam[i]) - points(theirs[i], is_spam[i]))
    return np.percentile(draws, [2.5, 97.5], axis=0)


def cpu_seconds() -> float:
    """CPU time of this process and of those that it waited for."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def speeds() -> dict[str, tuple[float, float]]:
    """Messages a second, learned and judged: medians of rounds in turn, after one to warm up."""
    data, rounds = corpus(), {name: [] for name in CONTENDERS}
    for _ in range(ROUNDS + 1):
        for name, fit in CONTENDERS.items():
            start = cpu_seconds()
            model = fit(data, 0)
            learned = cpu_seconds()
            model(data)
            judged = cpu_seconds()
            rounds[name].append(
                (len(data.X) / (learned - start), len(data.X_test) / (judged - learned))
            )
    return {name: tuple(np.median(found[1:], axis=0)) for name, found in rounds.items()}


def main() -> None:
    print("Messages a second of CPU time, one process:")
    for name, (learned, judged) in speeds().items():
        print(f"  {name:<12} {learned:7,.0f} learned {judged:7,.0f} judged")
    mail, texts = messages(), text_messages()
    for name, those, protocol in (
        ("SpamAssassin", mail, "folds"),
        ("SpamAssassin", mail, "time"),
        ("SMS", texts, "folds"),  # they have no dates
    ):
        found, is_spam = scores(blocks(*those, protocol))
        print(f"Spam caught with 0, 0.1%, 0.5% of ham lost, and area ({name}, {protocol}):")
        for name, score in found.items():
            a, b, c, area = points(score, is_spam)
            print(f"  {name:<12} {a:7.1%} {b:7.1%} {c:7.1%}  {area:.6f}")
        for name in ("bogofilter", "scikit-learn"):
            low, high = interval(found["rosenblatt"], found[name], is_spam)
            spans = "  ".join(f"{a:+.4f} to {b:+.4f}" for a, b in zip(low, high, strict=True))
            print(f"  ours less {name}: {spans} (95%)")


if __name__ == "__main__":
    main()

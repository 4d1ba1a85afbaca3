"""The badges game (W5): find the hidden rule that gives each name a plus or a minus.

Each name becomes a row of binary features: vowels at each position, letters it contains, its
length. `nested_search` returns a rule from the smallest class that fits all rows.

    python examples/badges.py
"""

import numpy as np

from rosenblatt.tree import count_functions, nested_search

VOWELS = "aeiou"
NAMES = [
    "Naoki", "Barbara", "Stephen", "Ada", "Manuel", "Leslie", "Dana", "Alan", "Grace", "Claude",
    "Edgar", "Noam", "Ivan", "Judea", "Umesh", "Shafi", "Frances", "Adele", "Robin", "Donald",
    "Whitfield", "Irene", "Karen", "Anita", "Geoffrey", "Yann", "Fei", "Sebastian", "Corinna",
    "Vladimir", "Isabelle", "Bernhard",
]  # fmt: skip


def table(names):
    """Return the binary features (n, d) and their names."""
    tests = {
        **{
            f"letter {i + 1} is a vowel": lambda n, i=i: n[i : i + 1] in set(VOWELS)
            for i in range(4)
        },
        **{f"has {letter}": lambda n, letter=letter: letter in n for letter in "aeinrst"},
        "more than 5 letters": lambda n: len(n) > 5,
        "more than 2 vowels": lambda n: sum(letter in VOWELS for letter in n) > 2,
    }
    rows = [[bool(test(name.lower())) for test in tests.values()] for name in names]
    return np.array(rows, float), list(tests)


def badge(name):
    """Return the label of a name: plus if its second letter is a vowel."""
    return "plus" if name[1].lower() in VOWELS else "minus"


def main():
    X, columns = table(NAMES)
    y = np.array([badge(name) for name in NAMES])
    n_distinct = len(np.unique(X, axis=0))
    model = nested_search(X, y)
    print(f"{len(NAMES)} names, {X.shape[1]} columns, {n_distinct} distinct rows.")
    n_functions = count_functions(X.shape[1], n_distinct)
    print(f"Boolean functions consistent with all rows: 2^{n_functions.bit_length() - 1}.")
    print(f"Smallest class with a consistent rule: {type(model).__name__}.")
    print(f"Rule: {model.to_text(columns)}.")


if __name__ == "__main__":
    main()

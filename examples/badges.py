"""The badges game: names carry a plus or a minus, and the rule is hidden (W5).

Each name becomes columns of zeros and ones: is a letter a vowel, is the name long, does it have a
given letter. The smallest class of rules that fits is searched for, and its rule printed.

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
    """Columns (n, d) of zeros and ones, and what each is called."""
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
    """The hidden rule: plus if the second letter is a vowel."""
    return "plus" if name[1].lower() in VOWELS else "minus"


def main():
    X, columns = table(NAMES)
    y = np.array([badge(name) for name in NAMES])
    seen = len(np.unique(X, axis=0))
    model = nested_search(X, y)
    print(f"{len(NAMES)} names, {X.shape[1]} columns, {seen} different rows.")
    left = count_functions(X.shape[1], seen)
    print(f"Functions of these columns that agree with all rows: 2^{left.bit_length() - 1}.")
    print(f"The first class with a consistent rule: {type(model).__name__}.")
    print(f"Its rule: {model.to_text(columns)}.")


if __name__ == "__main__":
    main()

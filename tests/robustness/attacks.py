"""Attacks that nothing may break: fits on hostile input, interrupts, kills, model files, tables.

``python -m tests.robustness.attacks --tries N --seed S`` prints tries and failures of each kind. An
attack fails by an error that is no sentence for users, a model half fitted, or a file half written.
"""

import argparse
import os
import random
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rosenblatt import registry
from rosenblatt.data import TableError, read_table
from rosenblatt.workbench.model_file import load_model, save_model
from tests.contract.estimators import problem
from tests.workbench.models import fitted

# Of each estimator that predicts numbers or classes of rows, the first setting of its contract.
MODELS = [
    row.estimator(**row.contract.settings[0])
    for row in registry.ROWS
    if row.contract and hasattr(row.estimator, "predict") and "dense" in row.inputs
]
REFUSALS = (ValueError, TypeError, TableError)  # whose words are for users
SIZES = [0.0, 5e-324, 1e-300, 1e-8, 1.0, 2.0**53, 1e150, 1e308, np.inf, np.nan]


def _is_fitted(model):
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _raise_a_crash(error):
    """A `LinAlgError` is a ValueError, but no sentence for users; our subclasses of it are."""
    if type(error) is np.linalg.LinAlgError:
        raise error


def fits(rng, _):
    """A table with columns of hostile sizes: a fit that predicts, or a refusal and no model."""
    n, d = rng.randint(1, 30), rng.randint(1, 6)
    draw = np.random.RandomState(rng.getrandbits(32))
    X = draw.standard_normal((n, d))
    with np.errstate(all="ignore"):
        for _ in range(rng.randint(0, 3)):
            X[draw.randint(n), draw.randint(d)] *= rng.choice(SIZES)
            X[:, draw.randint(d)] *= rng.choice(SIZES)
        X = X.astype(rng.choice([np.float64, np.float32]))
    y = draw.randint(0, rng.randint(1, 4), n)
    model = clone(rng.choice(MODELS))
    rows = sp.csr_array(X) if rng.random() < 0.3 else X
    try:
        model.fit(rows, y)
    except REFUSALS as error:
        _raise_a_crash(error)
        return not _is_fitted(model)
    try:
        found = model.predict(X)
    except REFUSALS as error:
        _raise_a_crash(error)
        return True
    return len(found) == n


def interrupts(rng, _):
    """Ctrl-C at some moment of a fit: a model that is fitted whole, or not at all."""
    model = clone(rng.choice(MODELS))
    X, _ = problem(n_rows=4000, n_features=20, seed=rng.getrandbits(32), estimator=model)
    y = (X[:, 0] > 0).astype(int)
    clone(model).fit(X, y)  # its loops are loaded: an interrupt of the compiler prints tracebacks
    ident = threading.get_ident()
    timer = threading.Timer(rng.random() * 0.02, signal.pthread_kill, [ident, signal.SIGINT])
    try:
        timer.start()
        model.fit(X, y)
        timer.join()
        time.sleep(0)  # the signal may come only here
    except KeyboardInterrupt:
        pass
    return not _is_fitted(model) or len(model.predict(X[:5])) == 5


def kills(rng, folder):
    """A process killed as it writes a model again and again: the file is a whole one."""
    model, path = fitted("GaussianNB", certificate=False), folder / "killed.skops"
    save_model(model, path)
    child = os.fork()
    if not child:
        try:
            while True:
                save_model(model, path)
        finally:
            os._exit(1)  # never back into the tests
    time.sleep(rng.random() * 0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    load_model(path)
    return True


def _mutated(rng, content):
    """The bytes with some changed, taken out, or cut off."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(content))
        content[place : place + rng.randint(0, 4)] = rng.randbytes(rng.randint(0, 4))
    return bytes(content[: rng.randrange(len(content))] if rng.random() < 0.2 else content)


def model_files(rng, folder):
    """A damaged model file: a sentence that names it, or a model."""
    whole, path = folder / "whole.skops", folder / "damaged.skops"
    if not whole.exists():
        save_model(fitted("GaussianNB", certificate=False), whole)
    path.write_bytes(_mutated(rng, whole.read_bytes()))
    try:
        load_model(path)
    except TableError as error:
        return path.name in str(error)
    return True


def tables(rng, folder):
    """A damaged table: a sentence, or a table."""
    path = folder / f"table.{rng.choice(['csv', 'tsv', 'jsonl', 'svm', 'arff'])}"
    text = "a,b,c\n" + "".join(f"{i},{i / 7},{'xyz'[i % 3]}\n" for i in range(30))
    path.write_bytes(_mutated(rng, text.encode(rng.choice(["utf-8", "utf-16", "utf-32"]))))
    with suppress(TableError):
        read_table(path)
    return True


KINDS = {kind.__name__: kind for kind in (fits, interrupts, kills, model_files, tables)}


def attack(kind, tries, seed):
    """Make so many tries of a kind; return the failures, in words."""
    failures = []
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", ".* encountered ", RuntimeWarning)  # NumPy's own words
        for k in range(tries):
            try:
                held = KINDS[kind](random.Random(f"{kind} {seed} {k}"), Path(folder))
                trouble = "" if held else "left something half done"
            except Exception as error:
                trouble = f"{type(error).__name__}: {str(error)[:200]}"
            if trouble:
                failures.append(f"seed {seed}, try {k}: {trouble}")
    return failures


def main():
    """Attack, print the counts, and exit with 1 if an attack succeeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"{'attack':<14} {'tries':>7} {'failures':>8} {'seconds':>8}   seed {options.seed}")
    found = []
    for kind in KINDS:
        start = time.monotonic()
        tries = max(1, options.tries // 10) if kind == "kills" else options.tries  # half a second
        failures = attack(kind, tries, options.seed)
        seconds = time.monotonic() - start
        print(f"{kind:<14} {tries:>7} {len(failures):>8} {seconds:>8.1f}", flush=True)
        print(*(f"    {words}\n" for words in failures[:5]), sep="", end="", flush=True)
        found += failures
    sys.exit(bool(found))


if __name__ == "__main__":
    main()

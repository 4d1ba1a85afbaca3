"""What can be proved of a model on the rows that it was fitted to, or why nothing is."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt.certificates import certify

from .families import Family
from .problem import Problem
from .view import n_bytes

MOST_BYTES_TO_CERTIFY = 2**27
NO_TIME_TO_PROVE = "There was no time to prove anything of the fit."


class Proof(NamedTuple):
    """A certificate, or a sentence on why there is none."""

    certificate: Any
    why_not: str = ""


def proof_of(problem: Problem, family: Family, model: Pipeline, rows: NDArray[np.int64]) -> Proof:
    """What can be proved of a model of a family.

    Proofs take several times the memory of what they are about: of large tables there are none.
    """
    if max(n_bytes(problem.X), 8 * len(rows) * problem.X.shape[1]) > MOST_BYTES_TO_CERTIFY:
        most = MOST_BYTES_TO_CERTIFY // 2**20
        return Proof(
            None,
            "A proof takes several times the memory of the rows it is about: of tables of more "
            f"than {most} MB none is made here; `rosenblatt certify` makes one of any.",
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Proof(certify(model, problem.some(rows), problem.y[rows], effort=0))
    except TypeError:
        whose = "" if family.package == "rosenblatt" else f" It is a model of {family.package}."
        return Proof(
            None,
            f"{family.name[0].upper()}{family.name[1:]} publishes nothing that could be proved "
            f"from the data: there is no certificate of such fits.{whose}",
        )
    except ValueError as error:
        return Proof(None, f"The proof could not be made: {str(error).splitlines()[0]}")


def certificate_of(
    problem: Problem, family: Family, model: Pipeline, rows: NDArray[np.int64]
) -> Any:
    """The certificate alone; None if there is none."""
    return proof_of(problem, family, model, rows).certificate

"""`rosenblatt models`: the models, their parameters and when to use them."""

from argparse import Namespace

from rosenblatt.workbench.model_catalogue import (
    families_named,
    model_text,
    models_text,
    named_families,
)

from .tables import printed_to


def run(args: Namespace) -> None:
    """Print the list of models, or the parameters of some."""
    if args.name is None and not args.verbose:
        texts = [models_text()]
    else:
        families = named_families() if args.name is None else families_named(args.name)
        texts = [model_text(family) for family in families]
    with printed_to(args.out) as print_lines:
        print_lines("\n\n".join(texts))

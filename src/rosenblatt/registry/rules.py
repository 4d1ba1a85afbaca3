"""Rules of few tests."""

from .row import Contract, Row, Without

ROWS = tuple(
    Row(
        name=name,
        module="tree.rules",
        task="classification",
        inputs=("dense",),
        verifier="rules",
        sklearn=Without("scikit-learn has no such rules"),
        additive=Without("which rule is best depends on all rows at once"),
        path=Without("each number of tests is a search of its own"),
        trace=Without("the rules that were tried are counted, not kept"),
        warm=Without("it compiles no loop: NumPy counts"),
        contract=Contract(
            settings=({"max_terms": 2},),
            checked=({"max_terms": 1, "n_cuts": 1},),
        ),
        contestants=Without("one rule is there to be read; the decision tree is compared"),
        file_types=(),
        page="rules.md",
        benchmark=Without("no peer searches such rules"),
    )
    for name in ("ConjunctionClassifier", "MofNClassifier")
)

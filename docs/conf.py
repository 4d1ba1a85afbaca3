"""How Sphinx builds these pages: offline, with every warning an error (`make docs`)."""

import re
from importlib.metadata import version as installed_version

project = "rosenblatt"
author = "the rosenblatt developers"
copyright = author
release = installed_version("rosenblatt")
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]

# Every heading down to the third level can be linked to.
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "rosenblatt"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"*": []}  # only the reference has pages below it
html_theme_options = {
    "use_edit_page_button": False,
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def skip_foreign(app, what, name, member, skip, options):
    """Leave out what scikit-learn defines: its texts hold links that only resolve there."""
    home = getattr(getattr(member, "fget", member), "__module__", None) or ""
    return True if home.startswith(("sklearn", "builtins")) else None


def escape_bars(app, what, name, thing, options, lines):
    """Let docstrings write |w| for a length; reStructuredText would look for a substitution."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "|")):
            words = re.split(r"(``.*?``)", line)
            words[::2] = [word.replace("|", r"\|") for word in words[::2]]
            lines[i] = "".join(words)


def trim_examples(app, docname, source):
    """Drop the blank line that ends each example: doctest needs it, a reader does not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app):
    """Connect these to Sphinx; bars after numpydoc has parsed the docstring."""
    app.connect("source-read", trim_examples)
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-docstring", escape_bars, priority=900)

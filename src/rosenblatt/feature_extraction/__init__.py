"""Features of what is no table of numbers: texts.

>>> from rosenblatt.feature_extraction import CountVectorizer
>>> CountVectorizer().fit(["to be", "not to be"]).get_feature_names_out()
array(['be', 'not', 'to'], dtype=object)
"""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)

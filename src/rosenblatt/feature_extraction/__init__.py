"""Features of what is no table of numbers: texts.

>>> from rosenblatt.feature_extraction import CountVectorizer
>>> CountVectorizer().fit(["to be", "not to be"]).get_feature_names_out()
array(['be', 'not', 'to'], dtype=object)
"""

from .text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]

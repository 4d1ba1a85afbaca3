"""Naive Bayes: features that are independent within each class."""

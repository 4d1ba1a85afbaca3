"""Solvers of logistic regression: a problem and a start in, better and better points out.

A solver is a generator of `logistic_problem.Iterate`: one after each iteration. It knows nothing
of estimators. The model that runs it decides when to stop, reports to the callbacks, and sets the
fitted attributes.
"""

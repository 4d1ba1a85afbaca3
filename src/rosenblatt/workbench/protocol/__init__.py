"""The honest protocol: splits, search within a time budget, scores and how sure they are."""

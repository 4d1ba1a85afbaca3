"""Attacks on certificates: random fits and changed numbers, judged in exact arithmetic."""

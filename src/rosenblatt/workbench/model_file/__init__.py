"""Models in files: saved whole, loaded without running code from them."""

"""What every layer stands on: threads, BLAS, interrupts, array storage, files written whole."""

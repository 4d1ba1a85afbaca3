"""What the linear and the kernel perceptrons share: examples, visits, stopping rules, decisions."""

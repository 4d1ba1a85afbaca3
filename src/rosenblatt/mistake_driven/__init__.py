"""What all mistake-driven learners share: examples, visits, when to stop, who wins."""

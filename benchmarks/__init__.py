"""Measurements, one module a subject: ``python -m benchmarks [names] [--quick]``."""

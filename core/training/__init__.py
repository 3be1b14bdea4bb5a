"""Workload, memory and throughput of a training run."""

"""Stages as processes and files: the directory of a run, attempts, processes, publication and checkpoints."""

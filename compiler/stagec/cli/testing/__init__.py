"""Tests of flows, as the commands that run them find them: files, the flows they are about, and their runs."""

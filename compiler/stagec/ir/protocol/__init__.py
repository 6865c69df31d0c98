"""The stage protocol for texts and values, without I/O: names, markers, paths, checkpoints, lifecycle."""

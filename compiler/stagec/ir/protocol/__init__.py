"""What the stage protocol says about texts and values, without I/O: names, markers, paths, checkpoints, lifecycle."""

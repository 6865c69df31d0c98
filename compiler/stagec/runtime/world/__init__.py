"""The world of runs beyond the files of a project; validation never uses it."""

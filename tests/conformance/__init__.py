"""What every driver of runs keeps, whoever wrote it: the same plans, kills and checks for all of them."""

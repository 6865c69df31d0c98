"""What the commands have in common that run plans, go on with runs, and look at them."""

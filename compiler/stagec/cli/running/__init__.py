"""What the commands share that start, resume and show runs."""

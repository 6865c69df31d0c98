"""What flows are made of, whichever system they were written for."""

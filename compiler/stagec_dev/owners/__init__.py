"""What programs do with the files that they own, and what stagec says of the same files."""

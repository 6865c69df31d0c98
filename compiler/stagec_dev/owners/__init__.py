"""Compare what programs do with their own files and what stagec reports about them."""

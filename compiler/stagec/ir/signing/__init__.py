"""Who vouches for a plan: statements about plans, their signatures, and the keys that are trusted."""

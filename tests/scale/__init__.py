"""How much runs on a database take: throughput, what the database sees, and how soon an answer is followed."""

"""The drivers of stagec as the suite sees them: one module each."""

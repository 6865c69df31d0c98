"""Tools that models call: what each source has, and one place that carries calls out."""

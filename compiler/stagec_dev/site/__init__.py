"""The documentation as a site: staged from the pages of a checkout, built by Zensical, completed and checked."""

"""The version of stagec, and where its documentation is published."""

__version__ = "0.1.0"

DOCUMENTATION: str | None = None
"""The address of the site for this version, which a release that has one sets; projects can name another."""


def locate_page(documentation: str | None, code: str) -> str | None:
    """Return the address of a rule's page on a site, if there is a site."""
    return None if documentation is None else f"{documentation.rstrip('/')}/rules/{code}/"

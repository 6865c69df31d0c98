"""Fill the templates of the package: the only module that imports jinja2."""

from __future__ import annotations

from functools import cache
from typing import Any

from stagec.core.words import visible


def render(package: str, name: str, /, **values: object) -> str:
    """Return a template file of a package with its variables filled in; a variable without a value is an error.

    Values are escaped for HTML, except in templates of Markdown, Python and YAML, where `<` stands for itself.
    What users write is always a value and never a template.
    """
    rendered: str = _environment(package).get_template(name).render(values)
    return rendered


_UNESCAPED = ("md.jinja", "py.jinja", "yaml.jinja")


@cache
def _environment(package: str) -> Any:
    from importlib.resources import files

    from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_eval_context, select_autoescape

    @pass_eval_context
    def finalize(context: Any, given: Any) -> Any:
        is_text = context.autoescape and isinstance(given, str) and not hasattr(given, "__html__")
        return _spell_out(given) if is_text else given

    return Environment(
        finalize=finalize,
        autoescape=select_autoescape(enabled_extensions=(), disabled_extensions=_UNESCAPED, default=True),
        loader=FunctionLoader(lambda name: files(package).joinpath(name).read_text("utf-8")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
    )


def _spell_out(text: str) -> str:
    """Return a text of several lines in which control characters, direction marks and the like are shown escaped."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(each if each in "\n\t" else visible(each) for each in text)

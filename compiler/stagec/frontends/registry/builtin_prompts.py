"""The prompts that steps without one of their own can name by a key."""

from __future__ import annotations

FALLBACK_KEYS = frozenset(
    {
        *(
            f"{phase}_{mode}"
            for phase in ("initial", "continuation")
            for mode in ("assess", "issue", "issue_label_only")
        ),
        *(f"{phase}_{mode}" for phase in ("initial", "continuation") for mode in ("iterate", "project", "keyword")),
        *(f"{phase}_{mode}" for phase in ("initial", "continuation") for mode in ("manual", "structured_signal")),
        *(f"continuation_project_{phase}" for phase in ("preparation", "processing", "review")),
        *(f"{flow}_closure_default" for flow in ("issue", "project", "polling", "review", "iteration", "facilitation")),
        "project_continuation_closure_default",
        "statuscheck_continuation_default",
        "issue_initial_default",
        "system",
    }
)
"""The names of the built-in prompts that the documents list or show."""


def read_fallback(key: str) -> str | None:
    """Return the built-in prompt of a name, nothing when there is none."""
    from importlib.resources import files  # a run that needs no built-in prompt pays nothing for it

    if key not in FALLBACK_KEYS:
        return None
    text = files(__package__).joinpath("fallback_prompts.md").read_text("utf-8")
    return text.partition(f"\n## {key}\n\n")[2].partition("\n## ")[0]

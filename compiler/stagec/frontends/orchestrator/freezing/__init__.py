"""From orchestrator files without errors to drafts of plans."""

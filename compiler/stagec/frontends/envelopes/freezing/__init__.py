"""From stage plans without errors to drafts of plans."""

"""What a run looks at and how strictly: configuration, and the selection of rules."""

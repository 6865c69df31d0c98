"""What a JSON Schema promises about the values it accepts, across the files of a project and no further."""

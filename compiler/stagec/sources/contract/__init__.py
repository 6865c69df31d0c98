"""The promises of a JSON Schema about the values it accepts, across the files of a project and no further."""

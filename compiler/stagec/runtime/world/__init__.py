"""What stagec asks of the world beyond the files of a project; validation never comes here."""

"""Checking a project as `stagec validate` was asked to; nothing here needs the library that reads command lines."""

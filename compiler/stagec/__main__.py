"""`python -m stagec`."""

from stagec.cli.app import main

main()

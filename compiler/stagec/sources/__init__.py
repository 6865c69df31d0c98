"""From bytes to trees: finding and reading the files of a project without judging them."""

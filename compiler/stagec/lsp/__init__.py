"""The knowledge of the compiler for editors: an open workspace, answers about places in it, and the protocol."""

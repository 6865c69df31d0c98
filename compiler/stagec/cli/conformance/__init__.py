"""Judge runners of plans: the vectors, the protocol, and stagec's own machine as one of the runners."""

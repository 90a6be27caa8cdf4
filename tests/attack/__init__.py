"""Random attacks that go on for as long as they are given: ``make attack MINUTES=5 SEED=1``.

Every case is drawn from one integer, and judged by an oracle that shares nothing with what it judges. An error of ours
is a fine answer to a bad question; any other exception, a false gap, a half-fitted model or a hang is a failure.
"""

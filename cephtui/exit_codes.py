"""Exit codes; 0 is success, and 2 is click's for wrong usage."""

EXIT_FAILED = 1
"""A run failed, or something could not be read or removed."""
EXIT_REFUSED = 3
"""Nothing was run: a guard, a node or an answer refused it."""
EXIT_INCOMPLETE = 4
"""Stopped or lost before its end, or not all of it was saved, or removed."""
EXIT_NOT_MET = 5
"""A check has shown that the change does not bring what is required, or an expected figure was not reached."""
EXIT_NO_VERDICT = 6
"""A check has shown neither that nor the contrary, an expected figure was not shown to be reached or missed, or
repeats were given up before their mean was stable."""
ANSWER_CODES = {"met": 0, "not met": EXIT_NOT_MET, "undecided": EXIT_NO_VERDICT}
"""By what is answered to what was asked of a figure."""
WORST = (0, EXIT_NO_VERDICT, EXIT_NOT_MET, EXIT_INCOMPLETE, EXIT_REFUSED, EXIT_FAILED)
"""Of several plans, and of what is expected of them, the last of these stands for all."""

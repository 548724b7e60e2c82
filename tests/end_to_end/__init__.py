"""The real command line with the real fio: what is measured, what is refused, and what is left behind."""

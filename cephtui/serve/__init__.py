"""The screens in a browser, on textual-serve: who may open the page, the page, and a process for each one that is open.

Imported by ``cephtui serve`` alone; everything that it needs comes with the extra ``web``.
"""

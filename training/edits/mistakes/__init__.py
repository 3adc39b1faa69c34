"""Made-up mistakes: good text with the mistakes that people make put in, for a model that learns to correct them.

`words` says which word may stand for which, `spelling` how a word is misspelt, `table` collects both for the words
of a corpus, `recipe` says how often each kind of mistake is made, `generator` makes the mistakes, compiled, and
`source` hands them to a training run.
"""

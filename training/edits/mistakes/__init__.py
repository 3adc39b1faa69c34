"""Synthetic mistakes: people's typical mistakes put into good text, for a model that learns to correct them.

`words` has the confused words, `spelling` makes misspellings, `table` collects both for the words of a corpus,
`kinds` has the kinds of mistakes and how often each is made, `generator` makes the mistakes (compiled), and `source`
gives them to a training run as samples.
"""

"""Multi-task sparse discriminant analysis, MtSDA (Han et al. 2010).

===================  ==============================================================
file                 contents
===================  ==============================================================
``base``             what both classifiers share: solve, store, score and decide
``mtsda``            the classifier for given penalties
``tuned``            the classifier that tunes its penalties by cross-validation
``optimal_scoring``  the problem that both solve: label scores and sparse weights
``label_sets``       the label set whose scores are nearest to a sample
===================  ==============================================================
"""

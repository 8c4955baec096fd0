"""Classifiers by large margins: ASO (Ando and Zhang 2005) and SVM-perf (Joachims 2005).

===================  ======================================================================
file                 contents
===================  ======================================================================
``aso``              the classifier by alternating structure optimisation
``alternation``      its rounds: models of the labels for a subspace, a subspace for the models
``svm_perf``         the classifier by SVMs for F1 and other multivariate losses
``violations``       the label vector that violates the margin most, for each loss
``cutting_planes``   the minimisation by cutting planes
===================  ======================================================================
"""

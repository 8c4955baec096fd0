"""What users pass in, and how the library answers.

===================  ============================================================================
file                 contents
===================  ============================================================================
``parameters``       declarations of the parameters of estimators, and their checks
``data``             checks of samples, sparse matrices, weights and scores, and of their range
``views``            several tables of features about the same samples
``sklearn_private``  the one file that uses the private side of scikit-learn
``fitting``          methods that change all of an estimator or nothing
``messages``         messages whose parameters and numbers are fields
``warning``          warnings that name the line of the caller, and blocks without warnings
``progress``         progress bars
===================  ============================================================================
"""

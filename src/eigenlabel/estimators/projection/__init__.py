"""Projections of features: MDDM (Zhang and Zhou 2010), CCA, OPLS, LDA and others."""

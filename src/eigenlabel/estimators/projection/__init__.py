"""Projections of features: MDDM (Zhang and Zhou 2010) and the methods it is compared with.

===========================  ===============================================================
file                         projections
===========================  ===============================================================
``base``                     what all of them share: check, store, project new samples
``label_projection``         the problem that MDDM, CCA, OPLS, LDA, orthogonal centroids and
                             hypergraph spectral learning have in common
``mddm``                     multi-label dimensionality reduction via dependence maximisation
``cca``, ``opls``, ``lda``   canonical correlations, orthonormalised PLS, linear discriminants
``hypergraph``               hypergraph spectral learning
``orthogonal_centroid``      orthonormal directions through the centroids of the labels
``pls``                      partial least squares
``mlsi``                     multi-label informed latent semantic indexing
``lpp``                      locality preserving projections
``pca``                      principal components
``selector``                 single features, ranked by how well they separate the labels
===========================  ===============================================================
"""

"""Agreement of views: KGHA (Xiong et al.), ridge taggers, multiset CCA, homogeneity analysis."""

"""ARFF files of MULAN, MEKA and Weka."""

"""Margin methods: ASO and SVM-perf."""

"""Comma-separated text."""

"""Labels that are likely wrong or missing."""

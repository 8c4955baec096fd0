"""Tables: columns, their roles, and the features and labels made of them."""

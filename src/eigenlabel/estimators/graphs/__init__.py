"""Labels that spread over similarity graphs."""

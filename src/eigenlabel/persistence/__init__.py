"""Model files that load without running code."""

from eigenlabel.persistence.models import (
    SavedModel,
    load_model,
    save_model,
)

__all__ = [
    "SavedModel",
    "load_model",
    "save_model",
]

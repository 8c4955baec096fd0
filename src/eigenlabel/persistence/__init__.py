"""Model files that load without running code."""

from eigenlabel.persistence.models import (
    FORM,
    LATER,
    MAPS,
    PARTS,
    TRUSTED,
    SavedModel,
    load_model,
    save_model,
)

__all__ = [
    "FORM",
    "LATER",
    "MAPS",
    "PARTS",
    "TRUSTED",
    "SavedModel",
    "load_model",
    "save_model",
]

"""Model files that do not run code when they are loaded."""

from eigenlabel.persistence.content import SavedModel
from eigenlabel.persistence.models import load_model, save_model

__all__ = ["SavedModel", "load_model", "save_model"]

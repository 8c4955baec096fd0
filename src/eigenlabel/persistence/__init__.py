"""Model files that do not run code when they are loaded."""

from eigenlabel.persistence.models import SavedModel, load_model, save_model

__all__ = ["SavedModel", "load_model", "save_model"]

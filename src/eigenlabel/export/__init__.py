"""Models in forms that other programs run: ONNX."""

from eigenlabel.export.onnx_files import export_onnx

__all__ = ["export_onnx"]

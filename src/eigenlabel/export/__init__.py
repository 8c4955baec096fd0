"""Models in forms that other programs run: ONNX."""

"""The .npz files of this library."""

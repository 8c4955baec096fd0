"""Sizes of memory in words."""


def readable(size: float) -> str:
    """Give a number of bytes in the largest unit of which there is one: 640 KiB, 1.5 GiB."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    for power, unit in enumerate(units):
        if size < 1000 * 1024**power or unit == units[-1]:
            break
    return f"{size / 1024**power:.3g} {unit}"

"""The base of the displays."""

from typing import Any

from eigenlabel.drawing.axes import axes_for


class Display:
    """Something that is computed once and drawn on any axes."""

    ax_: Any
    figure_: Any

    def _start(self, ax: Any, size: tuple[float, float] | None = None) -> Any:
        """Return the axes to draw on, and remember them and their figure."""
        self.ax_ = axes_for(type(self).__name__, ax, size)
        self.figure_ = self.ax_.figure
        return self.ax_

"""Drawing with matplotlib, which is imported only when something is drawn.

=========  ======================================================================================
file       contents
=========  ======================================================================================
``axes``   the one import of matplotlib, axes to draw on, colours, lines with few points
``names``  names that users wrote: drawn letter by letter, in legends, and without overlap
=========  ======================================================================================
"""

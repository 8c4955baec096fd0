"""The five papers, one module each, with the published figures in a CSV file beside it.

A module contains the methods of its paper, their grids, the protocol, the tables, the figures and
the claims.
"""

from eigenlabel.reproduce.papers import han2010, ji2008, ji2010, xiong_kgha, zhang2010

PAPERS = (ji2008.PAPER, ji2010.PAPER, han2010.PAPER, zhang2010.PAPER, xiong_kgha.PAPER)

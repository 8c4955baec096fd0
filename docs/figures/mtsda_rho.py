"""AUC by rho with 95% bounds (Figure 1 of Han et al. 2010)."""

from eigenlabel.reproduce import draw, get_table, read_csv

draw(get_table("mtsda-figure1"), read_csv("results/papers/mtsda-figure1.csv"))

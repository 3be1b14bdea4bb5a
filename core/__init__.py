"""The model of Compute Reckoner: what it costs to train a model on an accelerator.

Imports neither streamlit nor plotly. The front door is :func:`core.estimate.estimate`.
"""

PRODUCT_NAME = "Compute Reckoner"

# Names the arithmetic of this release in every link; raised whenever a formula or a fitted
# constant changes a number, so that an old link can say which model made its figures.
MODEL_VERSION = "4"

"""Charts: from a report to a figure with its finding, its subtitle and the table behind it."""

from ui.charts.base import Chart
from ui.charts.bill import bill_chart
from ui.charts.cost_time import cost_time_chart
from ui.charts.flip import flip_chart
from ui.charts.run_errors import errors_chart
from ui.charts.run_ratio import ratio_chart
from ui.charts.sweep import sweep_chart

__all__ = [
    "Chart",
    "bill_chart",
    "cost_time_chart",
    "errors_chart",
    "flip_chart",
    "ratio_chart",
    "sweep_chart",
]

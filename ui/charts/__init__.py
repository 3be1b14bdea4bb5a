"""Charts: from a report to a figure with its finding, its subtitle and the table behind it."""

from ui.charts.base import Chart
from ui.charts.bill import bill_chart
from ui.charts.commitment import commitment_chart
from ui.charts.cost_time import cost_time_chart
from ui.charts.flip import flip_chart
from ui.charts.migration_cash import migration_cash_chart
from ui.charts.migration_effort import migration_effort_chart
from ui.charts.migration_even import migration_even_chart
from ui.charts.migration_speed import migration_speed_chart
from ui.charts.migration_timeline import migration_timeline_chart
from ui.charts.run_errors import errors_chart
from ui.charts.run_ratio import ratio_chart
from ui.charts.scaling_degree import degree_chart
from ui.charts.scaling_mfu import scaling_mfu_chart
from ui.charts.scaling_parts import goodput_chart, memory_chart, step_parts_chart
from ui.charts.scaling_time import scaling_time_chart
from ui.charts.sweep import sweep_chart
from ui.charts.tornado import tornado_chart

__all__ = [
    "Chart",
    "bill_chart",
    "commitment_chart",
    "cost_time_chart",
    "degree_chart",
    "errors_chart",
    "flip_chart",
    "goodput_chart",
    "memory_chart",
    "migration_cash_chart",
    "migration_effort_chart",
    "migration_even_chart",
    "migration_speed_chart",
    "migration_timeline_chart",
    "ratio_chart",
    "scaling_mfu_chart",
    "scaling_time_chart",
    "step_parts_chart",
    "sweep_chart",
    "tornado_chart",
]

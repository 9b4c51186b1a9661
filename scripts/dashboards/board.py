"""A dashboard as data, and what Grafana's own builders make of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    prometheus,
    stat,
    text,
    timeseries,
)
from grafana_foundation_sdk.builders import dashboard as built
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as words
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DataSourceRef,
    VariableRefresh,
    VariableSort,
)
from grafana_foundation_sdk.models.text import TextMode

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
WIDTH = 24


class Look(StrEnum):
    """How the answer of a query is shown."""

    NUMBER = "number"
    LINES = "lines"
    STACKED = "stacked"
    BARS = "bars"
    WORDS = "words"  # the panel's `says`, and no query


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: queries as (PromQL, legend) pairs; a WORDS panel shows what it `says`."""

    title: str
    look: Look
    queries: Sequence[tuple[str, str]] = ()
    unit: str = "short"
    says: str = ""
    span: int = 8
    height: int = 8


@dataclass(frozen=True, slots=True)
class Variable:
    """A choice at the top of a dashboard: the values of a label."""

    name: str
    label: str
    query: str


@dataclass(frozen=True, slots=True)
class Board:
    """One dashboard: rows of panels by title."""

    uid: str
    title: str
    says: str
    variables: Sequence[Variable]
    rows: Sequence[tuple[str, Sequence[Panel]]]
    span: str = "now-6h"

    def queries(self) -> list[tuple[str, str]]:
        """Every query, with the title of its panel."""
        return [
            (f"{row}: {panel.title}", query)
            for row, panels in self.rows
            for panel in panels
            for query, _ in panel.queries
        ]


def document(board: Board) -> str:
    """The dashboard as the JSON that Grafana imports."""
    one = (
        built.Dashboard(board.title)
        .uid(board.uid)
        .description(board.says)
        .tags(["agent-bench"])
        .time(board.span, "now")
        .refresh("30s")
        .timezone("browser")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .with_variable(
            built.DatasourceVariable("datasource").label("Data source").type("prometheus")
        )
    )
    for each in board.variables:
        one = one.with_variable(
            built.QueryVariable(each.name)
            .label(each.label)
            .datasource(SOURCE)
            .query(each.query)
            .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
            .sort(VariableSort.ALPHABETICAL_ASC)
            .multi(True)
            .include_all(True)
            .all_value(".*")
        )
    for title, panels in board.rows:
        one = one.with_row(built.Row(title))
        for panel in panels:
            one = one.with_panel(_panel(panel))
    return json.dumps(one.build(), cls=JSONEncoder, indent=1, sort_keys=True) + "\n"


def _panel(panel: Panel) -> Any:
    if panel.look is Look.WORDS:
        made = text.Panel().title(panel.title).mode(TextMode.MARKDOWN).content(panel.says)
        return made.span(panel.span).height(panel.height)
    made = {
        Look.NUMBER: _number,
        Look.LINES: _lines,
        Look.STACKED: _stacked,
        Look.BARS: _bars,
    }[panel.look]()
    made = made.title(panel.title).description(panel.says).unit(panel.unit).datasource(SOURCE)
    for place, (query, legend) in enumerate(panel.queries):
        target = prometheus.Dataquery().expr(query).legend_format(legend).ref_id(chr(65 + place))
        now = panel.look in (Look.NUMBER, Look.BARS)
        made = made.with_target(target.instant() if now else target.range())
    return made.span(panel.span).height(panel.height)


def _last() -> Any:
    return common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)


def _number() -> Any:
    return stat.Panel().reduce_options(_last()).graph_mode(words.BigValueGraphMode.NONE)


def _bars() -> Any:
    made = bargauge.Panel().reduce_options(_last()).min(0)
    return made.orientation(words.VizOrientation.HORIZONTAL)


def _lines() -> Any:
    legend = common.VizLegendOptions().show_legend(True)
    legend = legend.display_mode(words.LegendDisplayMode.LIST)
    legend = legend.placement(words.LegendPlacement.BOTTOM)
    return (
        timeseries.Panel()
        .legend(legend)
        .min(0)
        .fill_opacity(8)
        .show_points(words.VisibilityMode.NEVER)
    )


def _stacked() -> Any:
    made = common.StackingConfig().mode(words.StackingMode.NORMAL)
    return _lines().stacking(made).fill_opacity(40)

"""Panels of lines on logarithmic axes, as an SVG file, without a plotting library: the machine with
the GPU has none."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#1b6ca8", "#d1495b", "#2a9d5c", "#8e5bb5", "#e08e1b", "#4d4d4d", "#17a2b8", "#9c6644",
           "#6a8f1f", "#c2499d")
WIDTH, HEIGHT = 320, 230  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 30, 38  # its margins
LEGEND_ROW = 20


class Panel:
    """`lines`: name -> [(x, y), ...], all positive."""

    def __init__(self, title, x_label, y_label, lines):
        self.title, self.x_label, self.y_label = title, x_label, y_label
        self.lines = {name: sorted(points) for name, points in lines.items() if points}


def decades(values):
    """Whole powers of ten around the values, two different ones at least."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def label(power):
    return f"{10**power:g}" if -3 <= power <= 3 else f"1e{power}"


def text(x, y, content, size=10, anchor="middle", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{extra}>'
            f"{escape(content)}</text>")


def line(x1, y1, x2, y2, style):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def axes(panel, place, x_range, y_range):
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM
    parts = [text((left + right) / 2, 18, panel.title, 12),
             text((left + right) / 2, HEIGHT - 6, panel.x_label),
             text(14, (top + bottom) / 2, panel.y_label,
                  extra=f' transform="rotate(-90 14 {(top + bottom) / 2:.1f})"')]
    grid = 'stroke="#dddddd" stroke-width="1"'
    for power in range(x_range[0], x_range[1] + 1):
        x, _ = place(10**power, 10**y_range[0])
        parts += [line(x, top, x, bottom, grid), text(x, bottom + 14, label(power))]
    for power in range(y_range[0], y_range[1] + 1):
        _, y = place(10**x_range[0], 10**power)
        parts += [line(left, y, right, y, grid), text(left - 5, y + 3, label(power), anchor="end")]
    return parts


def curve(points, place, colour, dashed):
    at = [place(x, y) for x, y in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    dash = ' stroke-dasharray="5 3"' if dashed else ""
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>']
    if not dashed:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{colour}"/>' for x, y in at]
    return parts


def draw_panel(panel, colours, dashed):
    points = [point for line_ in panel.lines.values() for point in line_]
    x_range, y_range = (decades([p[axis] for p in points]) for axis in (0, 1))

    def place(x, y):
        across = (math.log10(x) - x_range[0]) / (x_range[1] - x_range[0])
        up = (math.log10(y) - y_range[0]) / (y_range[1] - y_range[0])
        return (LEFT + across * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM))

    parts = axes(panel, place, x_range, y_range)
    for name, line_ in panel.lines.items():
        parts += curve(line_, place, colours[name], name in dashed)
    return parts


def draw_legend(colours, dashed, width):
    parts, per_row = [], max(1, width // 200)
    for k, (name, colour) in enumerate(colours.items()):
        x, y = 20 + k % per_row * 200, 14 + k // per_row * LEGEND_ROW
        dash = ' stroke-dasharray="5 3"' if name in dashed else ""
        parts += [line(x, y, x + 24, y, f'stroke="{colour}" stroke-width="2.5"{dash}'),
                  text(x + 30, y + 4, name, 11, "start")]
    return parts, LEGEND_ROW * (1 + (len(colours) - 1) // per_row) + 8


def draw(title, panels, dashed=(), columns=3):
    """The whole picture; lines of one name have one colour in all panels."""
    panels = [panel for panel in panels if panel.lines]
    names = dict.fromkeys(name for panel in panels for name in panel.lines)
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}
    columns = max(1, min(columns, len(panels)))
    width = max(columns * WIDTH, 420)
    legend, legend_height = draw_legend(colours, dashed, width) if colours else ([], 0)
    top = 34 + legend_height
    height = top + -(-len(panels) // columns) * HEIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             text(width / 2, 20, title, 14), '<g transform="translate(0 34)">', *legend, "</g>"]
    for k, panel in enumerate(panels):
        x, y = k % columns * WIDTH, top + k // columns * HEIGHT
        parts += [f'<g transform="translate({x} {y})">', *draw_panel(panel, colours, dashed), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"

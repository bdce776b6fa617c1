"""Bars as SVG, readable on light and on dark ground."""

from html import escape

COLOURS = {"Safelight": "#d62828", "Pillow": "#4c78a8", "libvips": "#72a276", "thumbor": "#b09060"}


def bars(title, unit, groups):
    """`groups`: for each label the value of each service; the longest bar is the largest value."""
    most = max(value for _, values in groups for value in values.values())
    left, width, y, parts = 250, 420, 34, []
    for label, values in groups:
        parts.append(f'<text x="{left - 10}" y="{y + 8 * len(values) + 4}" text-anchor="end">{escape(label)}</text>')
        for service, value in values.items():
            length = max(1, width * value / most)
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="13" fill="{COLOURS[service]}"/>')
            parts.append(f'<text x="{left + length + 6:.1f}" y="{y + 11}" class="s">{value:.3g} {escape(service)}</text>')
            y += 16
        y += 12
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {y}" font-family="sans-serif" font-size="13">\n'
            "<style>text{fill:#222}.s{font-size:11px}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>\n"
            f'<text x="10" y="20" font-weight="bold">{escape(title)} ({escape(unit)})</text>\n'
            + "\n".join(parts) + "\n</svg>\n")


def line(title, points, horizontal, vertical):
    """`points` joined, both axes from 0."""
    most_x, most_y = (max(p[i] for p in points) for i in (0, 1))
    at = [(70 + 640 * x / most_x, 300 - 240 * y / most_y) for x, y in points]
    marks = "\n".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#d62828"/>'
        f'<text x="{x:.1f}" y="{y - 9:.1f}" class="s" text-anchor="middle">{value:.0f}</text>'
        f'<text x="{x:.1f}" y="318" class="s" text-anchor="middle">{name:g}</text>'
        for (x, y), (name, value) in zip(at, points))
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 345" font-family="sans-serif" font-size="13">\n'
            "<style>text{fill:#222}.s{font-size:11px}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>\n"
            f'<text x="10" y="20" font-weight="bold">{escape(title)}</text>\n'
            '<path d="M70 50V300H730" fill="none" stroke="#888"/>\n'
            f'<text x="10" y="44" class="s">{escape(vertical)}</text>\n'
            f'<text x="730" y="338" class="s" text-anchor="end">{escape(horizontal)}</text>\n'
            f'<polyline points="{path}" fill="none" stroke="#d62828" stroke-width="2"/>\n{marks}\n</svg>\n')

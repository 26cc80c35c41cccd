"""Draws the figures of a report as one page of HTML: shapes are SVG, stretched to the page; texts are HTML, so that they never shrink."""

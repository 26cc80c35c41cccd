"""Installed plugins: distributions of one module with one entry point, with the layout of pip."""


def install(folder, name, value, *, by="", source=None):
    """Write a distribution into a folder of the path.

    :param name: of the plugin.
    :param value: the module, or the module and an object of it: ``night:policy``.
    :param by: the name of the distribution.
    :param source: the module; None if it exists already, or is to be missing.
    """
    distribution = by or f"{name}-dist"
    info = folder / f"{distribution.replace('-', '_')}-1.2.3.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2.3\n")
    (info / "entry_points.txt").write_text(f"[negotiator]\n{name} = {value}\n")
    if source is not None:
        (folder / f"{value.split(':')[0]}.py").write_text(source)

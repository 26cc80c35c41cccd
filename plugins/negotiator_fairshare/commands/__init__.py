"""The commands of the plugin: how they are called, their options and their help. What they do is in ``negotiator_fairshare.userprio``.

A module here has one command, with the module's name, and imports what is run when it is run: help and completion are
quick.
"""

"""The language of resource quota sets: read with every problem at its place, printed as Grid Engine prints it."""

"""The daemon that HTCondor's tools and schedds connect to: its port, its commands, and who may send them."""

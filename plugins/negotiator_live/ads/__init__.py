"""The ads of this program at the collector: the Negotiator ad with the statistics of the last cycles, and Accounting ads."""

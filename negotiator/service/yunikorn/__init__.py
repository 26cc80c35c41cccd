"""YuniKorn's REST interface (``/ws/v1``): one module for each kind of answer, functions of one ``PoolOverview``.

Source: YuniKorn's documentation, "Scheduler REST API"; of its source (1.6), ``pkg/webservice/dao``: a key is absent where its value
is zero or empty, times are in nanoseconds since the epoch, amounts in the units of queues.yaml (memory in bytes, vcore in
thousandths), shares in percent.
"""

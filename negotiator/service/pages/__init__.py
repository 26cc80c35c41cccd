"""The pages of the service, for people: made on the server, from one ``PoolOverview``, without scripts.

``views`` turns an overview into plain records, ``templates`` has their HTML, ``routes`` sends it.
"""

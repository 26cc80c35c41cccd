"""The program's own HTTP interface, ``/api/v1``: one table of resources, from which the routes and the OpenAPI document are made."""

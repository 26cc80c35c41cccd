"""What each page shows: records of texts, links and bars, made of a ``PoolOverview``. Templates only place them."""

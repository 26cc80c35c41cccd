"""ClassAd values: their types, their text forms, and the operators on them."""

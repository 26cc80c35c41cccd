"""ClassAd syntax: lexer, parser, expression tree, and printing."""

"""The web application: a server of runs and their analyses, and of the pages that show them."""

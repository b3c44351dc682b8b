"""REST resources, one file for each; see RESOURCES in app.py."""

"""What the answers look like, for the OpenAPI document; the types follow the JSON of the commands."""

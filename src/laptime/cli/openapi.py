"""`laptime openapi`: the description of the REST interface."""

from __future__ import annotations


def command() -> None:
    """Print the OpenAPI document of the server that `open` and `start` run.

    \b
    Examples:
      laptime openapi > openapi.json
    """
    import json

    from laptime.web.app import document

    print(json.dumps(document(), indent=1, sort_keys=True, ensure_ascii=False))

"""Translates SAM templates to CloudFormation.

Reads a JSON list of templates and writes a JSON list of {"template": …} or {"error": "…"}, in the same order.
"""

import json
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "eu-west-1")

try:
    from samtranslator.model.exceptions import InvalidDocumentException
    from samtranslator.translator.transform import transform
except ImportError as e:
    sys.exit(f"aws-sam-translator is not installed ({e}): run make tools")


class NoManagedPolicies:
    """Policies are named by ARN or written out; no name is looked up."""

    def load(self):
        return {}


def translate(template):
    try:
        return {"template": transform(template, {}, NoManagedPolicies())}
    except InvalidDocumentException as e:
        return {"error": "; ".join(cause.message for cause in e.causes)}


json.dump([translate(t) for t in json.load(sys.stdin)], sys.stdout)

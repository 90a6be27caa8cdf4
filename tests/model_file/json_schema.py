"""As much of JSON Schema as ``docs/model.schema.json`` uses; anything else in a schema is an error here."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
NOTES = {"$schema", "$defs", "title", "description"}


def has_type(value, name):
    if name in ("number", "integer"):
        return not isinstance(value, bool) and isinstance(value, (int, float) if name == "number" else int)
    return isinstance(value, TYPES[name])


class Schema:
    def __init__(self, root):
        self.root = root

    def accepts(self, value, schema=None):
        schema = self.root if schema is None else schema
        return all(
            getattr(self, "_" + keyword.lstrip("$"))(value, argument, schema)
            for keyword, argument in schema.items()
            if keyword not in NOTES
        )

    def _ref(self, value, place, schema):
        return self.accepts(value, self.root["$defs"][place.removeprefix("#/$defs/")])

    def _oneOf(self, value, choices, schema):
        return sum(self.accepts(value, choice) for choice in choices) == 1

    def _type(self, value, names, schema):
        return any(has_type(value, name) for name in ([names] if isinstance(names, str) else names))

    def _const(self, value, expected, schema):
        return type(value) is type(expected) and value == expected

    def _enum(self, value, choices, schema):
        return any(self._const(value, choice, schema) for choice in choices)

    def _properties(self, value, properties, schema):
        return all(self.accepts(value[name], part) for name, part in properties.items() if name in value)

    def _required(self, value, names, schema):
        return all(name in value for name in names)

    def _additionalProperties(self, value, allowed, schema):
        assert allowed is False
        return set(value) <= set(schema["properties"])

    def _maxProperties(self, value, most, schema):
        return len(value) <= most

    def _items(self, value, part, schema):
        return all(self.accepts(entry, part) for entry in value)

    def _minItems(self, value, least, schema):
        return len(value) >= least

    def _maxItems(self, value, most, schema):
        return len(value) <= most

    def _minimum(self, value, least, schema):
        return value >= least

    def _maximum(self, value, most, schema):
        return value <= most

    def _exclusiveMinimum(self, value, bound, schema):
        return value > bound

    def _exclusiveMaximum(self, value, bound, schema):
        return value < bound

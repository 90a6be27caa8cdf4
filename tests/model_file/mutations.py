"""Damage to model files: of their bytes, and of what they say."""

import gzip
import json

PLACEHOLDER = "a place for deep nesting"
NUMBERS = (0, -1, 1, 2, 5, 40, 2**31, 2**63, 10**30, 10**5000, 0.5, 1.5, -0.0, 5e-324, 1e100, 1e308)
NUMBERS = (*NUMBERS, float("nan"), float("inf"), -float("inf"), 2**20, -3, 1e-300)
OTHERS = (None, True, False, "", "x", "\ud800", "nan", [], {}, [0], [[]], {"a": 1}, 0, 1.0)


def paths(value, here=()):
    """The place of every value, as keys and positions."""
    yield here
    if isinstance(value, (dict, list)):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(entry, (*here, key))


class Mutator:
    """Makes damaged copies of one model file."""

    def __init__(self, text):
        self.text = text
        document = json.loads(text)
        self.paths = [path for path in paths(document) if path]
        self.number_paths = [path for path in self.paths if type(self._at(document, path)) in (int, float)]
        self.list_paths = [path for path in self.paths if isinstance(self._at(document, path), list)]
        self.key_paths = [path for path in self.paths if isinstance(path[-1], str)]

    def mutated(self, rng):
        """The bytes of a file damaged once or a few times."""
        if rng.random() < 0.4:
            return rng.choice(BYTE_MUTATIONS)(self.text.encode(), rng)
        return rng.choice(DOCUMENT_MUTATIONS)(self, rng).encode(errors="surrogatepass")

    def _at(self, value, path):
        for key in path:
            value = value[key]
        return value

    def put(self, path, value):
        document = json.loads(self.text)
        self._at(document, path[:-1])[path[-1]] = value
        return document

    def change_type(self, rng):
        return json.dumps(self.put(rng.choice(self.paths), rng.choice(OTHERS)), ensure_ascii=rng.random() < 0.5)

    def change_number(self, rng):
        value = rng.choice((rng.choice(NUMBERS), rng.randint(-9, 9), rng.uniform(-2, 2)))
        if value == 10**5000:
            return json.dumps(self.put(rng.choice(self.number_paths), PLACEHOLDER)).replace(
                f'"{PLACEHOLDER}"', "9" * 5000
            )
        return json.dumps(self.put(rng.choice(self.number_paths), value))

    def nest(self, rng):
        depth = rng.choice((3, 50, 2000, 100_000))
        start, end = rng.choice((("[", "]"), ('{"a":', "}")))
        inner = rng.choice(("", "1", "null")) if start == "[" else "1"
        text = json.dumps(self.put(rng.choice(self.paths), PLACEHOLDER))
        return text.replace(f'"{PLACEHOLDER}"', start * depth + inner + end * depth)

    def remove(self, rng):
        path = rng.choice(self.paths)
        document = json.loads(self.text)
        del self._at(document, path[:-1])[path[-1]]
        return json.dumps(document)

    def rename(self, rng):
        *above, key = rng.choice(self.key_paths)
        document = json.loads(self.text)
        entry = self._at(document, above)
        entry[rng.choice((key + "x", key.upper(), "", "__class__"))] = entry.pop(key)
        return json.dumps(document)

    def repeat_key(self, rng):
        key = json.dumps(rng.choice(self.key_paths)[-1]) + ": "
        return self.text.replace(key, f"{key}{rng.choice(('null', '1', '[]'))}, {key}", 1)

    def change_length(self, rng):
        path = rng.choice(self.list_paths)
        entries = list(self._at(json.loads(self.text), path))
        change = rng.randrange(5)
        if change == 0:
            entries = entries[: rng.randint(0, len(entries))]
        elif change == 1 and entries:
            entries.insert(rng.randint(0, len(entries)), rng.choice(entries))
        elif change == 2:
            entries *= rng.choice((2, 50))
        elif change == 3:
            rng.shuffle(entries)
        else:
            entries.append(rng.choice(OTHERS))
        return json.dumps(self.put(path, entries))

    def swap(self, rng):
        document = json.loads(self.text)
        one, other = rng.choice(self.paths), rng.choice(self.paths)
        value = self._at(json.loads(self.text), other)
        self._at(document, one[:-1])[one[-1]] = value
        return json.dumps(document)


def flip_bits(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def change_digits(data, rng):
    data = bytearray(data)
    digits = [k for k, byte in enumerate(data) if 48 <= byte <= 57]
    for _ in range(rng.randint(1, 3)):
        data[rng.choice(digits)] = rng.choice(b"0123456789-.e")
    return bytes(data)


def cut(data, rng):
    return data[: rng.randrange(len(data))]


def drop(data, rng):
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randint(1, 200) :]


def double(data, rng):
    start = rng.randrange(len(data))
    end = start + rng.randint(1, 200)
    return data[:end] + data[start:end] + data[end:]


def compress(data, rng):
    damage = rng.choice((flip_bits, cut, lambda packed, rng: packed, lambda packed, rng: packed + packed))
    return damage(gzip.compress(data, 1, mtime=0), rng)


BYTE_MUTATIONS = (flip_bits, flip_bits, change_digits, change_digits, cut, drop, double, compress)
DOCUMENT_MUTATIONS = (
    Mutator.change_type,
    Mutator.change_number,
    Mutator.change_number,
    Mutator.nest,
    Mutator.remove,
    Mutator.rename,
    Mutator.repeat_key,
    Mutator.change_length,
    Mutator.swap,
)

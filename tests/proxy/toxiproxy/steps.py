"""Requests in a row, which toxiproxy and barnabas are to answer alike: method, path, body, user agent.

`{a}` to `{m}` stand for ports that are free.
"""

from __future__ import annotations

BROWSER = "Mozilla/5.0"

PORTS = "abcdefghijklm"

Step = tuple[str, str] | tuple[str, str, bytes] | tuple[str, str, None, str]


def each(method: str, path: str, *bodies: bytes) -> list[Step]:
    """Send bodies to one path, one after the other."""
    return [(method, path, body) for body in bodies]


STEPS: tuple[Step, ...] = (
    ("GET", "/version"), ("GET", "/proxies"), ("GET", "/nope"), ("DELETE", "/proxies"), ("GET", "/reset"),
    ("HEAD", "/proxies"), ("GET", "/proxies/"), ("GET", "/proxies", None, BROWSER),
    ("GET", "/nope", None, BROWSER),
    *each("POST", "/proxies",
        b"", b"   ", b"{", b'{"name"', b'{"name":', b'{"name":"a"', b"x", b"{x", b'{"a" 1}', b'{"a":1 2}',
        b"[1 2]", b"tru}", b"nul", b'{"a":"\x01"}', b'{"a":"\\q"}', b'{"a":"\\u12g4"}', b'{"a":01}',
        b'{"a":1.}', b'{"a":1e}', b'{"a":-}', b'{"a":-x}', b'{"a":.5}', b'{"a":NaN}', b"{'a':1}",
        b'{"a":1,}', b"[1,]", b'"s"', b"1", b"null", b"true", b"[]", b"{}", b'{"name":1}',
        b'{"name":"a","upstream":2}', b'{"name":"a","upstream":"b:1","enabled":"yes"}',
        b'{"name":"a","upstream":"b:1","enabled":1.5}', b'{"name":{"a":1}}', b'{"name":[1]}',
        b'{"name":true}', b'{"name":null}', b'{"name":"a"}', b'{"name":"a","upstream":""}',
        b'{"name":"a","upstream":"b:1","listen":"local373"}',
        b'{"name":"a","upstream":"b:1","listen":"1:2:3"}',
        b'{"name":"a","upstream":"b:1","listen":"127.0.0.1:99999"}',
        b'{"name":"a","upstream":"b:1","listen":"127.0.0.1:abc"}',
        b'{"name":"a","upstream":"b:1","listen":"192.0.2.1:1"}',
        b'{"name":"a","upstream":"b:1","listen":"127.0.0.1:-1"}',
        b'{"name":"a","upstream":"b:1","listen":"[::1:1"}',
        b'{"name":"a","upstream":"b:1","listen":"[::1]x:1"}',
        b'{"name":"a","upstream":"b:1","listen":"::1:1"}', b'{"name":"a","upstream":"b:1","listen":"["}',
        b'{"name":"a","upstream":"b:1","listen":"[::1]"}', b'{"name":"a","upstream":"b:1","listen":"a]:1"}',
        b'{"name":"a","upstream":"b:1","listen":"localhost:"}',
        b'{"name":"p0","upstream":"b:1","listen":""}', b'{"name":"p1","upstream":"b:1","listen":":{a}"}',
        b'{"name":"p2","upstream":"b","listen":"0.0.0.0:{b}"}',
        b'{"name":"p3","upstream":"b:1","listen":"localhost:{c}","enabled":false}',
        b'{"NAME":"p4","Upstream":"b<>&:1 \xc3\xa9\xe2\x80\xa8","LISTEN":"localhost:{d}","toxics":[1]} and',
        b'{"name":"p4","upstream":"x:1"}', b'{"name":"p5","upstream":"x:1","listen":"localhost:{d}"}',
        b'{"name":"p6/x y","upstream":"x:1","listen":"[::1]:{e}"}',
        b'{"name":"p7","name":"p8","upstream":"x:1","listen":"127.0.0.1:{f}"}',
        b'{"name":"p9\\ud800x","upstream":"x:1","listen":"127.0.0.1:{g}"}',
        b'{"name":"\xff\xfe","upstream":"x:1","listen":"127.0.0.1:{h}","enabled":false}', b'{"name":"\xff',
        b"\xef\xbb\xbf{}", b"\xc3\xa9", b'{"a":"\x7f\x00'),
    ("GET", "/proxies"), ("GET", "/proxies/p6%2Fx%20y"), ("GET", "/proxies/p6/x%20y"),
    ("GET", "/proxies/zz"), ("GET", "/proxies/p3"),
    *each("PATCH", "/proxies/p3",
        b"", b'{"enabled":true}', b'{"enabled":true}', b'{"enabled":false}', b'{"enabled":null}',
        b'{"listen":"local"}', b'{"upstream":"y:2"}', b'{"upstream":""}', b'{"name":"other"}',
        b'{"enabled":true,"listen":"127.0.0.1:{d}"}', b'{"enabled":true,"listen":"127.0.0.1:{i}"}', b"[]",
        b'{"listen":""}', b'{"listen":"localhost:-1"}', b'{"listen":"localhost:xyz"}',
        b'{"listen":"localhost:99999"}'),
    ("POST", "/proxies/p3", b'{"enabled":true,"listen":"localhost:{c}"}'), ("PATCH", "/proxies/zz", b"x"),
    ("PUT", "/proxies/p3", b"{}"),
    *each("POST", "/proxies/p3/toxics",
        b"", b"{}", b"null", b"[]", b'{"type":"latency"}', b'{"type":"latency"}',
        b'{"type":"latency","stream":"Upstream"}', b'{"type":"latency","stream":"sideways"}',
        b'{"type":"latency","stream":""}', b'{"type":"nope"}', b'{"type":"Latency"}', b'{"type":1}',
        b'{"type":"noop"}', b'{"name":"j","type":"latency","toxicity":"x"}',
        b'{"name":"j","type":"latency","toxicity":1e400}',
        b'{"name":"j0","type":"latency","toxicity":0.1,"attributes":{"latency":100,"jitter":"x"}}',
        b'{"name":"j1","type":"latency","toxicity":0.1,"attributes":{"latency":1.5}}',
        b'{"name":"j2","type":"latency","toxicity":0.1,"attributes":{"latency":1e3}}',
        b'{"name":"j3","type":"latency","toxicity":0.3333333333,"attributes":{"LATENCY":3,"other":[1]}}',
        b'{"name":"j4","type":"latency","toxicity":-2,"attributes":null}',
        b'{"name":"j5","type":"latency","toxicity":1e-7,"attributes":{}}',
        b'{"name":"j6","type":"latency","toxicity":1e22,"attributes":{"latency":-5}}',
        b'{"name":"j7","type":"latency","attributes":"x"}',
        b'{"name":"j8","type":"latency","attributes":[]}',
        b'{"name":"j9","type":"latency","attributes":{"latency":99999999999999999999}}',
        b'{"name":"j10","type":"latency","toxicity":123456.789,'
        b'"attributes":{"latency":9223372036854775807}}',
        b'{"type":"bandwidth","attributes":{"rate":5}}', b'{"type":"slow_close","attributes":{"delay":5}}',
        b'{"type":"timeout","attributes":{"timeout":5}}',
        b'{"type":"reset_peer","attributes":{"timeout":5}}',
        b'{"type":"slicer","attributes":{"average_size":5,"size_variation":1,"delay":2}}',
        b'{"type":"limit_data","attributes":{"bytes":5}}',
        b'{"name":"a/b","type":"limit_data","stream":"upstream"}',
        b'{"name":"x","type":"latency","attributes":{"latency":true}}',
        b'{"name":"x","type":"latency","attributes":{"latency":null}}',
        b'{"name":"y","type":"latency","stream":null,"toxicity":null}',
        b'{"name":"z","type":"latency","stream":3}',
        b'{"type":"slicer","name":"s2","attributes":{"average_size":-1.0}}',
        b'{"type":"latency","name":5,"attributes":{"latency":"q"}}',
        b'{"name":"big","type":"latency","toxicity":3.5e38}',
        b'{"name":"t6","type":"latency","toxicity":0.000001}',
        b'{"name":"t7","type":"latency","toxicity":-0}', b'{"name":"t8","type":"latency","toxicity":1e-50}'),
    ("POST", "/proxies/zz/toxics", b"x"), ("GET", "/proxies/zz/toxics"), ("GET", "/proxies/p3/toxics"),
    ("GET", "/proxies/p3/toxics/nope"), ("GET", "/proxies/p3/toxics/j3"),
    ("DELETE", "/proxies/p3/toxics/nope"), ("DELETE", "/proxies/zz/toxics/j3"),
    *each("PATCH", "/proxies/p3/toxics/j3",
        b"", b"x", b'{"attributes":{"latency":7}}', b'{"toxicity":0.5}', b'{"toxicity":"x"}',
        b'{"attributes":null}', b'{"attributes":5}', b'{"name":"q","type":"bandwidth","stream":"upstream"}',
        b"[]", b'{"toxicity":null,"attributes":{"latency":null}}'),
    ("POST", "/proxies/p3/toxics/j3", b'{"attributes":{"latency":70}}'),
    ("PATCH", "/proxies/p3/toxics/zz", b"x"), ("PATCH", "/proxies/zz/toxics/zz", b"x"),
    ("PUT", "/proxies/p3/toxics/j2", b"{}"), ("GET", "/proxies/p3"), ("POST", "/reset"),
    ("GET", "/proxies/p3"),
    *each("POST", "/populate",
        b"", b"{}", b"null", b"[]", b"[{}]", b'[{"name":"a"}]',
        b'[{"name":"a","upstream":"b:1"},{"upstream":"x"}]',
        b'[{"name":"a","listen":"localhost:{j}","upstream":"b:1"},{"name":"b","listen":"local",'
        b'"upstream":"b:1"},{"name":"c","listen":"localhost:{k}","upstream":"b:1"}]',
        b'[{"name":"a","listen":"localhost:{j}","upstream":"b:1","enabled":null}]',
        b'[{"name":"a","listen":"127.0.0.1:{j}","upstream":"b:2","enabled":false}]',
        b'[{"name":"a","listen":"127.0.0.1:{j}","upstream":"b:2","enabled":true}]',
        b'[{"name":"b","listen":"127.0.0.1:{d}","upstream":"b:2","enabled":true}]',
        b'[{"name":"a","listen":"local","upstream":"b:2"}]', b'[{"name":1}]', b"[1]",
        b'[{"name":"q","upstream":"u","enabled":"x"}]',
        b'[{"name":"a","upstream":"b:1","listen":"127.0.0.1:{l}"},{"name":"a","upstream":"b:1",'
        b'"listen":"127.0.0.1:{m}"}]'),
    ("GET", "/proxies"), ("DELETE", "/proxies/p3"), ("DELETE", "/proxies/p3"), ("POST", "/reset", b"x"),
    ("OPTIONS", "/proxies"), ("GET", "/proxies?x=1"), ("POST", "/populate", b'[{"name":"a",'),
)  # fmt: skip

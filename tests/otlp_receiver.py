"""Takes one message of OTLP metrics over HTTP, as a collector does, and says what is in it: `otlp_receiver.py`. Prints its port first; then a line of JSON: what is wrong by OTLP's
own rules (empty: nothing), and sums by metric. It shares nothing with the writer."""
import http.server
import json

COUNTS = {"asInt", "asDouble"}


def wrong_with(metric):
    kinds = [kind for kind in ("sum", "gauge", "histogram") if kind in metric]
    if len(kinds) != 1 or not metric.get("name"):
        return f"{metric.get('name')}: is of {len(kinds)} kinds"
    data = metric[kinds[0]]
    if kinds[0] != "gauge" and data.get("aggregationTemporality") != 2:
        return f"{metric['name']}: is not cumulative"
    for point in data["dataPoints"]:
        if int(point["startTimeUnixNano"]) > int(point["timeUnixNano"]):
            return f"{metric['name']}: ends before it begins"
        if kinds[0] != "histogram" and len(COUNTS & set(point)) != 1:
            return f"{metric['name']}: has no one value"
        if kinds[0] == "histogram" and (len(point["bucketCounts"]) != len(point["explicitBounds"]) + 1 or sum(map(int, point["bucketCounts"])) != int(point["count"])
                                        or sorted(point["explicitBounds"]) != point["explicitBounds"]):
            return f"{metric['name']}: its buckets are not as they should be"
    return ""


class Receiver(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        resource = body["resourceMetrics"][0]
        metrics = resource["scopeMetrics"][0]["metrics"]
        sums = {metric["name"]: sum(float(point.get("asInt", point.get("asDouble", point.get("count")))) for kind in ("sum", "gauge", "histogram") if kind in metric
                                    for point in metric[kind]["dataPoints"]) for metric in metrics}
        print(json.dumps({"path": self.path, "type": self.headers["Content-Type"], "wrong": [found for found in map(wrong_with, metrics) if found], "sums": sums,
                          "resource": {one["key"]: one["value"]["stringValue"] for one in resource["resource"]["attributes"]}}), flush=True)
        answer = b"{}"
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()

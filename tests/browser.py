"""A real browser for tests: Debian's Chromium without a window, driven over WebDriver by nothing but the standard library.
`with Browser(folder) as page: page.open(url)`; it looks nothing up in the network, and leaves nothing but in that folder."""
import base64
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps", "--disable-dev-shm-usage",
         "--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--force-device-scale-factor=1"]
PATIENCE = 120  # seconds, for a machine that is busy with other things


class Browser:
    def __init__(self, folder, width=1280, height=900, dark=False):
        self.folder = folder
        self.flags = FLAGS + [f"--window-size={width},{height}", "--user-data-dir=" + os.path.join(folder, "profile")]
        if dark:
            self.flags.append("--blink-settings=preferredColorScheme=0")

    def __enter__(self):
        self.log = open(os.path.join(self.folder, "driver.log"), "w+", encoding="utf-8")
        environment = {**os.environ, "HOME": self.folder, "TMPDIR": self.folder}
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=self.log, stderr=subprocess.STDOUT, env=environment,
                                       start_new_session=True)
        try:
            self.wait_for_driver()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_for_driver(self):
        end = time.monotonic() + PATIENCE
        port = None
        while not port:
            with open(self.log.name, encoding="utf-8", errors="replace") as log:
                port = re.search(r"started successfully on port (\d+)", log.read())
            assert self.driver.poll() is None and time.monotonic() < end, "chromedriver did not start"
            time.sleep(0.05)
        self.base = f"http://127.0.0.1:{port[1]}"
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": self.flags, "binary": "/usr/bin/chromium"},
                  "goog:loggingPrefs": {"browser": "ALL"}}
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += "/session/" + made["sessionId"]

    def __exit__(self, *_):
        try:
            self.ask("DELETE", "")
        except (OSError, AttributeError):
            pass
        self.driver.terminate()
        try:
            self.driver.wait(20)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.log.close()

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition, *arguments):
        """Until the script's expression is true; what it is then."""
        end = time.monotonic() + PATIENCE
        while True:
            value = self.run("return " + condition, *arguments)
            if value:
                return value
            assert time.monotonic() < end, f"'{condition}' did not become true"
            time.sleep(0.05)

    def console(self):
        """What the page has complained of since the last time."""
        return [f'{entry["level"]}: {entry["message"]}' for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def devtools(self, command, **params):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def spent_ms(self):
        """CPU time of the page's thread since its beginning, of which another's load takes nothing."""
        self.devtools("Performance.enable", timeDomain="threadTicks")
        return 1000 * next(one["value"] for one in self.devtools("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration")

    def size(self, width, height):
        self.ask("POST", "/window/rect", {"width": width, "height": height})

    def picture(self, path, whole=False):
        if whole:
            tall = self.run("return document.documentElement.scrollHeight")
            wide = self.run("return innerWidth")
            self.size(wide, min(tall + 200, 16000))
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def pdf(self, path):
        """On paper."""
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.ask("POST", "/print", {"background": True})))

    def keys(self, text):
        """Typed into what has the focus."""
        actions = [step for key in text for step in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "key", "actions": actions}]})

    def drag(self, points, holding=""):
        """The mouse goes to the first of the points, is pressed, goes to the others and is let go; `holding`: a key that is down meanwhile."""
        to = [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)} for x, y in points]
        actions = [to[0], {"type": "pointerDown", "button": 0}, *to[1:], {"type": "pointerUp", "button": 0}]
        if holding:
            self.act("key", [{"type": "keyDown", "value": holding}])
        self.act("pointer", actions)
        if holding:
            self.act("key", [{"type": "keyUp", "value": holding}])

    def act(self, kind, actions):
        """Of one mouse, one wheel and one keyboard, which stay as they are from one call to the next."""
        self.ask("POST", "/actions", {"actions": [{"type": kind, "id": kind, "actions": actions, **({"parameters": {"pointerType": "mouse"}} if kind == "pointer" else {})}]})

    def click(self, x, y, times=1):
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.act("pointer", [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}, *press * times])

    def wheel(self, x, y, down):
        self.act("wheel", [{"type": "scroll", "duration": 0, "x": int(x), "y": int(y), "deltaX": 0, "deltaY": down}])

    def hover(self, x, y):
        self.act("pointer", [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}])

    def prefers(self, scheme):
        """What the page is told of the desktop's colours: light, dark, or "" for what it has."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])


def check(name, held, seen=""):
    print(f"ok\t{name}" if held else f"no\t{name}\t{str(seen)[:600]}", flush=True)


def same(name, got, want):
    check(name, got == want, f"got {got}, want {want}")

"""A slow web server on loopback, to try a cache in front of: python3 examples/slow-origin.py PORT

/N, for any number N, takes 20 ms to 500 ms to answer, always the same for one N, and is fresh for a minute.
"""

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Slow(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        number = int(self.path.lstrip("/") or 0)
        time.sleep((20 + number * 7919 % 481) / 1000)
        body = f"This is {number}.\n".encode()
        self.send_response(200)
        self.send_header("Cache-Control", "max-age=60")
        self.send_header("ETag", f'"{number}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


class Server(ThreadingHTTPServer):
    # Connections that wait to be taken: more than the herds of a test.
    request_queue_size = 1024


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Slow).serve_forever()

// Lets the search run where pages are opened from a disk. Browsers then refuse workers, so the script of a worker runs in a hidden frame instead.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      this.heard = (event) => {
        if (event.source !== inside) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      };
      addEventListener("message", this.heard);
      // What a worker has and a page does not. Messages of the frame go to the page around it.
      const url = new URL(script, location.href).href.replaceAll('"', "%22");
      inside.document.open();
      inside.document.write(`<!doctype html><body><script>
        postMessage = (data) => parent.dispatchEvent(new MessageEvent("message", { data, source: window }));
        importScripts = async (...urls) => {
          for (const url of urls) {
            await new Promise((resolve, reject) => {
              const script = document.createElement("script");
              Object.assign(script, { src: url, onload: resolve, onerror: reject });
              document.body.append(script);
            });
          }
        };
      </script><script src="${url}"></script></body>`);
      inside.document.close();
      this.ready = new Promise((resolve) => inside.addEventListener("load", resolve));
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      removeEventListener("message", this.heard);
      this.frame.remove();
    }
  };
}

// A page that is opened as a file may start no worker; this one runs the search in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      // messages arrive later, as those of a worker do, and are copies in the world of who receives them
      frame.contentWindow.postMessage = (sent) => {
        const data = structuredClone(sent);
        setTimeout(() => this.onmessage?.(new MessageEvent("message", { data })));
      };
      const script = frame.contentDocument.createElement("script");
      script.src = new URL(url, location.href).href;
      this.ready = new Promise((resolve, reject) => {
        script.onload = resolve;
        script.onerror = reject;
      });
      this.ready.catch(() => this.onerror?.(new ErrorEvent("error", { cancelable: true })));
      frame.contentDocument.body.append(script);
    }
    postMessage(sent) {
      const inside = this.frame.contentWindow;
      const data = inside.structuredClone(sent);
      this.ready.then(() => inside.onmessage(new inside.MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}

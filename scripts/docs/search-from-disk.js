// The theme's search fetches its index and starts a worker; browsers allow neither on pages that were
// opened from disk. There the index comes from a script instead, and the worker's code runs in a frame.
if (location.protocol === "file:") {
  const root = document.currentScript.dataset.root;
  let found;
  window.__search = { index: new Promise((resolve) => (found = resolve)) };
  window.search_index = (index) => found(index); // called by search_index.js
  const script = document.createElement("script");
  script.src = `${root}/search/search_index.js`;
  document.head.append(script);

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = `<script>
        window.postMessage = (data) => parent.dispatchEvent(new CustomEvent("worker-says", { detail: data }));
        </script><script src="${url}"></script>`;
      this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      document.body.append(this.frame);
      window.addEventListener("worker-says", (event) =>
        this.dispatchEvent(new MessageEvent("message", { data: event.detail })));
    }
    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }
  };
}

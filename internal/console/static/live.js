// Follows calls as they come, and copies the command that sends one.
(() => {
  "use strict";
  const most = 500; // rows that are kept
  let stream = null;
  let paused = false;

  const find = (id) => document.getElementById(id);
  const say = (text) => { find("live-state").textContent = text; };

  function close() {
    if (stream) stream.close();
    stream = null;
  }

  function follow() {
    close();
    stream = new EventSource(find("live").dataset.stream);
    stream.addEventListener("open", () => say("Following."));
    stream.addEventListener("calls", (e) => insert(e.data));
    stream.addEventListener("counts", (e) => { find("live-counts").innerHTML = e.data; }); // escaped by the server, as the rows are
    stream.addEventListener("over", () => { close(); location.reload(); });
    stream.addEventListener("error", () => {
      say(stream.readyState === EventSource.CLOSED ? "Calls can't be followed: load the page once more." : "The process does not answer, retrying.");
    });
  }

  // insert puts rows above the others, but those that are there.
  function insert(html) {
    const rows = find("live-rows");
    const fresh = document.createElement("tbody");
    fresh.innerHTML = html;
    rows.prepend(...[...fresh.children].filter((row) => !find(row.id)));
    while (rows.children.length > most && !rows.lastElementChild.contains(document.activeElement)) {
      rows.lastElementChild.remove();
    }
  }

  function pauseOrFollow(button) {
    paused = !paused;
    button.textContent = paused ? "Follow" : "Pause";
    if (paused) {
      close();
      say("Paused: nothing is refreshed.");
    } else if (document.querySelector(".asking")) {
      location.reload();
    } else {
      follow();
    }
  }

  async function copy() {
    const command = find("curl");
    try {
      await navigator.clipboard.writeText(command.textContent);
    } catch { // not allowed, or the page is neither of this machine nor over TLS
      getSelection().selectAllChildren(command);
      document.execCommand("copy");
    }
    find("copied").textContent = "Copied.";
  }

  function begin() {
    if (find("live")) {
      find("live-off").hidden = true;
      if (document.querySelector(".asof")) document.querySelector(".asking")?.remove();
      find("live-follow").hidden = false;
      if (!paused) follow();
    }
    if (find("copy")) find("copy").hidden = false;
  }

  document.addEventListener("click", (e) => {
    if (e.target.id === "live-follow") pauseOrFollow(e.target);
    if (e.target.id === "copy") copy();
  });
  // A page that waits for its answer fetches itself: not while it is paused, and what was asked
  // for before is not put in its place. Nor does one that has calls, to which the stream adds.
  for (const name of ["htmx:beforeRequest", "htmx:beforeSwap"]) {
    document.addEventListener(name, (e) => {
      if (paused || (find("live") && document.querySelector(".asof"))) e.preventDefault();
    });
  }
  document.addEventListener("htmx:afterSettle", begin);
  begin();
})();

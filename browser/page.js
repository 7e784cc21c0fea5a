// The form, and what comes of it. The command itself runs in worker.js.

const at = id => document.getElementById(id);
const [form, log, drop, progress, outcome] = ["form", "log", "drop", "progress", "outcome"].map(at);

// The command, compiled while the reader fills in the form.
const command = unpacked(at("command").textContent).then(bytes => WebAssembly.compile(bytes));
command.catch(error => fail(`This browser cannot run the command: ${error.message}`));
const worker = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));
let running = null;

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

function flags() {
  const given = ["latency", "capacity", "policies"].map(name => [name, form.elements[name].value.trim()]);
  return given.flatMap(([name, value]) => (value === "" ? [] : [`--${name}`, value]));
}

// Runs the command on a file, or on the sample.
async function run(file) {
  stop();
  at("answer").replaceChildren();
  at("report").replaceChildren();
  outcome.hidden = true;
  busy(true);
  show({ at: "Starting", share: 0 });
  const began = performance.now();
  const mine = (running = new Worker(worker));
  const module = await command;
  if (mine !== running) return;
  mine.onmessage = ({ data }) => {
    if (data.files === undefined) return show(data);
    stop();
    if (data.status === 0) succeed(file?.name ?? "the sample", data, (performance.now() - began) / 1000);
    else fail(data.wrong.trim());
  };
  mine.onerror = event => {
    stop();
    fail(`The command broke off: ${event.message}`);
  };
  mine.postMessage({ module, log: file, flags: flags() });
}

function stop() {
  running?.terminate();
  running = null;
  busy(false);
}

function busy(is) {
  progress.hidden = !is;
}

function show({ at: what, share }) {
  at("step").textContent = `${what}: ${Math.floor(share * 100)}%`;
  at("bar").value = share;
}

function fail(why) {
  const line = document.createElement("p");
  line.className = "wrong";
  line.textContent = why;
  at("answer").replaceChildren(line);
  outcome.hidden = false;
}

function succeed(name, { said, files }, seconds) {
  // The last line says in which folder the report is.
  const lines = said.split("\n").filter(line => line !== "" && !line.startsWith("Report: "));
  const paragraphs = lines.map((line, index) => {
    const paragraph = document.createElement(index === 0 ? "h2" : "p");
    paragraph.textContent = line;
    return paragraph;
  });
  const facts = document.createElement("p");
  facts.className = "facts";
  facts.textContent = `Read ${name} and wrote the report in ${seconds.toFixed(1)} s. `;
  facts.append(link("index.html", files, "Download the report"), " · ");
  facts.append(link("report.json", files, "its numbers as JSON"));
  at("answer").replaceChildren(...paragraphs, facts);
  at("report").replaceChildren(frame(files));
  outcome.hidden = false;
  outcome.scrollIntoView({ behavior: "smooth" });
}

const types = { html: "text/html", json: "application/json", svg: "image/svg+xml", csv: "text/csv" };

// What saves a file of the report.
function link(name, files, text) {
  const found = files.find(([other]) => other === name);
  const link = document.createElement("a");
  link.download = name === "index.html" ? "report.html" : name;
  link.href = URL.createObjectURL(new Blob([found[1]], { type: types[name.split(".").pop()] }));
  link.textContent = text;
  return link;
}

// The report as it is, without scripts.
function frame(files) {
  const frame = document.createElement("iframe");
  frame.title = "The report";
  // So that its height can be asked for. It is still not allowed to run anything.
  frame.sandbox = "allow-same-origin";
  frame.srcdoc = new TextDecoder().decode(files.find(([name]) => name === "index.html")[1]);
  frame.onload = () => {
    const page = frame.contentDocument;
    const fit = () => (frame.style.height = `${page.documentElement.offsetHeight}px`);
    new ResizeObserver(fit).observe(page.body);
    fit();
    // Its links lead into itself, and to files that it expects beside it.
    page.onclick = event => {
      const target = event.target.closest?.("a[href]")?.getAttribute("href");
      if (!target) return;
      event.preventDefault();
      if (target.startsWith("#")) page.getElementById(target.slice(1))?.scrollIntoView();
      else if (files.some(([name]) => name === target)) link(target, files, "").click();
    };
  };
  return frame;
}

function chosen() {
  return log.files[0];
}

form.onsubmit = event => {
  event.preventDefault();
  if (chosen()) run(chosen());
  else fail("Choose a log first, or try the sample.");
};
at("sample").onclick = () => form.reportValidity() && run();
at("stop").onclick = stop;
log.onchange = () => {
  drop.querySelector("span").textContent = chosen()?.name ?? "";
  if (chosen() && form.reportValidity()) run(chosen());
};
// A log may be dropped anywhere.
document.ondragover = event => {
  event.preventDefault();
  drop.classList.add("over");
};
document.ondragleave = () => drop.classList.remove("over");
document.ondrop = event => {
  event.preventDefault();
  drop.classList.remove("over");
  if (event.dataTransfer.files.length === 0) return;
  log.files = event.dataTransfer.files;
  log.onchange();
};

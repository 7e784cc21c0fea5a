// Loads the page in a headless Chromium, hands it a log as a reader would, and prints what it shows, as JSON.
//
// node drive.mjs PAGE.html LOG [NAME=VALUE...]: the values are what is filled in. Without a log (`-`) the sample is tried.
// CHROMIUM is the browser's command.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const PATIENCE = 120_000;
const [page, log, ...values] = process.argv.slice(2);

const profile = mkdtempSync(join(tmpdir(), "trueplane-browser-"));
const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", `--user-data-dir=${profile}`];
const browser = spawn(process.env.CHROMIUM ?? "chromium", flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [, , , orders, answers] = browser.stdio;

// Chromium's protocol: JSON, each message ended by a zero.
const waiting = new Map();
const logged = [];
const asked = [];
let session;
let count = 0;
let pending = "";
answers.setEncoding("utf8");
answers.on("data", text => {
  const messages = (pending + text).split("\0");
  pending = messages.pop();
  for (const { id, method, params, result, error } of messages.map(message => JSON.parse(message))) {
    if (id) waiting.get(id)(error ? Promise.reject(new Error(error.message)) : result);
    else if (method === "Log.entryAdded") logged.push(params.entry.text);
    else if (method === "Runtime.exceptionThrown") logged.push(params.exceptionDetails.exception?.description);
    else if (method === "Network.requestWillBeSent") asked.push(params.request.url);
  }
});

function order(method, params = {}) {
  const id = ++count;
  orders.write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
  return new Promise(done => waiting.set(id, done));
}

async function evaluate(expression) {
  const { result, exceptionDetails } = await order("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

async function until(condition) {
  while (!(await evaluate(condition))) await new Promise(done => setTimeout(done, 20));
}

async function run() {
  const { targetId } = await order("Target.createTarget", { url: "about:blank" });
  ({ sessionId: session } = await order("Target.attachToTarget", { targetId, flatten: true }));
  for (const domain of ["Log", "Runtime", "Network", "Page", "DOM"]) await order(`${domain}.enable`);
  await order("Page.navigate", { url: pathToFileURL(resolve(page)).href });
  await until(`document.readyState === "complete" && document.forms.length === 1`);
  for (const value of values) {
    const [name, text] = value.split("=");
    await evaluate(`document.forms[0].elements[${JSON.stringify(name)}].value = ${JSON.stringify(text)}`);
  }
  // Once it is compiled, only the run takes time.
  await evaluate("command.then(() => 0)").catch(() => {});
  if (log === "-") {
    await evaluate(`document.getElementById("sample").click()`);
  } else {
    const { root } = await order("DOM.getDocument");
    const { nodeId } = await order("DOM.querySelector", { nodeId: root.nodeId, selector: "#log" });
    await order("DOM.setFileInputFiles", { nodeId, files: [resolve(log)] });
  }
  await until(`!document.getElementById("outcome").hidden`);
  const shown = await evaluate(`({
    lines: [...document.querySelectorAll("#answer > *")].map(line => line.textContent),
    wrong: document.querySelector(".wrong")?.textContent ?? null,
  })`);
  if (shown.wrong === null) {
    await until(`document.querySelector("iframe")?.contentDocument?.querySelector("h1")`);
    const frame = `document.querySelector("iframe").contentDocument`;
    shown.headline = await evaluate(`${frame}.querySelector("h1").textContent`);
    shown.tables = await evaluate(`${frame}.querySelectorAll("table").length`);
    shown.height = await evaluate(`document.querySelector("iframe").offsetHeight`);
  }
  const connected = asked.filter(url => !/^(file|blob|data|about):/.test(url));
  return { ...shown, logged, connected };
}

const ended = new Promise(done => browser.on("exit", done));
const late = setTimeout(() => {
  console.error(`nothing was shown within ${PATIENCE / 1000} s`);
  browser.kill("SIGKILL");
  process.exit(1);
}, PATIENCE);
try {
  console.log(JSON.stringify(await run(), null, 2));
} finally {
  clearTimeout(late);
  browser.kill();
  await ended;
  rmSync(profile, { recursive: true, force: true });
}

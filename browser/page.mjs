// Writes the page: node page.mjs COMMAND.wasm VERSION PAGE.html [LICENCES.txt]. index.html has places in braces for what is put into it.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";

const [command, version, page, licences] = process.argv.slice(2);
const read = name => readFileSync(new URL(name, import.meta.url), "utf8");

const shim = `@bjorn3/browser_wasi_shim\n${read("node_modules/@bjorn3/browser_wasi_shim/LICENSE-MIT").trim()}\n`;
const escaped = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function script(name) {
  const options = { bundle: true, minify: true, write: false, legalComments: "none" };
  const built = buildSync({ ...options, absWorkingDir: fileURLToPath(new URL(".", import.meta.url)), entryPoints: [name], logLevel: "warning" });
  return built.outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
}

const source = script("page.js");
const parts = {
  "style.css": read("style.css"),
  "version": version,
  "licences": escaped(`${licences ? readFileSync(licences, "utf8") : "This page was built without the licences of the Rust libraries in it: `make dist` adds them.\n"}\n${shim}`),
  "hash of the script": `sha256-${createHash("sha256").update(source).digest("base64")}`,
  "the command: gzip, base64": gzipSync(readFileSync(command), { level: 9 }).toString("base64"),
  "worker.js": script("worker.js"),
  "page.js": source,
};
const places = new RegExp(`\\{(${Object.keys(parts).join("|")})\\}`, "g");
writeFileSync(page, read("index.html").replace(places, (_, name) => parts[name]));

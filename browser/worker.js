// Runs the command once, beside the page, on files in memory, and hands over what it printed and wrote.
//
// The page sends { module, log, flags }. It gets { at, share } while the log is read, and { status, said, wrong, files } at the end.

import { Directory, Fd, File, Inode, OpenFile, PreopenDirectory, WASI, wasi as codes } from "@bjorn3/browser_wasi_shim";

// So much of a log is in memory at a time.
const PIECE = 1 << 20;
// Milliseconds between two messages about progress.
const PAUSE = 50;
const SAMPLE = "examples/cdn-200k.csv.zst";

// A file of the reader's, of which pieces are read from the disk when the command asks for them.
class Log extends Inode {
  constructor(blob) {
    super();
    this.blob = blob;
    this.reader = new FileReaderSync();
    this.start = 0;
    this.piece = new Uint8Array();
    // How often the end was reached.
    this.passes = 0;
    this.told = 0;
  }

  stat() {
    return new codes.Filestat(this.ino, codes.FILETYPE_REGULAR_FILE, BigInt(this.blob.size));
  }

  path_open() {
    return { ret: codes.ERRNO_SUCCESS, fd_obj: new OpenLog(this) };
  }

  // At most `size` bytes from `offset` on; fewer at the end of a piece, none at the end of the log.
  read(size, offset) {
    if (offset >= this.blob.size) return new Uint8Array();
    if (offset < this.start || offset >= this.start + this.piece.length) {
      this.start = offset - (offset % PIECE);
      this.piece = new Uint8Array(this.reader.readAsArrayBuffer(this.blob.slice(this.start, this.start + PIECE)));
    }
    const from = offset - this.start;
    const bytes = this.piece.subarray(from, from + size);
    this.tell(offset + bytes.length);
    return bytes;
  }

  // The command reads the log once to survey it, once to simulate, and once to hash it.
  tell(end) {
    const share = end / this.blob.size;
    if (performance.now() - this.told > PAUSE) {
      this.told = performance.now();
      const at = ["Reading the log", "Simulating"][this.passes] ?? "Writing the report";
      postMessage({ at, share });
    }
    if (share === 1) this.passes += 1;
  }
}

class OpenLog extends Fd {
  constructor(log) {
    super();
    this.log = log;
    this.position = 0;
  }

  fd_fdstat_get() {
    return { ret: 0, fdstat: new codes.Fdstat(codes.FILETYPE_REGULAR_FILE, 0) };
  }

  fd_filestat_get() {
    return { ret: 0, filestat: this.log.stat() };
  }

  fd_pread(size, offset) {
    return { ret: 0, data: this.log.read(size, Number(offset)) };
  }

  fd_read(size) {
    const data = this.log.read(size, this.position);
    this.position += data.length;
    return { ret: 0, data };
  }
}

// The command with these words, on the files of `root`.
async function run(module, words, root) {
  const [said, wrong] = [new File([]), new File([])];
  const files = [new OpenFile(new File([])), new OpenFile(said), new OpenFile(wrong), root];
  const system = new WASI(["trueplane", ...words], ["TMPDIR=/tmp"], files, { debug: false });
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system.wasiImport });
  const status = system.start(instance);
  const text = file => new TextDecoder().decode(file.data);
  return { status, said: text(said), wrong: text(wrong) };
}

onmessage = async ({ data: { module, log, flags } }) => {
  const out = new Directory(new Map());
  const entries = [["out", out], ["tmp", new Directory(new Map())]];
  // A name that begins with a dash would be a flag.
  const name = log && log.name.replace(/^-/, "_");
  if (log) entries.push([name, new Log(log)]);
  const root = new PreopenDirectory("/", entries);
  try {
    if (!log) {
      postMessage({ at: "Making the sample", share: 0 });
      await run(module, ["demo", "--files", "examples"], root);
      const sample = root.dir.contents.get("examples").contents.get("cdn-200k.csv.zst");
      root.dir.contents.get("examples").contents.set("cdn-200k.csv.zst", new Log(new Blob([sample.data])));
    }
    const ended = await run(module, ["cache", "compare", name ?? SAMPLE, ...flags, "--report", "out", "--quiet"], root);
    const files = [...out.contents].map(([name, file]) => [name, file.data]);
    postMessage({ ...ended, files });
  } catch (error) {
    // Memory that is used up, or a mistake of ours.
    postMessage({ status: 1, said: "", wrong: `error: the command broke off (${error.message})`, files: [] });
  }
};

/**
 * A process that writes one file over and over through the device of host files, until it is killed: argv is the folder. What a
 * file was is kept in `kept` before it is touched, as the journal does it; a line on stdout tells of each write that is over.
 */

import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { PathLocks } from "../../src/dev/fs/locks.ts";
import { replaceFile } from "../../src/dev/fs/replace.ts";

const [folder = "", file = "", first = "1"] = process.argv.slice(2);
const path = join(folder, "work", file);
const locks = new PathLocks();
const { signal } = new AbortController();

/** Sizes rise and fall, so that a file is cut as well as made longer. */
function contentOf(n: number): Buffer {
  return Buffer.alloc(200_000 + ((n * 7919) % 400_000), `${n},`);
}

async function changing(change: { content(): Promise<Uint8Array> }): Promise<{ mode: null }> {
  const fd = openSync(join(folder, "kept.new"), "w");
  writeSync(fd, await change.content());
  fsyncSync(fd);
  closeSync(fd);
  renameSync(join(folder, "kept.new"), join(folder, "kept"));
  return { mode: null };
}

// it ends by SIGKILL alone, and what is not kept by then is compiled again for each of the hundreds
flushCompileCache();
for (let n = Number(first); ; n++) {
  const want = { content: contentOf(n), append: false, expect: undefined, mkdirs: false, changing };
  await locks.hold(path, signal, () => replaceFile(path, want, signal));
  process.stdout.write(`${n}\n`);
}

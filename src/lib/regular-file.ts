/**
 * Reads files that a program may have made, or a folder brought: neither a pipe, which would hold its reader forever, nor a
 * device, which may never end, nor more than a bound.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Throws what the system says; an error in words: not a regular file, or over `maxBytes`. */
export function readRegularSync(path: string, maxBytes: number): Buffer {
  const fd = openSync(path, FLAGS);
  try {
    check(fstatSync(fd), maxBytes);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Like readRegularSync(). */
export async function readRegular(path: string, maxBytes: number): Promise<Buffer> {
  await using handle = await open(path, FLAGS);
  check(await handle.stat(), maxBytes);
  return await handle.readFile();
}

function check(stats: Stats, maxBytes: number): void {
  if (!stats.isFile()) throw new Error("not a regular file");
  if (stats.size > maxBytes) throw new Error(`over ${maxBytes} bytes`);
}

/** The key that seals the user's grants: 32 random bytes in the state directory, readable by the owner only. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../abi/errors.ts";

const KEY_BYTES = 32;
const PRIVATE = 0o600;

/**
 * Creates the key if none exists. If the key cannot be stored it serves only this daemon, and an invalid one is
 * replaced: `warn` is called in both cases, since grants sealed with an earlier key no longer count.
 */
export function grantKey(stateDir: string, warn: (message: string) => void): Uint8Array {
  const path = join(stateDir, "grant.key");
  try {
    return readKey(path) ?? makeKey(path);
  } catch (error) {
    warn(`grants do not outlive this daemon: ${path}: ${messageOf(error)}`);
    return randomBytes(KEY_BYTES);
  }

  /** undefined: no valid key. */
  function readKey(at: string): Uint8Array | undefined {
    const entry = lstatSync(at, { throwIfNoEntry: false });
    if (entry === undefined) return undefined;
    const isOwn = entry.isFile() && entry.uid === process.getuid?.();
    if (!isOwn || entry.size !== KEY_BYTES) {
      warn(`${at} is not a key of this user; a new one is made, and earlier grants do not count`);
      return undefined;
    }
    if ((entry.mode & 0o777) !== PRIVATE) chmodSync(at, PRIVATE);
    return readFileSync(at);
  }
}

/** Written atomically and synced: what the key seals may outlive a power loss. */
function makeKey(path: string): Uint8Array {
  const key = randomBytes(KEY_BYTES);
  const part = `${path}.part`;
  rmSync(part, { force: true });
  const fd = openSync(part, "wx", PRIVATE);
  try {
    writeSync(fd, key);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(part, path);
  syncDirectory(dirname(path));
  return key;
}

function syncDirectory(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Prepares the state directory as the store needs it: private, and on a file system whose locks and syncs are reliable.
 */
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, statfsSync } from "node:fs";
import { Fault } from "../abi/errors.ts";

export const DATABASE_NAME = "journal.db";
/** f_type of statfs(2): file systems on which fcntl locks or fsync cannot be relied upon. */
const UNSAFE = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "SMB"],
  [0xfe534d42, "SMB"],
  [0x65735546, "FUSE"],
]);

/** Makes the directory with mode 0700. Errors: UNAVAILABLE on a network file system. */
export function prepareDirectory(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const unsafe = UNSAFE.get(statfsSync(dir).type);
  if (unsafe === undefined) return;
  const message = `the state directory ${dir} lies on ${unsafe}, where locks and syncs do not hold`;
  const hint = "set XDG_STATE_HOME to a directory on a local disk";
  throw new Fault({ code: "UNAVAILABLE", message: `${message}; ${hint}`, hint });
}

/**
 * Makes an empty 0600 file and syncs its name, if the file does not exist. SQLite gives its companion files the same
 * mode.
 * An existing file is never opened: closing it would drop the locks that SQLite holds on it in this process.
 */
export function createPrivateFile(dir: string, path: string): void {
  if (!existsSync(path)) {
    closeSync(openSync(path, "a", 0o600));
    const fd = openSync(dir, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
  chmodSync(path, 0o600);
}

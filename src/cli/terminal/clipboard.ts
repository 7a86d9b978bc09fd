/** The clipboard of the user's desktop, read by the program that the desktop has for it. */
import { execFile } from "node:child_process";

const WAIT_MS = 5_000;
/** Of Wayland, of X, of macOS: the first that there is and that has a picture. */
const READERS = [
  "wl-paste --no-newline --type image/png",
  "xclip -selection clipboard -t image/png -o",
  "pngpaste -",
];

const NAMES = READERS.map((reader) => reader.split(" ", 1)[0] ?? "");
/** What a shell says of a program that is not there. */
const NOT_FOUND = 127;

/** As a PNG; empty: there is none, or it is larger; undefined: no program is here that reads it. */
export function clipboardPicture(env: NodeJS.ProcessEnv, maxBytes: number): Promise<Buffer | undefined> {
  const read = READERS.map((reader) => `${reader} 2>/dev/null`).join(" || ");
  const isThere = NAMES.map((name) => `command -v ${name}`).join(" || ");
  const script = `${read} || { { ${isThere}; } >/dev/null 2>&1 && exit 1; exit ${NOT_FOUND}; }`;
  const options = { env, encoding: "buffer", timeout: WAIT_MS, maxBuffer: maxBytes } as const;
  return new Promise((done) => {
    execFile("/bin/sh", ["-c", script], options, (failed, stdout) => {
      if (failed === null) done(stdout);
      else done(failed.code === NOT_FOUND ? undefined : Buffer.alloc(0));
    });
  });
}

/** Any of them will do. */
export const CLIPBOARD_READERS: readonly string[] = NAMES;

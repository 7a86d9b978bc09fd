/** The clipboard of the user's desktop, read by the program that the desktop has for it. */
import { execFile } from "node:child_process";

const WAIT_MS = 5_000;
/** Of Wayland, of X, of macOS: the first that there is and that has a picture. */
const READERS = [
  "wl-paste --no-newline --type image/png",
  "xclip -selection clipboard -t image/png -o",
  "pngpaste -",
];

/** As a PNG; empty: there is none, or it is larger. */
export function clipboardPicture(env: NodeJS.ProcessEnv, maxBytes: number): Promise<Buffer> {
  const script = READERS.map((reader) => `${reader} 2>/dev/null`).join(" || ");
  const options = { env, encoding: "buffer", timeout: WAIT_MS, maxBuffer: maxBytes } as const;
  return new Promise((done) => {
    execFile("/bin/sh", ["-c", script], options, (failed, stdout) =>
      done(failed === null ? stdout : Buffer.alloc(0)),
    );
  });
}

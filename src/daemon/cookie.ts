/** The cookie of the runtime directory: a client that can read it is the user. A new one is made at each start. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { cookieFile, parent } from "../lib/paths.ts";
import { checkPrivateDir } from "../wire/codec/address.ts";

const COOKIE_BYTES = 32;

/** PERMISSION: the folder is not private. */
export function makeCookie(socketPath: string, uid: number): string {
  const dir = parent(socketPath);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  checkPrivateDir(dir, uid);
  const path = cookieFile(socketPath);
  const cookie = randomBytes(COOKIE_BYTES).toString("hex");
  rmSync(path, { force: true });
  // never written through a link, and private from the start
  writeFileSync(path, cookie, { mode: 0o600, flag: "wx" });
  return cookie;
}

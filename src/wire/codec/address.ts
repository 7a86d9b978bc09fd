/**
 * The rules for the socket path, the same at both ends: anyone who could put a socket there could read and answer
 * everything, so the folder must belong to the user and be closed to others.
 */
import { accessSync, constants, existsSync, lstatSync, type Stats } from "node:fs";
import { homedir, userInfo } from "node:os";
import { Fault } from "../../abi/errors.ts";
import { type Environment, givenSocket, parent, runtimeDir, socketPath, stateDir } from "../../lib/paths.ts";

/** `sun_path` of Linux holds 108 bytes including the final zero. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * The socket of the user's daemon. If no runtime directory is set and the one in `/tmp` cannot be used because `/tmp`
 * is read-only, closed or missing, the socket lies beside the state. `shared` replaces `/tmp`.
 */
export function findSocketPath(env: Environment, uid: number, home: string, shared = "/tmp"): string {
  const usual = socketPath(env, uid);
  if (givenSocket(env) !== undefined || parent(usual) !== runtimeDir({}, uid)) return usual;
  const own = `${shared}/crux-${uid}`;
  const isThere = lstatSync(own, { throwIfNoEntry: false }) !== undefined;
  // an existing folder with an old socket is used even if nothing can be written there now
  const isUsable = lstatSync(`${own}/crux.sock`, { throwIfNoEntry: false }) !== undefined;
  if (isUsable || mayWrite(isThere ? own : shared)) return `${own}/crux.sock`;
  return `${stateDir(env, home)}/run/crux.sock`;
}

function mayWrite(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The user's home directory. INVALID: neither the environment nor the user database has it, as for a uid without an
 * account.
 */
export function homeOf(env: Environment): string {
  const { HOME: home = "" } = env;
  if (isUnnamed(home))
    throw new Fault({
      code: "INVALID",
      message: `HOME is not a path in UTF-8: ${home}`,
      hint: "export HOME=<a link to that folder, with a name in UTF-8>",
    });
  if (home.startsWith("/")) return home;
  try {
    // a relative one means another folder to the daemon, so it counts as not set
    return home === "" ? homedir() : userInfo().homedir;
  } catch (cause) {
    throw new Fault({
      code: "INVALID",
      message: `HOME is not set, and user ${process.getuid?.()} is not in the list of users`,
      hint: "export HOME=<a directory that you can write>",
      cause,
    });
  }
}

/** Node puts this character in the place of bytes that are not UTF-8: what is there then has another name. */
export function isUnnamed(path: string): boolean {
  return path.includes("\ufffd") && !existsSync(path);
}

export function isPathTooLong(path: string): boolean {
  return Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES;
}

/** INVALID: a path over 107 bytes, which the system would truncate or refuse. */
export function checkSocketPath(path: string): void {
  if (!isPathTooLong(path)) return;
  throw new Fault({
    code: "INVALID",
    message: `socket path has ${Buffer.byteLength(path)} bytes, at most ${MAX_SOCKET_PATH_BYTES} are possible: ${path}`,
    hint: "set CRUX_SOCKET or XDG_RUNTIME_DIR to a shorter path",
  });
}

/** `missing`: no such folder. PERMISSION: a symlink, not a folder, owned by another user, or open to others. */
export function checkPrivateDir(dir: string, uid: number): "ok" | "missing" {
  const stats = lstatSync(dir, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  const wrong = whatIsWrong(stats, uid);
  if (wrong === undefined) return "ok";
  throw new Fault({
    code: "PERMISSION",
    message: `runtime directory ${wrong}: ${dir}`,
    hint: "it must be your own directory with mode 0700; CRUX_SOCKET names another place",
  });
}

function whatIsWrong(stats: Stats, uid: number): string | undefined {
  if (stats.isSymbolicLink()) return "is a symlink";
  if (!stats.isDirectory()) return "is not a directory";
  if (stats.uid !== uid) return `belongs to user ${stats.uid}`;
  const mode = stats.mode & 0o777;
  return (mode & 0o077) === 0 ? undefined : `is open to others (mode 0${mode.toString(8)})`;
}
